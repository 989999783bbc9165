"""Checks of what a turn tells: rewards, info, the prompt, the true state."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any

from gymnasium import spaces

from agentrl.core.errors import UnsupportedRepresentation
from agentrl.core.state import REPRESENTATIONS, State
from agentrl.testing.compare import digest, require_same
from agentrl.testing.report import CheckFailed, require
from agentrl.testing.subject import RESET, Subject, base, episodes, start, takes_text


def check_rewards(subject: Subject) -> str:
    """The reward is a finite float and the sum of its named terms."""
    turns, names = 0, set()
    with subject.opened() as env:
        for result in episodes(env, subject.seed, subject.episodes):
            terms, where = result.info["reward_terms"], f"after {result.action!r:.80}"
            require(
                isinstance(result.reward, float),
                f"{where} the reward must be a float; got {type(result.reward).__name__}",
            )
            for name, value in terms.items():
                fits = isinstance(value, float) and math.isfinite(value)
                require(fits, f"{where} the reward term {name!r} must be a finite float; got {value!r}")
            total = math.fsum(terms.values())
            require(math.isfinite(result.reward), f"{where} the reward is {result.reward}")
            close = math.isclose(result.reward, total, rel_tol=1e-9, abs_tol=1e-9)
            require(close, f"{where} the reward is {result.reward} but its terms {terms} sum to {total}")
            turns, names = turns + (result.action is not RESET), names | terms.keys()
    return f"{turns} turns; terms {', '.join(sorted(names)) or 'none'}"


# ---------------------------------------------------------------------- info

Test = Callable[[Any], bool]


def _is(*types: type) -> Test:
    return lambda value: type(value) in types


def _list_of_str(value: Any) -> bool:
    return type(value) is list and all(type(item) is str for item in value)


INFO: dict[str, tuple[str, Test]] = {
    "state": ("a dict", _is(dict)),
    "anchor": ("a str", _is(str)),
    "success": ("a bool", _is(bool)),
    "valid": ("a bool", _is(bool)),
    "effective": ("a bool", _is(bool)),
    "actions": ("a list of str", _list_of_str),
    "feedback": ("one line of text", lambda value: type(value) is str and "\n" not in value),
    "reward_terms": (
        "a dict of floats by name",
        lambda value: type(value) is dict and all(type(name) is str for name in value),
    ),
    "pending": ("a list of str", _list_of_str),
    "format": ("True, False or None", _is(bool, type(None))),
    "fault": ("a str or None", _is(str, type(None))),
    "limit": ('None, "task" or "external"', lambda value: value in (None, "task", "external")),
    "turn": ("an int", _is(int)),
    "task": ("a str", _is(str)),
}


def check_info(subject: Subject) -> str:
    """Every key of the contract is there with its type at every reset and step, and all of it is JSON."""
    calls = 0
    with subject.opened() as env:
        for result in episodes(env, subject.seed, subject.episodes):
            where = f"after {result.action!r:.80}"
            check_info_keys(result.info, where)
            as_json(result.info, f"{where} info")
            info = result.info
            require_same(info["state"], base(env).state().to_json(), f"{where} info['state'] is not the true state")
            require(info["valid"] or info["fault"], f"{where} valid is False but fault is {info['fault']!r}")
            require(result.terminated or not info["success"], f"{where} success is True but the episode has not ended")
            if "ending" in info:
                named = type(info["ending"]) is str and result.over and not info["success"]
                require(named, f"{where} info['ending'] must be the str of a failure; got {info['ending']!r:.200}")
            if result.action is RESET:
                quiet = not info["actions"] and not info["reward_terms"] and info["limit"] is None
                require(quiet and info["turn"] == 0, f"{where} info after a reset must not hold a turn: {info!r:.300}")
                check_about(getattr(base(env), "about_task", dict)(), where)
            calls += 1
    return f"{len(INFO)} keys at {calls} calls"


def check_info_keys(info: dict[str, Any], where: str) -> None:
    """Fail the running check unless every key is there with its type."""
    for key, (expected, fits) in INFO.items():
        require(key in info, f"{where} info has no {key!r}")
        require(fits(info[key]), f"{where} info[{key!r}] must be {expected}; got {info[key]!r:.200}")


def as_json(value: Any, what: str) -> str:
    """The value as JSON, or a failure of the running check that says what cannot be written."""
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode("utf-8")
        return text
    except (TypeError, ValueError, RecursionError) as error:
        raise CheckFailed(f"{what} cannot be written as JSON: {error}") from error


ABOUT: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "group": ("a str", _is(str)),
    "complexity": ("an int", _is(int)),
    "steps": ("an int", _is(int)),
}


def check_about(about: Any, where: str) -> None:
    """Fail the running check unless it is JSON, and the entries that analyses read have their types."""
    require(isinstance(about, dict), f"{where} about_task() must give a dict; got {about!r:.200}")
    as_json(about, f"{where} about_task()")
    for key, (expected, fits) in ABOUT.items():
        fine = key not in about or (fits(about[key]) and not isinstance(about[key], bool))
        require(fine, f"{where} about_task()[{key!r}] must be {expected}; got {about.get(key)!r:.200}")


# ---------------------------------------------------------------------- prompt and truth


def check_prompt(subject: Subject) -> str:
    """Text kinds explain themselves and state the turn limit; Grid kinds have no prompt."""
    with subject.opened() as env:
        env.reset(seed=subject.seed)
        prompt, limit = env.get_wrapper_attr("system_prompt"), base(env).max_turns
        require(isinstance(prompt, str), f"system_prompt must be a str; got {type(prompt).__name__}")
        prompt.encode("utf-8")
        if takes_text(env):
            require(prompt.strip(), "system_prompt is empty")
            stated = re.search(rf"(?<!\d){limit}(?!\d)", prompt.replace(",", ""))
            require(stated, f"system_prompt does not state the limit of {limit} turns")
        elif isinstance(env.action_space, spaces.Discrete):
            require(prompt == "", f"a Grid kind has no system_prompt, but this one says {prompt!r:.80}")
    return f"{len(prompt)} characters"


def check_representations(subject: Subject) -> str:
    """`state()` is frozen and says itself in exactly the declared ways."""
    with subject.opened() as env:
        declared = base(env).representations
        strange = set(declared) - set(REPRESENTATIONS)
        require(
            not strange, f"representations holds {sorted(map(str, strange))}; known are {', '.join(REPRESENTATIONS)}"
        )
        start(env, seed=subject.seed)
        kept = []
        for _ in episodes(env, subject.seed, subject.episodes):
            state = base(env).state()
            _check_state(state, declared)
            kept.append((state, digest(state.to_json())))
        for state, before in kept:
            require(digest(state.to_json()) == before, "a state that was handed out changed as the episode went on")
    return f"{', '.join(sorted(declared)) or 'none'} at {len(kept)} moments"


def _check_state(state: Any, declared: frozenset[str]) -> None:
    kind = type(state)
    require(
        isinstance(state, State) and is_dataclass(state),
        f"state() must return a dataclass of type State; got {kind.__name__}",
    )
    for name in {*vars(state), *(field.name for field in fields(state))}:
        try:
            setattr(state, name, getattr(state, name))
        except FrozenInstanceError:
            continue
        raise CheckFailed(f"state() is not frozen: {kind.__name__}.{name} can be set")
    require(isinstance(state.to_json(), dict), "State.to_json() must be a dict")
    as_json(state.to_json(), "State.to_json()")
    types = {"natural": list, "symbolic": str, "structured": dict}
    for name, expected in types.items():
        if name not in declared:
            try:
                state.represent(name)
            except UnsupportedRepresentation:
                continue
            missing = f"{name}() raises no UnsupportedRepresentation"
            raise CheckFailed(f"{name} is not declared in representations, but {missing}")
        said = state.represent(name)
        require(isinstance(said, expected), f"{name}() must be a {expected.__name__}; got {type(said).__name__}")
        sentences = name != "natural" or all(isinstance(fact, str) for fact in said)
        require(sentences, "natural() must be a list of sentences")
        as_json(said, f"{name}()")
