"""MuJoCo for environments: loading it without a display, exact states, pictures from any thread."""
