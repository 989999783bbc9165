"""The forum's pages, by subject. Importing a module registers its routes."""
