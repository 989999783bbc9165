"""agentrl: multi-turn text and visual environments for LLM and VLM agents, with the truth available.

`import agentrl` registers the environments with Gymnasium and loads nothing else; the names below are loaded when
they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from agentrl.registry import register_all

if TYPE_CHECKING:
    from agentrl import testing as testing
    from agentrl.core.env import AgentEnv as AgentEnv
    from agentrl.core.env import Outcome as Outcome
    from agentrl.core.errors import ConfigError as ConfigError
    from agentrl.core.parsing import Turn as Turn
    from agentrl.core.parsing import parse_turn as parse_turn
    from agentrl.core.snapshot import restore as restore
    from agentrl.core.snapshot import snapshot as snapshot
    from agentrl.core.spaces import AnyText as AnyText
    from agentrl.core.state import State as State

__version__ = "0.1.0"
__all__ = [
    "AgentEnv",
    "AnyText",
    "ConfigError",
    "Outcome",
    "State",
    "Turn",
    "__version__",
    "parse_turn",
    "restore",
    "snapshot",
    "testing",
]

_LAZY = {
    "AgentEnv": "agentrl.core.env",
    "AnyText": "agentrl.core.spaces",
    "ConfigError": "agentrl.core.errors",
    "Outcome": "agentrl.core.env",
    "State": "agentrl.core.state",
    "Turn": "agentrl.core.parsing",
    "parse_turn": "agentrl.core.parsing",
    "restore": "agentrl.core.snapshot",
    "snapshot": "agentrl.core.snapshot",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    if name == "testing":
        return import_module("agentrl.testing")
    raise AttributeError(f"module 'agentrl' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


register_all()
