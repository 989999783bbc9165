"""Homes as plain data, drawn from seeds."""
