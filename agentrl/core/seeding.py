"""Seeds and random streams.

Everything random in agentrl comes from one of these: an episode from its seed, sampling from the episode's name, the
walk through a pool of tasks from an integer hash. Nothing reads or changes a global random state.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

# Steele, Lea and Flood's SplitMix64: a counter that grows by GOLDEN, and a function that scrambles it. Written out here
# so that no update of a library changes a stream.
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
MASK64 = 2**64 - 1


def splitmix64(x: np.ndarray) -> np.ndarray:
    """The next SplitMix64 output for each uint64 state of an array: a bijection that looks random."""
    x = np.asarray(x, np.uint64)
    with np.errstate(over="ignore"):
        x = x + GOLDEN
        x = (x ^ (x >> np.uint64(30))) * np.uint64(FIRST)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(SECOND)
    return x ^ (x >> np.uint64(31))


def splitmix64_int(x: int) -> int:
    """`splitmix64` of one Python integer."""
    x = (x + int(GOLDEN)) & MASK64
    x = ((x ^ (x >> 30)) * FIRST) & MASK64
    x = ((x ^ (x >> 27)) * SECOND) & MASK64
    return x ^ (x >> 31)


def uniform(key: int, start: int, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers in [0, 1) that depend on the key and their position in its stream only."""
    counters = np.arange(start, start + math.prod(shape), dtype=np.uint64)
    with np.errstate(over="ignore"):
        bits = splitmix64(counters * GOLDEN + np.uint64(key & MASK64))
    return ((bits >> np.uint64(11)) * 2.0**-53).reshape(shape)


def named_noise(seed: int, names: Sequence[str], width: int) -> np.ndarray:
    """`[names, width]` numbers in [0, 1) in float32; a row depends on the seed and its own name only."""
    digests = [hashlib.blake2b(f"{seed}/{name}".encode("utf-8", "replace"), digest_size=8).digest() for name in names]
    states = np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)[:, None]
    bits = splitmix64(states + np.arange(width, dtype=np.uint64) * GOLDEN)
    return (bits >> np.uint64(40)).astype(np.float32) * np.float32(2.0**-24)


def mixed_seed(*parts: int | None) -> int:
    """One seed out of several numbers (None counts as 0): seeds that differ in one number are unrelated."""
    words = [abs(int(part or 0)) * 2 + (int(part or 0) < 0) for part in parts]
    return int(np.random.SeedSequence(words).generate_state(1)[0])


def episode_seed(seed: int, index: int) -> int:
    """The seed for `env.reset` in episode `index` of a run with this seed; runs with other seeds share none."""
    high, low = np.random.SeedSequence([seed, index]).generate_state(2)
    return (int(high) << 32 | int(low)) >> 11  # 53 bits: any JSON reader keeps it exact


def reset_key(seed: int | None) -> int:
    """The first `np_random.integers(2**63)` of a Gymnasium environment after `reset(seed=seed)`."""
    return int(np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed))).integers(2**63))


def coprime(draw: int, count: int) -> int:
    """A number made from `draw` without a common divisor with `count`: as a stride it visits all of `count` places."""
    step = draw % count or 1
    while math.gcd(step, count) != 1:
        step += 1
    return step


def generator_to_json(generator: np.random.Generator) -> str:
    """The state of a generator as text: it holds integers of 128 bits, too large for msgpack."""
    return json.dumps(_plain(generator.bit_generator.state))


def generator_from_json(text: str) -> np.random.Generator:
    """A generator in the state that `generator_to_json` wrote."""
    state = json.loads(text)
    kind = getattr(np.random, state["bit_generator"])
    if not (isinstance(kind, type) and issubclass(kind, np.random.BitGenerator)):  # `np.random.seed` is a name as well
        raise ValueError(f"bit_generator must be a bit generator of numpy; got {state['bit_generator']!r}")
    # Numpy believes what a state says about the place in its buffer, and would read beside it.
    inner = state["state"] if isinstance(state.get("state"), dict) else {}
    for name, place, last in (("pos", inner.get("pos", 0), 624), ("buffer_pos", state.get("buffer_pos", 0), 4)):
        if type(place) is not int or not 0 <= place <= last:
            raise ValueError(f"{name} must be a whole number from 0 to {last}; got {place!r}")
    bits = kind()
    bits.state = state
    return np.random.Generator(bits)


def _plain(value: Any) -> Any:
    """Numpy scalars and arrays as JSON types."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


# ---------------------------------------------------------------------- training runs

# What the random numbers of an iteration are for. The numbers decide recorded runs: never change one.
PURPOSES = {
    "demonstrations": 0,
    "minibatches": 1,
    "mc_rollouts": 2,
    "critic": 3,
    "actor": 4,
    "tasks": 5,
    "replay": 6,
    "words": 7,
    "policy": 8,
    "pictures": 9,
}


def run_seed(seed: int, iteration: int, purpose: str) -> int:
    """The seed of a run's random numbers for one purpose in one iteration (from 1)."""
    return mixed_seed(seed, iteration, PURPOSES[purpose])


def env_choice_rng(seed: int, iteration: int) -> np.random.Generator:
    """Which environment of a mix each episode of an iteration (from 0) is played in."""
    return np.random.default_rng(np.random.SeedSequence([seed, 1, iteration]))
