"""`site`: the code host with all its pages."""

from __future__ import annotations

from importlib import import_module

from agentrl.envs.webarena.sites.code.host import site

__all__ = ["site"]

# The first route that fits an address answers, so that modules with special addresses come before general ones.
PAGES = (
    "dashboard", "account", "people", "repository", "editing", "issues", "merge_requests", "planning", "extras",
    "projects",
)  # fmt: skip
for _name in PAGES:
    import_module(f"{__package__}.{_name}")
