"""What a family of environments is made of: the rows of `agentrl.registry`, all of strings, so that reading them
imports nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any


def load(path: str) -> Any:
    """Import what "module:attribute" names."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)


@dataclass(frozen=True)
class Entry:
    """One environment: an id and where its class lives."""

    id: str
    kind: str  # Grid, Text, Visual, "" where only one makes sense; PettingZoo for those of several players
    entry_point: str
    summary: str
    kwargs: dict[str, Any] = field(default_factory=dict)
    vector_entry_point: str | None = None
    warp_entry_point: str | None = None  # the same on a GPU: a vector environment that is made with simulator="warp"
    extra: str | None = None  # the optional dependency group it needs
    backend: str = "embedded"  # whose world it is: agentrl's own, a package's, a benchmark's
    modules: tuple[str, ...] = ()  # what that extra installs; the environment is available when they are found


@dataclass(frozen=True)
class Part:
    """Something that is loaded by name: a policy, a web site, a benchmark."""

    path: str  # "module:attribute"
    summary: str

    def load(self) -> Any:
        """Import it."""
        return load(self.path)


@dataclass(frozen=True)
class Site(Part):
    """A function that takes keyword arguments and returns a site: `app` (ASGI), `summary` (text), `facts` (JSON)."""

    verb: str | None = None  # `agentrl VERB` is a short form of `agentrl site NAME`
    options: str | None = None  # "module:dataclass", the command line options of the short form


@dataclass(frozen=True)
class Bench(Part):
    """A function that takes `quick` and returns the JSON of `agentrl bench`. It may be absent: agentrl's own benchmarks
    live in its checkout only."""

    group: str | None = None  # `agentrl bench GROUP` runs all of a group, one after the other


@dataclass(frozen=True)
class KitBudget:
    """How much the test kit (`agentrl.testing`) plays of a family's environments; lower it where a step takes long."""

    episodes: int = 10
    hostile_replies: int = 1000
    image_size: int | None = None  # given to environments that take one; None: their default
    seconds: float = 300.0  # a check that takes longer fails


@dataclass(frozen=True)
class Family:
    """Environments that share a folder, and the parts that other packages find there."""

    name: str  # of the folder in `agentrl/envs`, or of the entry point
    envs: tuple[Entry, ...]
    summary: str = ""  # of one row for all of them, where `agentrl list` would have too many
    # Environments of several players. Gymnasium has no ids for these: the id is the Python name of the function.
    multiplayer: tuple[Entry, ...] = ()
    policies: dict[str, Part] = field(default_factory=dict)  # scripted ones, by the name `load_policy` knows
    sites: dict[str, Site] = field(default_factory=dict)  # what `agentrl site NAME` serves
    benches: dict[str, Bench] = field(default_factory=dict)  # what `agentrl bench NAME` runs
    # What `agentrl setup NAME` runs: a function that takes a function which prints a line, and returns facts (JSON).
    setups: dict[str, Part] = field(default_factory=dict)
    # "module:attribute", an `agentrl.core.interpreter.InterpreterSpec`: where its packages may live if not here.
    interpreter: str | None = None
    kit: KitBudget = KitBudget()
