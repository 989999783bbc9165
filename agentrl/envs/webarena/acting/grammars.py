"""The grammars by name: from a reply to an action, and from an action to text that reads as the same action."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.core.parsing import Turn, extract_answer
from agentrl.envs.webarena.acting.actions import Action
from agentrl.envs.webarena.acting.browsergym import read_browsergym, write_browsergym
from agentrl.envs.webarena.acting.webarena import read_webarena, write_webarena
from agentrl.envs.webarena.acting.webrl import read_webrl, write_webrl

MAX_REPLY = 4_000_000  # characters; a text of a megabyte may be typed into a field


class Grammar(NamedTuple):
    """How actions are read and written."""

    read: Callable[[str], Action | str]  # any string; a sentence where it is no action
    write: Callable[[Action], str]


GRAMMARS: dict[str, Grammar] = {
    "webrl": Grammar(read_webrl, write_webrl),
    "webarena": Grammar(read_webarena, write_webarena),
    "browsergym": Grammar(read_browsergym, write_browsergym),
}


def check_grammar(name: Any, strict_upstream: bool = False) -> str:
    """The name of a grammar; ConfigError for anything else."""
    if not isinstance(name, str) or name not in GRAMMARS:
        raise ConfigError(f"grammar must be one of {', '.join(GRAMMARS)}; got {name!r}.{did_you_mean(name, GRAMMARS)}")
    if strict_upstream and name != "webrl":
        raise ConfigError(f"strict_upstream is for the webrl grammar only; got {name!r}")
    return name


def read_turn(reply: Any, grammar: str = "webrl", *, strict_upstream: bool = False) -> Turn:
    """The one action of a reply, bare or between `<answer>` tags, or what is wrong with it; never raises."""
    if not isinstance(reply, str):
        return Turn([], f"an action is text, not {type(reply).__name__}")
    if len(reply) > MAX_REPLY:
        return Turn([], f"the reply has {len(reply):,} characters; {MAX_REPLY:,} at most")
    answer, problem = extract_answer(reply)
    if answer is None:
        return Turn([], problem)
    if not answer.strip():
        return Turn([], "no action given")
    found = read_webrl(answer, strict_upstream=True) if strict_upstream else GRAMMARS[grammar].read(answer)
    return Turn([], found) if isinstance(found, str) else Turn([found])


def write(action: Action, grammar: str = "webrl") -> str:
    """The action as text; `read_turn` reads it as the same action, whatever text is in it."""
    return GRAMMARS[grammar].write(action)
