"""Pages about results: one HTML file each, without scripts, readable offline."""
