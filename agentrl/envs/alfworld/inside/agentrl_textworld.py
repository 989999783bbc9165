"""The real engine: what the interpreter that has textworld and alfworld runs, in a supervised process.

It imports nothing of agentrl. Games arrive as the data of a game file; ours lack domain and grammar, which come from
the alfworld that is installed here.
"""

from __future__ import annotations

import os
from copy import deepcopy
from functools import lru_cache
from pathlib import Path
from typing import Any

import fast_downward  # pyright: ignore[reportMissingImports]
import textworld  # pyright: ignore[reportMissingImports]
from textworld.envs import PddlEnv  # pyright: ignore[reportMissingImports]
from textworld.envs.pddl import textgen  # pyright: ignore[reportMissingImports]
from textworld.logic import Rule  # pyright: ignore[reportMissingImports]

# TextWorld translates a game again at every reset and parses its grammar again for every sentence. What depends on its
# arguments alone is remembered, which changes nothing but the time; who uses what was parsed gets a copy of it.
fast_downward.pddl2sas = lru_cache(maxsize=2)(fast_downward.pddl2sas)
parsed = lru_cache(maxsize=4096)(textgen._parse_and_convert)
textgen._parse_and_convert = lambda *words, **how: deepcopy(parsed(*words, **how))
Rule.parse_conjunctive_query = staticmethod(lru_cache(maxsize=4096)(Rule.parse_conjunctive_query))

DATA = "data"  # of the package alfworld
# What ALFWorld's grammar and domain were before 0.4.
EARLIER = (
    ("You arrive at {r.name}.", "You arrive at {lend.name}."),
    ("You move the {o.name} to the {r.name}.", "You put the {o.name} in/on the {r.name}."),
    ("move {o} to {r}", "put {o} in/on {r}"),
)


class Server:
    """One game at a time."""

    def __init__(self) -> None:
        # Its module `misc` imports nothing heavy; the package's own environments would import much more.
        from alfworld.agents.utils.misc import Demangler  # pyright: ignore[reportMissingImports]

        self._demangler = Demangler
        self._env: Any = None

    def versions(self) -> dict[str, str]:
        """What is installed here."""
        from importlib.metadata import version

        return {name: version(name) for name in ("textworld", "alfworld")}

    def load(self, game: dict[str, Any], earlier: bool = False) -> None:
        """Make a game ready: the data of a file, or `pddl_problem` and `instruction` alone."""
        if "grammar" not in game:
            game = {**game, **logic(game["instruction"], earlier)}
        env = PddlEnv(textworld.EnvInfos(admissible_commands=True, won=True))
        env.load(game)
        names = self._demangler(game_infos=env._entity_infos, shuffle=False)
        for info in env._entity_infos.values():
            info.name = names.demangle_alfred_name(info.id)
        self._env = env

    def reset(self) -> list[Any]:
        """Begin: text, admissible commands, won."""
        return seen(self._env.reset())

    def step(self, command: str) -> list[Any]:
        """One command: text, admissible commands, won."""
        return seen(self._env.step(command)[0])


def seen(state: Any) -> list[Any]:
    """What the agent is told."""
    return [state.feedback, list(state["admissible_commands"]), bool(state["won"])]


def logic(instruction: str, earlier: bool) -> dict[str, str]:
    """Domain and grammar of the installed alfworld, with the task's sentence."""
    import alfworld

    folder = Path(os.path.dirname(alfworld.__file__)) / DATA
    domain, grammar = ((folder / name).read_text(encoding="utf-8") for name in ("alfred.pddl", "alfred.twl2"))
    grammar = grammar.replace("UNKNOWN GOAL", instruction)
    if earlier:
        domain = domain.replace(";(receptacleType ?r SinkType)\n", "(receptacleType ?r SinkType)\n")
        domain = domain[: domain.index("(:action help")] + ")"
        for now, then in EARLIER:
            grammar = grammar.replace(now, then)
        grammar = grammar[: grammar.index("action help {")]
    return {"pddl_domain": domain, "grammar": grammar}
