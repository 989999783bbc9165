"""`check_env`: make an environment, run the named checks on it, report."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import gymnasium as gym

from agentrl.core.arguments import whole_number
from agentrl.core.env import AgentEnv
from agentrl.core.errors import ConfigError, MissingExtra, did_you_mean
from agentrl.registry import KitBudget, family_of
from agentrl.testing import control, forks, hostility, interface, repeatability, tasks, turns
from agentrl.testing.report import Check, CheckFailed, CheckSkipped, Report, Status, require
from agentrl.testing.subject import Subject

MAX_DETAIL = 4000  # characters

# A check takes the subject and returns in a few words what it covered. It raises if something is wrong, and
# `CheckSkipped` if the environment does not offer what the check is about.
CHECKS: dict[str, Callable[[Subject], str]] = {
    "gymnasium": interface.check_gymnasium,
    "spaces": interface.check_spaces,
    "seed_determinism": repeatability.check_seed_determinism,
    "process_determinism": repeatability.check_process_determinism,
    "random_state": repeatability.check_random_state,
    "snapshot": forks.check_snapshot,
    "rewards": turns.check_rewards,
    "info": turns.check_info,
    "limits": tasks.check_limits,
    "oracle": tasks.check_oracle,
    "splits": tasks.check_splits,
    "spec": forks.check_spec,
    "pickling": forks.check_pickling,
    "close": interface.check_close,
    "rendering": interface.check_rendering,
    "pictures": control.check_pictures,
    "vectors": control.check_vectors,
    "hostile": hostility.check_hostile,
    "prompt": turns.check_prompt,
    "representations": turns.check_representations,
}


def check_env(
    id: str,
    *,
    checks: Iterable[str] | None = None,
    budget: KitBudget | None = None,
    episodes: int | None = None,
    seed: int = 0,
    **kwargs: Any,
) -> Report:
    """Check the registered environment `id`, made with `kwargs`, against the contract.

    `checks` names the ones to run (default: all of `CHECKS`) and `seed` chooses what they play. `budget` limits how
    much they play and how long each may take (default: that of the family's row in the registry, or `KitBudget()`);
    `episodes` replaces its number of episodes. A check that fails never stops the others. An unregistered id, or
    arguments that the environment refuses, raise what `gym.make` raises.
    """
    began = time.perf_counter()
    chosen = list(CHECKS) if checks is None else [checks] if isinstance(checks, str) else list(checks)
    for name in chosen:
        if name not in CHECKS:
            known = ", ".join(CHECKS)
            raise ConfigError(f"unknown check {name!r}.{did_you_mean(str(name), CHECKS)} Known checks: {known}.")
    family = family_of(id.rpartition(":")[2])  # with or without its module: "agentrl:agentrl/Sokoban-Text-v0"
    budget = budget or (family.kit if family else KitBudget())
    if episodes is not None:
        budget = replace(budget, episodes=whole_number("episodes", episodes, at_least=1))
    subject = Subject(id, kwargs, budget, whole_number("seed", seed, at_least=0))
    status, results = _attempt(subject, chosen)
    return Report(id, status, round(time.perf_counter() - began, 3), tuple(results))


def _attempt(subject: Subject, chosen: list[str]) -> tuple[Status, list[Check]]:
    try:
        with subject.opened() as env:
            kind, sized = type(env.unwrapped), hasattr(env.unwrapped, "image_size")
        require(
            issubclass(kind, AgentEnv), f"the environment must be a subclass of agentrl.AgentEnv; got {kind.__name__}"
        )
        if subject.budget.image_size is not None and sized:  # it has pictures, whose size may be chosen
            subject = replace(subject, kwargs={"image_size": subject.budget.image_size, **subject.kwargs})
    except MissingExtra as error:
        return "unavailable", [Check("make", False, _tidy(str(error)))]
    except gym.error.UnregisteredEnv:
        raise
    except Exception as error:
        if isinstance(error, ConfigError) and subject.kwargs:
            raise  # like an unknown id: the mistake is the caller's, not the environment's
        return "failed", [Check("make", False, _explain(error))]
    results = [_run(name, subject) for name in chosen]
    return ("ok" if all(check.passed for check in results) else "failed"), results


def _run(name: str, subject: Subject) -> Check:
    began = time.perf_counter()
    try:
        detail = CHECKS[name](subject)
        seconds, budget = time.perf_counter() - began, subject.budget
        played = f"{budget.episodes} episodes and {budget.hostile_replies} hostile replies"
        late = f"took {seconds:.1f} s, more than the budget of {budget.seconds:g} s, with {played}"
        require(seconds <= budget.seconds, f"{late}; a smaller KitBudget plays less")
        return Check(name, True, _tidy(detail))
    except CheckSkipped as reason:
        return Check(name, True, _tidy(str(reason)), skipped=True)
    except Exception as error:
        return Check(name, False, _explain(error))


def _explain(error: Exception) -> str:
    """The message, and where an exception came from unless the kit itself raised it to say what is wrong."""
    if isinstance(error, CheckFailed):
        return _tidy(str(error))
    frames = traceback.extract_tb(error.__traceback__)
    place = f" (at {frames[-1].filename}:{frames[-1].lineno} in {frames[-1].name})" if frames else ""
    return _tidy("".join(traceback.format_exception_only(error)).strip() + place)


def _tidy(detail: str) -> str:
    """A detail can be printed and encoded anywhere, whatever the environment put into its message."""
    short = detail if len(detail) <= MAX_DETAIL else detail[:MAX_DETAIL] + "..."
    return short.encode("utf-8", "backslashreplace").decode()
