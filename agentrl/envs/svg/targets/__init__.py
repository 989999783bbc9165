"""Pictures to draw: generated icons, or the SVGs of a folder or file."""
