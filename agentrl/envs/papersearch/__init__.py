"""Paper search: find the papers that a research question asks for, by searches and along citations."""
