"""Checks of copies of an environment: snapshots, spec JSON, pickling. A copy continues exactly like its original."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec

from agentrl.core.env import SPLITS
from agentrl.core.errors import SnapshotError, SnapshotUnsupported
from agentrl.core.snapshot import open_blob, restore, seal_blob, snapshot
from agentrl.testing.compare import require_same, require_same_results
from agentrl.testing.report import CheckFailed, CheckSkipped, require
from agentrl.testing.subject import Player, Result, Subject, base, follow, spec_of, start, trajectory

MAX_TURNS_BEFORE = 4  # of a random moment, counted from a reset
TURNS_AFTER = 6
DAMAGED_BLOBS = 40


def _random_moments(env: gym.Env, subject: Subject) -> Iterator[tuple[Player, Result]]:
    """Stop at a random moment of each of many episodes, ended ones included."""
    player = Player(env, subject.seed)
    for episode in range(subject.episodes):
        result = start(env, seed=subject.seed if episode == 0 else None)
        for _ in range(player.random.integers(MAX_TURNS_BEFORE + 1)):
            if result.over:
                break
            (result,) = player.play(1)
        yield player, result


# ---------------------------------------------------------------------- snapshots


def check_snapshot(subject: Subject) -> str:
    """A snapshot continues equally in the same environment and in a new one; a bad one is refused without a trace."""
    with subject.opened() as env, subject.opened() as other:
        start(env, seed=subject.seed)
        try:
            snapshot(env)
        except SnapshotUnsupported as error:
            raise CheckSkipped(f"snapshots are not supported: {error}") from error
        for player, result in _random_moments(env, subject):
            _check_fork(subject, env, other, player, result)
        with subject.opened() as unseeded:  # its seed was drawn from the system, and is a large number
            _check_fork(subject, unseeded, other, Player(unseeded, subject.seed), start(unseeded))
        _check_damage(env, subject)
        blob, here = snapshot(env), base(env).split
        with subject.opened(split=next(split for split in SPLITS if split != here)) as stranger:
            start(stranger, seed=subject.seed)
            refused = _refused(restore, env, snapshot(stranger), "a snapshot from another split")
        require(refused, "a snapshot from another split was restored as if it came from this one")
        require_same(
            blob, snapshot(env), "after refusing a snapshot from another split the environment is not what it was"
        )
    return f"{subject.episodes} moments forked; bad blobs refused"


def _check_fork(subject: Subject, env: gym.Env, other: gym.Env, player: Player, result: Result) -> None:
    blob, state = snapshot(env), base(env).state().to_json()
    require(isinstance(blob, bytes), f"a snapshot must be bytes; got {type(blob).__name__}")
    expected = player.play(TURNS_AFTER, over=result.over)
    script = [step.action for step in expected]
    with subject.opened() as new:
        for name, fork in (("the same environment", env), ("a used one", other), ("a new one", new)):
            restore(fork, blob)
            require_same(state, base(fork).state().to_json(), f"the state after restoring into {name}")
            require_same_results(expected, follow(fork, script), f"continuing from a snapshot in {name}")


def _check_damage(env: gym.Env, subject: Subject) -> None:
    """Blobs that were cut, flipped, replaced, or well sealed around nonsense."""
    start(env, seed=subject.seed)
    Player(env, subject.seed).play(1)
    blob = snapshot(env)
    random = np.random.default_rng(subject.seed)
    damaged: list[tuple[str, Any]] = [("an empty blob", b""), ("a blob with a byte added", blob + b"\0")]
    damaged += [("random bytes", random.bytes(len(blob))), ("None", None), ("a str", "blob")]
    for at in (int(random.integers(len(blob))) for _ in range(DAMAGED_BLOBS)):
        flipped = blob[:at] + bytes([blob[at] ^ 1]) + blob[at + 1 :]
        damaged += [(f"a blob cut at byte {at}", blob[:at]), (f"a blob with a flipped bit in byte {at}", flipped)]
    for what, bad in damaged:
        require(_refused(restore, env, bad, what), f"{what} was restored as if it were whole")
        require_same(blob, snapshot(env), f"after refusing {what} the environment is not what it was")
    own = base(env).snapshot()
    for what, bad in _forged(own, base(env)._identity()):
        if _refused(lambda target, data: base(target).restore(data), env, bad, what):
            require_same(blob, snapshot(env), f"after refusing {what} the environment is not what it was")
        else:
            try:
                Player(env, subject.seed).play(TURNS_AFTER)
                start(env)
            except Exception as error:
                raise CheckFailed(f"{what} was restored, and then {type(error).__name__} came: {error}") from error
            restore(env, blob)


def _refused(load: Any, env: gym.Env, blob: Any, what: str) -> bool:
    try:
        load(env, blob)
    except SnapshotError:
        return True
    except Exception as error:
        raise CheckFailed(f"{what} raised {type(error).__name__} instead of SnapshotError: {error}") from error
    return False


def _forged(blob: bytes, identity: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Blobs with a right checksum whose content lacks a field or has a strange one."""
    data = open_blob(blob, identity)
    for path in [("world",), *((key,) for key in data), *(("world", key) for key in data["world"])]:
        for name, nonsense in (("missing", ...), ("None", None), ("a list", []), ("a word", "word")):
            forged = copy.deepcopy(data)
            place = forged if len(path) == 1 else forged["world"]
            if nonsense is ...:
                del place[path[-1]]
            else:
                place[path[-1]] = nonsense
            yield f"a snapshot whose {'.'.join(path)} is {name}", seal_blob(identity, forged)


# ---------------------------------------------------------------------- other ways to copy


def check_spec(subject: Subject) -> str:
    """`env.spec.to_json()` is enough to make an equal environment."""
    with subject.opened() as env:
        text = spec_of(env).to_json()
        with gym.make(EnvSpec.from_json(text), disable_env_checker=True) as copied:
            require(env.observation_space == copied.observation_space, "the spec makes another observation space")
            require(env.action_space == copied.action_space, "the spec makes another action space")
            require_same(base(env)._identity(), base(copied)._identity(), "what is made from the spec")
            require_same(text, spec_of(copied).to_json(), "the spec of what is made from the spec")
            expected = trajectory(env, subject.seed, subject.episodes)
            found = trajectory(copied, subject.seed, subject.episodes)
            require_same_results(expected, found, "playing the environment made from the spec")
    return f"{len(text)} characters of JSON make an equal environment"


def check_pickling(subject: Subject) -> str:
    """Pickled and deep copies continue like the original, independently of it."""
    with subject.opened() as env:
        for player, result in _random_moments(env, subject):
            copies = {"a pickled copy": pickle.loads(pickle.dumps(env)), "a deep copy": copy.deepcopy(env)}
            expected = player.play(TURNS_AFTER, over=result.over)
            for name, copied in copies.items():
                found = follow(copied, [step.action for step in expected])
                copied.close()
                require_same_results(expected, found, f"continuing with {name}")
    return f"copied at {subject.episodes} moments"
