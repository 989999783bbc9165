"""The tasks for language models: primitives with coordinates instead of continuous control."""
