"""SVG reconstruction: code that a model wrote is checked, then drawn in a process of its own."""
