"""LIBERO's own package and assets, in a virtual environment of their own, behind the supervised worker."""
