"""Pictures of pages: drawn from their layout where there is no browser, and marked with the ids of their elements."""
