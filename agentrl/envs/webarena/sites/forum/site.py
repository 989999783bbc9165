"""The forum, with all of its pages."""

from agentrl.envs.webarena.sites.forum.app import site

# Each module registers its routes; special addresses come before general ones.
from agentrl.envs.webarena.sites.forum import (  # isort: skip
    forums, wiki, messages, moderation, submissions, account,
)  # fmt: skip

__all__ = ["account", "forums", "messages", "moderation", "site", "submissions", "wiki"]
