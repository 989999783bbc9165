"""Procedural homes in which an agent looks for objects."""
