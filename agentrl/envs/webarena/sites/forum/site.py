"""The forum, with all of its pages."""

from agentrl.envs.webarena.sites.forum.app import site

# Each module registers its routes; special addresses come before general ones.
from agentrl.envs.webarena.sites.forum.pages import (  # isort: skip
    login, front, search, wiki, messages, submit, forums, moderation, comments, submissions, votes, account, profile,
)  # fmt: skip

__all__ = [
    "account", "comments", "forums", "front", "login", "messages", "moderation", "profile", "search", "site",
    "submissions", "submit", "votes", "wiki",
]  # fmt: skip
