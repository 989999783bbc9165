"""LIBERO's task files and starts: fetched from the package index, read without installing or running anything."""
