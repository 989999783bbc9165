"""Save anywhere, continue anywhere: whole stacks, other processes, and blobs that are wrong in every way."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import gymnasium as gym
import msgspec
import numpy as np
import pytest
from counter_env import CounterEnv
from gymnasium import wrappers as gw

import agentrl
from agentrl.core import snapshot as core
from agentrl.core.errors import SnapshotError, SnapshotUnsupported
from agentrl.core.snapshot import load_attributes, open_blob, register_wrapper, save_attributes, seal_blob

GRID, TEXT = "agentrl/FrozenLake-Grid-v0", "agentrl/FrozenLake-Text-v0"


def double(reward: float) -> float:
    return 2 * reward


def make_stack(kind: str = GRID, **arguments: Any) -> gym.Env:
    """A lake with everything of Gymnasium's around it that keeps state."""
    env = gym.make(kind, slippery=True, max_episode_steps=6, **arguments)
    env = gw.TransformReward(gw.RecordEpisodeStatistics(env), double)
    return gw.FrameStackObservation(env, 3) if kind == GRID else env


def play(env: gym.Env, actions: list[Any]) -> list[Any]:
    """Everything that comes back, as comparable values (clock times apart)."""
    results = []
    for action in actions:
        observation, reward, terminated, truncated, info = env.step(action)
        if "episode" in info:
            info["episode"].pop("t")
        results.append([plain(observation), reward, terminated, truncated, plain(info)])
        if terminated or truncated:
            results.append(plain(list(env.reset())))
    return results


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=lambda v: v.tolist() if hasattr(v, "tolist") else str(v)))


def moves(count: int, seed: int) -> list[int]:
    return [int(move) for move in np.random.default_rng(seed).integers(4, size=count)]


def layers(env: gym.Env) -> list[gym.Env]:
    found = [env]
    while isinstance(found[-1], gym.Wrapper):
        found.append(found[-1].env)
    return found


def find(env: gym.Env, kind: type) -> Any:
    return next(layer for layer in layers(env) if isinstance(layer, kind))


# ---------------------------------------------------------------------- the way there and back


@pytest.mark.parametrize("moment", [0, 1, 2, 5, 9, 14])
def test_the_same_actions_after_a_restore_give_the_same_results(moment):
    env = make_stack()
    env.reset(seed=3)
    play(env, moves(moment, 1))
    blob = agentrl.snapshot(env)
    expected = play(env, moves(25, 2))
    agentrl.restore(env, blob)
    assert play(env, moves(25, 2)) == expected
    fresh = make_stack()  # one that was never reset
    agentrl.restore(fresh, blob)
    assert play(fresh, moves(25, 2)) == expected


def test_every_layer_takes_part():
    env = make_stack()
    env.reset(seed=3)
    env.step(0)
    blob = agentrl.snapshot(env)
    seen = {
        "elapsed": find(env, gw.TimeLimit)._elapsed_steps,
        "returns": float(find(env, gw.RecordEpisodeStatistics).episode_returns),
        "frames": plain(list(find(env, gw.FrameStackObservation).obs_queue)),
    }
    fresh = make_stack()
    agentrl.restore(fresh, blob)
    assert find(fresh, gw.TimeLimit)._elapsed_steps == seen["elapsed"] == 1
    assert float(find(fresh, gw.RecordEpisodeStatistics).episode_returns) == seen["returns"] != 0
    assert plain(list(find(fresh, gw.FrameStackObservation).obs_queue)) == seen["frames"]
    assert find(fresh, gw.OrderEnforcing)._has_reset


def test_a_time_limit_goes_on_counting_where_it_was():
    env = gym.wrappers.TimeLimit(CounterEnv(max_turns=50, target=1000), 3)
    env.reset(seed=0)
    env.step("wait")
    env.step("wait")
    blob = agentrl.snapshot(env)
    env.reset(seed=1)
    agentrl.restore(env, blob)
    assert env.step("wait")[3]


def test_text_stacks_travel_as_well():
    env = make_stack(TEXT)
    env.reset(seed=4)
    env.step("Left, Up")
    blob = agentrl.snapshot(env)
    expected = play(env, ["Right", "jump", "Down, Down"])
    other = make_stack(TEXT)
    other.reset(seed=99)
    agentrl.restore(other, blob)
    assert play(other, ["Right", "jump", "Down, Down"]) == expected


def test_taking_a_snapshot_changes_nothing_and_gives_equal_bytes():
    env = make_stack()
    env.reset(seed=3)
    assert agentrl.snapshot(env) == agentrl.snapshot(env)


def test_a_snapshot_can_be_restored_many_times_and_kinds_of_bytes_do_not_matter():
    env = make_stack()
    env.reset(seed=3)
    blob = agentrl.snapshot(env)
    for form in (bytes, bytearray, memoryview):
        agentrl.restore(env, form(blob))
        assert agentrl.snapshot(env) == blob
        env.step(1)


@pytest.mark.parametrize("seed", [0, 2**63, 2**200])
def test_seeds_of_any_size_can_be_saved(seed):
    env = CounterEnv()
    env.reset(seed=seed)
    blob = env.snapshot()
    fresh = CounterEnv()
    fresh.restore(blob)
    assert fresh.np_random_seed == seed and fresh.np_random.random() == env.np_random.random()


@pytest.mark.parametrize("bits", [np.random.PCG64DXSM, np.random.Philox, np.random.MT19937, np.random.SFC64])
def test_generators_of_any_kind_are_saved(bits):
    env = CounterEnv(target=1000)
    env.reset(seed=0)
    env.np_random = np.random.Generator(bits(5))
    blob, expected = env.snapshot(), [env.step("gamble")[4]["state"] for _ in range(3)]
    env.restore(blob)
    assert [env.step("gamble")[4]["state"] for _ in range(3)] == expected


ELSEWHERE = """
import json, sys
from pathlib import Path
sys.path.insert(0, {here!r})
from test_snapshot import agentrl, make_stack, moves, play
env = make_stack()
agentrl.restore(env, Path({path!r}).read_bytes())
print(json.dumps(play(env, moves(12, 2))))
"""


def test_a_snapshot_continues_in_another_process(tmp_path):
    env = make_stack()
    env.reset(seed=3)
    play(env, moves(7, 1))
    (tmp_path / "blob").write_bytes(agentrl.snapshot(env))
    script = ELSEWHERE.format(here=str(sys.modules[__name__].__file__.rpartition("/")[0]), path=str(tmp_path / "blob"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == play(env, moves(12, 2))


# ---------------------------------------------------------------------- bad blobs


def corrupted(blob: bytes) -> list[bytes]:
    flips = [blob[:i] + bytes([blob[i] ^ 0x41]) + blob[i + 1 :] for i in range(len(blob))]
    cuts = [blob[:i] for i in range(len(blob))]
    return flips + cuts + [blob + b"\x00", blob * 2]


def test_a_blob_damaged_at_any_byte_is_refused_and_nothing_changes():
    env = make_stack()
    env.reset(seed=3)
    env.step(0)
    blob = agentrl.snapshot(env)
    env.step(2)
    before = agentrl.snapshot(env)
    for bad in corrupted(blob):
        with pytest.raises(SnapshotError):
            agentrl.restore(env, bad)
    assert agentrl.snapshot(env) == before


def test_the_environments_own_part_is_guarded_the_same_way():
    env = CounterEnv()
    env.reset(seed=3)
    blob = env.snapshot()
    env.step("inc")
    before = env.snapshot()
    for bad in corrupted(blob):
        with pytest.raises(SnapshotError):
            env.restore(bad)
    assert env.snapshot() == before


@pytest.mark.parametrize("blob", [None, "text", 3, [1, 2], b"", b"AGRL1", b"\x80\x04pickled", {}])
def test_what_is_no_blob_is_refused(blob):
    env = CounterEnv()
    env.reset(seed=3)
    for restore in (env.restore, lambda bad: agentrl.restore(env, bad)):
        with pytest.raises(SnapshotError):
            restore(blob)


HOSTILE = [
    ("turn", "many"),
    ("turn", -1),
    ("turn", 1.5),
    ("terminated", "yes"),
    ("feedback", 3),
    ("random", "{}"),
    ("random", "not json"),
    ("random", '{"bit_generator": "seed"}'),
    ("random", '{"bit_generator": "PCG64", "state": 3}'),
    ("random", 5),
    ("seed", "x"),
    ("world", {}),
    ("world", 3),
    ("world", {"count": 1}),
]


@pytest.mark.parametrize(("key", "value"), HOSTILE)
def test_a_forged_blob_with_a_good_checksum_is_refused_and_nothing_changes(key, value):
    env = CounterEnv()
    env.reset(seed=3)
    data = open_blob(env.snapshot(), env._identity())
    env.step("inc")
    before, world = env.snapshot(), np.random.get_state()[1].copy()
    with pytest.raises(SnapshotError):
        env.restore(seal_blob(env._identity(), {**data, key: value}))
    missing = {name: kept for name, kept in data.items() if name != key}
    with pytest.raises(SnapshotError):
        env.restore(seal_blob(env._identity(), missing))
    assert env.snapshot() == before and np.array_equal(world, np.random.get_state()[1])


@pytest.mark.parametrize(
    "change",
    [
        {"layers": None},
        {"layers": []},
        {"layers": [b"\xc1"] * 7},
        {"env": b"x"},
        {"env": None},
        {"layers": [b"\x80"] * 7},
    ],
)
def test_a_forged_stack_is_refused_and_no_layer_changes(change):
    env = make_stack()
    env.reset(seed=3)
    identity = core._stack_identity(env, core._layers(env)[0])
    data = open_blob(agentrl.snapshot(env), identity)
    env.step(0)
    before = agentrl.snapshot(env)
    for forged in ({**data, **change}, {k: v for k, v in data.items() if k not in change}):
        with pytest.raises(SnapshotError):
            agentrl.restore(env, seal_blob(identity, forged))
        assert agentrl.snapshot(env) == before


@pytest.mark.parametrize("body", [[], 3, None, {"identity": 1}, {"data": {}}, {"identity": [[]], "data": 3}])
def test_a_body_of_another_shape_is_refused(body):
    packed = msgspec.msgpack.encode(body)
    digest = core.hashlib.blake2b(packed, digest_size=core.DIGEST_SIZE).digest()
    with pytest.raises(SnapshotError):
        open_blob(core.MAGIC + digest + packed, {"env": "x"})


def test_a_bottomless_body_is_refused():
    packed = b"\x91" * 100_000 + b"\xc0"
    digest = core.hashlib.blake2b(packed, digest_size=core.DIGEST_SIZE).digest()
    with pytest.raises(SnapshotError):
        open_blob(core.MAGIC + digest + packed, {"env": "x"})


def test_there_is_nothing_to_save_before_the_first_reset():
    with pytest.raises(SnapshotError, match="reset"):
        agentrl.snapshot(make_stack())


# ---------------------------------------------------------------------- other stacks


@pytest.mark.parametrize(
    ("other", "difference"),
    [
        (lambda: make_stack(invalid_penalty=-0.5), "invalid_penalty is -0.1 there and -0.5 here"),
        (lambda: make_stack(split="test"), "split is 'train' there and 'test' here"),
        (lambda: gw.FrameStackObservation(make_stack().env, 2), "stack_size"),
        (lambda: make_stack().env, "wrappers"),
        (CounterEnv, "agentrl/FrozenLake-Grid-v0"),
        (lambda: make_stack(TEXT), "agentrl/FrozenLake-Text-v0"),
    ],
)
def test_a_snapshot_from_elsewhere_is_refused_with_the_difference(other, difference):
    env = make_stack()
    env.reset(seed=3)
    blob = agentrl.snapshot(env)
    target = other()
    target.reset(seed=8)
    before = agentrl.snapshot(target)
    with pytest.raises(SnapshotError) as caught:
        agentrl.restore(target, blob)
    assert difference in str(caught.value)
    assert agentrl.snapshot(target) == before


def test_how_it_is_shown_does_not_matter():
    env, other = make_stack(), make_stack(render_mode="rgb_array")
    env.reset(seed=3)
    agentrl.restore(other, agentrl.snapshot(env))
    assert np.array_equal(env.unwrapped._codes, other.unwrapped._codes)


@pytest.mark.parametrize(("one", "two"), [(np.int64(4), 4), (object(), object()), ((1, 2), [1, 2])])
def test_arguments_that_mean_the_same_fit_in_every_process(one, two):
    env, other = CounterEnv(extra=one), CounterEnv(extra=two)
    env.reset(seed=0)
    other.restore(env.snapshot())


@pytest.mark.parametrize(("one", "two"), [(1, 2), (np.arange(2), np.arange(3)), (object(), {})])
def test_arguments_that_differ_do_not(one, two):
    env, other = CounterEnv(extra=one), CounterEnv(extra=two)
    env.reset(seed=0)
    with pytest.raises(SnapshotError, match=r"parameters\.extra"):
        other.restore(env.snapshot())


def test_environments_of_others_cannot_be_saved():
    env = gym.make("CartPole-v1")
    env.reset(seed=0)
    with pytest.raises(SnapshotUnsupported, match="CartPole"):
        agentrl.snapshot(env)
    with pytest.raises(SnapshotUnsupported, match="CartPole"):
        agentrl.restore(env, b"")


# ---------------------------------------------------------------------- wrappers of others


class Secretive(gym.Wrapper):
    """Keeps state and tells nobody."""

    def step(self, action: Any) -> Any:
        self.last = action
        return super().step(action)


class Counting(gym.Wrapper):
    """Keeps state and says how to save it."""

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self.steps = 0

    def step(self, action: Any) -> Any:
        self.steps += 1
        return super().step(action)

    def snapshot(self) -> bytes:
        return save_attributes(self, "steps")

    def restore(self, blob: bytes) -> None:
        load_attributes(self, blob, "steps")


class Refusing(Counting):
    """Cannot restore anything but zero steps."""

    def restore(self, blob: bytes) -> None:
        super().restore(blob)
        if self.steps > 1:
            raise RuntimeError("too many steps for me")


class Shout(gym.ObservationWrapper):
    """Has nowhere to keep state."""

    def observation(self, observation: Any) -> Any:
        return {"text": observation["text"].upper()}


class Hoarding(gym.ObservationWrapper):
    """Looks stateless by its base class, but has a constructor of its own."""

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self.seen: list[str] = []

    def observation(self, observation: Any) -> Any:
        self.seen.append(observation["text"])
        return observation


class Bonus(gym.Wrapper):
    """A plain wrapper that keeps nothing: its constructor alone sets attributes, which never change."""

    def __init__(self, env: gym.Env, bonus: float = 0.5, words: tuple[str, ...] = ("wait",)) -> None:
        super().__init__(env)
        self.bonus, self.words = bonus, words

    def step(self, action: Any) -> Any:
        observation, reward, *rest = self.env.step(action)
        return observation, reward + self.bonus * any(word in action for word in self.words), *rest


class Noting(gym.ObservationWrapper):
    """Keeps state where only a look at its code finds it before it is played."""

    def observation(self, observation: Any) -> Any:
        setattr(self, "last", observation)  # noqa: B010
        return observation


class Listing(Bonus):
    """Has nothing but a list, which can change in place."""

    def __init__(self, env: gym.Env) -> None:
        super().__init__(env)
        self.seen: list[str] = []


def test_a_plain_wrapper_without_state_needs_no_methods():
    env, other = Bonus(Shout(CounterEnv(max_turns=9))), Bonus(Shout(CounterEnv(max_turns=9)))
    env.reset(seed=0)
    env.step("wait")
    agentrl.restore(other, agentrl.snapshot(env))
    assert other.step("wait") == env.step("wait")


@pytest.mark.parametrize("wrapper", [Secretive, Hoarding, Noting, Listing, gw.StickyAction])
def test_state_that_is_still_to_come_is_seen_before_anything_is_played(wrapper):
    env = wrapper(CounterEnv(), 0.5) if wrapper is gw.StickyAction else wrapper(CounterEnv())
    with pytest.raises(SnapshotUnsupported, match=wrapper.__name__):
        core.snapshot_layers(env)


@pytest.mark.parametrize("wrapper", [Secretive, Hoarding, lambda env: gw.NormalizeReward(env)])
def test_an_unknown_wrapper_with_state_is_refused_by_name(wrapper):
    env = wrapper(CounterEnv())
    env.reset(seed=0)
    with pytest.raises(SnapshotUnsupported, match=type(env).__name__):
        agentrl.snapshot(env)


def test_a_wrapper_with_the_two_methods_takes_part():
    env = Counting(Shout(Counting(CounterEnv(max_turns=9))))
    env.reset(seed=0)
    env.step("wait")
    env.env.env.step("wait")
    blob = agentrl.snapshot(env)
    env.step("wait")
    agentrl.restore(env, blob)
    assert (env.steps, env.env.env.steps) == (1, 2) and env.unwrapped._turn == 2


def test_a_wrapper_that_fails_to_restore_leaves_the_whole_stack_as_it_was():
    env = Counting(Refusing(CounterEnv(max_turns=9, target=1000)))
    env.reset(seed=0)
    env.step("inc")
    env.step("inc")
    blob = agentrl.snapshot(env)
    fresh = Counting(Refusing(CounterEnv(max_turns=9, target=1000)))
    fresh.reset(seed=5)
    before = agentrl.snapshot(fresh)
    with pytest.raises(SnapshotError, match="too many steps"):
        agentrl.restore(fresh, blob)
    assert agentrl.snapshot(fresh) == before


def test_snapshots_can_be_taught_about_a_wrapper(monkeypatch):
    monkeypatch.setattr(core, "_KNOWN", dict(core._KNOWN))
    register_wrapper(Secretive, lambda w: save_attributes(w, "last"), lambda w, blob: load_attributes(w, blob, "last"))
    env = Secretive(CounterEnv())
    env.reset(seed=0)
    env.step("inc")
    blob = agentrl.snapshot(env)
    env.step("wait")
    agentrl.restore(env, blob)
    assert env.last == "inc"


# ---------------------------------------------------------------------- wrappers alone


def test_what_wrappers_remember_travels_without_the_environment() -> None:
    def stack() -> gym.Env:
        return gw.RecordEpisodeStatistics(gym.make(TEXT, max_episode_steps=6))

    env, other = stack(), stack()
    blobs = core.snapshot_layers(env)  # before the first reset
    env.reset(seed=1)
    env.step("Left")
    later = core.snapshot_layers(env)
    assert len(later) == len(blobs) and later != blobs
    core.restore_layers(other, later)
    assert core.snapshot_layers(other) == later
    other.reset(seed=2)
    core.restore_layers(other, blobs)
    assert core.snapshot_layers(other) == blobs


def test_memories_of_another_stack_are_refused_and_nothing_changes() -> None:
    env = gw.RecordEpisodeStatistics(gym.make(TEXT, max_episode_steps=6))
    env.reset(seed=1)
    before = core.snapshot_layers(env)
    for wrong in ([], before[1:], before[::-1], [b"", *before[1:]], core.snapshot_layers(gym.make(TEXT))):
        with pytest.raises(SnapshotError):
            core.restore_layers(env, wrong)
    damaged = seal_blob(core._layer_identity(env, env), {"layer": b"\xc1"})  # whole, but no statistics inside
    with pytest.raises(SnapshotError, match="does not fit"):
        core.restore_layers(env, [damaged, *before[1:]])
    assert core.snapshot_layers(env) == before


@pytest.mark.parametrize(("wrapper", "name"), [("TimeLimit", "_elapsed_steps"), ("FrameStackObservation", "obs_queue")])
@pytest.mark.parametrize("value", ["word", [1, 2], {"a": 1}, b"x"])
def test_a_wrapper_s_memory_of_another_kind_is_refused(wrapper: str, name: str, value: Any) -> None:
    env = make_stack()
    env.reset(seed=1)
    blob = agentrl.snapshot(env)
    identity = core._stack_identity(env, core._layers(env)[0])
    data = open_blob(blob, identity)
    place = [type(layer).__name__ for layer in core._layers(env)[0]].index(wrapper)
    data["layers"][place] = msgspec.msgpack.encode({name: value})
    with pytest.raises(SnapshotError, match=f"{name} must be a"):
        agentrl.restore(env, seal_blob(identity, data))
    assert agentrl.snapshot(env) == blob
    env.step(0)
