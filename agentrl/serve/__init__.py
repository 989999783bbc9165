"""Environments over HTTP."""
