"""The table simulated by ManiSkill, where it can be installed."""
