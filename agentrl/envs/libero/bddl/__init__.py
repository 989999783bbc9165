"""Reads BDDL, the language of LIBERO's task files."""

from agentrl.envs.libero.bddl.problem import Condition, Fact, Problem, Region, read_problem

__all__ = ["Condition", "Fact", "Problem", "Region", "read_problem"]
