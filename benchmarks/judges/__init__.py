"""Checks of the judges: corpora with gold answers, attacks, hedges, faulty endpoints."""
