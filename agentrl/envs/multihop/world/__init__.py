"""The embedded encyclopaedia: a graph of people, places, organisations, works and events, its pages and its questions."""
