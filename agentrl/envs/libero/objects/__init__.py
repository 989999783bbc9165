"""Models of the things in LIBERO's tasks, built in code from boxes, cylinders and turned shapes: no mesh files."""
