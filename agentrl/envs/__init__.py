"""The environments: one file (or folder) each; a class docstring is its documentation page."""
