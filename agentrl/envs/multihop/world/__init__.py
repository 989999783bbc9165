"""The embedded encyclopaedia: people, places, organisations, works, events, pages about them, and questions."""
