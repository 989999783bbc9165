"""The libraries that benchmarks compare with, each measured by a script of its own in `.venv-peers`."""
