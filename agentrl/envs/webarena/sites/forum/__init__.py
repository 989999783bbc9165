"""A discussion forum: forums with submissions, comment trees, votes, profiles, messages and a wiki."""
