"""The table simulated by MuJoCo: the default, on every machine."""
