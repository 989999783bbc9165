"""Untrusted SVG: checked by the gate, then drawn in a supervised process."""
