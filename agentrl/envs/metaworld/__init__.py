"""Meta-World: fifty tasks of a robot arm, simulated by the package of that name."""
