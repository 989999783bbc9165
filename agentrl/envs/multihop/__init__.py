"""Questions whose answer takes several pages to find: a search engine over an encyclopaedia, generated or given."""
