"""Measurements of PrimitiveSkill."""
