"""A robot arm that picks, places and pushes things on a table."""
