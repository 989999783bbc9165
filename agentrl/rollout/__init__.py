"""Playing episodes: one at a time, many for an evaluation."""
