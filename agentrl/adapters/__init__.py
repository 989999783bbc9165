"""Bridges to other libraries; each needs its own extra."""
