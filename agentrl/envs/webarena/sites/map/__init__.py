"""The map site: a made-up city with its neighbouring towns, search, places and directions over a road graph."""
