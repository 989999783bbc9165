"""Observations: a view of a page as text, in one of four modes."""
