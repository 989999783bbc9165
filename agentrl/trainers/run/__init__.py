"""A run and its folder: iterations, checkpoints, metrics, warnings, phases, replay."""
