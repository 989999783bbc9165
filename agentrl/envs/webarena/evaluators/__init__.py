"""Evaluators: did the agent reach the goal? Both dialects of the benchmark, over any back end."""
