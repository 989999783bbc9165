"""Household tasks in words: find things, heat, cool, clean and look at them, put them where they belong."""
