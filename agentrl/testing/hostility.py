"""The check with hostile actions: whatever a model writes is data, never an exception."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces

from agentrl.testing.report import CheckFailed, require
from agentrl.testing.subject import Result, Subject, start, takes_text
from agentrl.testing.turns import as_json, check_info_keys

HUGE_EVERY = 100  # actions, the last of which is a megabyte of text
MEGABYTE = 1_000_000
# Controls; ASCII; lone surrogates; invisible marks; everything; emoji.
CODE_POINTS = [(0, 0x20), (0, 0x80), (0xD800, 0xE000), (0x200B, 0x2070), (0, 0x110000), (0x1F300, 0x1F700)]


class Thorny:
    """An object that refuses to be looked at."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    def __hash__(self) -> int:
        raise RuntimeError("no hash")

    def __len__(self) -> int:
        raise RuntimeError("no length")


def check_hostile(subject: Subject) -> str:
    """Many hostile actions, some of them after the end of the episode: each gives an ordinary result."""
    random, count = np.random.default_rng(subject.seed), subject.budget.hostile_replies
    first = -count % HUGE_EVERY  # so that the last action, at least, is a huge one
    with subject.opened() as env:
        env.action_space.seed(subject.seed)
        result, ended = start(env, seed=subject.seed), 0
        for number in range(first, first + count):
            # Half of the time the env is stepped once more after the end, as a careless loop would.
            if result.over and (random.random() < 0.5 or result.info["fault"] == "episode_over"):
                result, ended = start(env), ended + 1
            before, action = result, hostile_action(env, random, number)
            result = _survive(env, action, number)
            if not before.over and isinstance(env.action_space, spaces.Box):
                # What is no array of the space is refused: it takes a turn and moves nothing. Finite numbers out of
                # range may be clipped instead, and are counted then.
                where, info, space = describe(action), result.info, env.action_space
                require(info["turn"] == before.info["turn"] + 1, f"{where} did not take a turn")
                if never_an_action(action, space):
                    require(not info["valid"], f"{where} must be invalid: it is not in {space}")
                elif info["valid"] and isinstance(action, np.ndarray) and out_of_range(action, space):
                    require(info.get("clipped", 0) > 0, f"{where} ran, and info['clipped'] does not count what is out")
                if not info["valid"]:
                    still = info["anchor"] == before.info["anchor"]
                    require(still, f"{where} is invalid and moved the simulation all the same")
                    require(info["feedback"], f"{where} is invalid, and the feedback does not say why")
            stays = not before.over or (result.over and result.terminated == before.terminated)
            require(stays, f"the step after the end ({describe(action)}) started the episode again")
    return f"{count} actions over {ended + 1} episodes"


def _survive(env: gym.Env, action: Any, number: int) -> Result:
    where = f"action {number}, {describe(action)}:"
    try:
        result = Result(action, *env.step(action))
    except Exception as error:
        raise CheckFailed(f"{where} step raised {type(error).__name__}: {error}") from error
    check_info_keys(result.info, where)
    as_json(result.info, f"{where} info")
    require(result.observation in env.observation_space, f"{where} the observation is not in its space")
    require(math.isfinite(result.reward), f"{where} the reward is {result.reward}")
    values = result.observation.values() if isinstance(result.observation, dict) else [result.observation]
    for text in values:
        try:
            text.encode("utf-8") if isinstance(text, str) else None
        except UnicodeEncodeError:
            raise CheckFailed(f"{where} the observation's text cannot be encoded as UTF-8") from None
    return result


def never_an_action(action: Any, space: spaces.Box) -> bool:
    """Is there no way to read this as an array of the space? Of other types of numbers an environment may be fond."""
    if isinstance(action, np.ndarray):
        fits = action.shape in (space.shape, (1, *space.shape)) and action.dtype.kind in "fiub"
        return not fits or not bool(np.isfinite(action).all())
    return action is None or isinstance(action, (str, bytes, bytearray, dict, set, type, Thorny))


def out_of_range(action: np.ndarray, space: spaces.Box) -> bool:
    """Is a number clearly beyond the bounds of the space?"""
    return bool(((action < space.low - 1e-3) | (action > space.high + 1e-3)).any())


def describe(action: Any) -> str:
    """A short, safe form of an action that may be huge, unprintable or thorny."""
    if isinstance(action, (str, bytes)):
        return f"{type(action).__name__} of length {len(action)} starting {action[:40]!a}"
    try:
        return f"{type(action).__name__} {ascii(action)[:80]}"
    except Exception:
        return type(action).__name__


# ---------------------------------------------------------------------- what a hostile action looks like


def hostile_action(env: gym.Env, random: np.random.Generator, number: int) -> Any:
    """The next hostile action, of a kind that fits the action space."""
    if not takes_text(env):
        odd = _odd_array if isinstance(env.action_space, spaces.Box) else _odd_number
        return (odd if random.random() < 0.7 else _no_action)(env.action_space.sample(), random)
    sample = str(env.action_space.sample())
    if number % HUGE_EVERY == HUGE_EVERY - 1:
        unit = _pick(["a", ",", "<answer>", " ", "\ud800", f"{sample},", "é", "((((a+)+)+", "\n"], random)
        text = unit * (MEGABYTE // len(unit))
        return _pick([text, f"<answer>{text}</answer>", sample + text], random)
    kinds: list[Callable[[str, np.random.Generator], Any]] = [_noise, _near_miss, _near_miss, _tangled_tags, _no_action]
    return kinds[random.integers(len(kinds))](sample, random)


def _pick(options: list[Any], random: np.random.Generator) -> Any:
    return options[random.integers(len(options))]


def _noise(sample: str, random: np.random.Generator) -> str:
    """Random code points: controls, NULs, lone surrogates, right-to-left marks, astral planes."""
    low, high = _pick(CODE_POINTS, random)
    text = "".join(map(chr, random.integers(low, high, size=random.integers(1, 60))))
    return _pick([text, f"<answer>{text}</answer>", sample + text, f"{text}{sample}", f"{sample}, {text}"], random)


def _near_miss(sample: str, random: np.random.Generator) -> str:
    """Almost an action: one character lost, doubled, replaced by a lookalike, or the wrong punctuation."""
    at = int(random.integers(max(1, len(sample))))
    head, char, tail = sample[:at], sample[at : at + 1], sample[at + 1 :]
    lookalike = chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else "\u200b"
    return _pick(
        [
            head + tail, head + char + char + tail, head + lookalike + tail, head + "\u0301" + tail,
            head + "\0" + char + tail, sample.upper(), sample.swapcase(), sample + ",", "," + sample,
            sample.replace(",", ";"), f"{sample} {sample}", f"{sample},,{sample}", f"{sample}\n{sample}",
            f"\ufeff{sample}", f"'{sample}'", f"[{sample}]", f"{sample}.", f"{sample}()",
            f'{{"action": "{sample}"}}', f"{sample}%s%n{{0}}", ",".join([sample] * 50), "", " ", "\n", ",",
        ],
        random,
    )  # fmt: skip


def _tangled_tags(sample: str, random: np.random.Generator) -> str:
    """Answer tags that are unclosed, nested, doubled, reversed, misspelt or many."""
    opened, closed, many = "<answer>", "</answer>", int(random.integers(2, 200))
    return _pick(
        [
            opened, closed, opened + sample, sample + closed, closed + sample + opened, opened + closed,
            opened * many + sample + closed * many, (opened + sample + closed) * many, opened * many, closed * many,
            f"{opened}{opened}{sample}{closed}{closed}", f"<ANSWER>{sample}</ANSWER>", f"<answer >{sample}</ answer>",
            f"<think>{opened}{sample}{closed}", f"<think>{opened}</think>{sample}{closed}", f"<answer/>{sample}",
            f"<answer{opened}{sample}{closed}>", f"{opened}<![CDATA[{sample}]]>{closed}", f"&lt;answer&gt;{sample}",
            f"<think></think>{opened}{sample}", f"{opened}\0{sample}\0{closed}", "<" * many, ">" * many, "</" * many,
        ],
        random,
    )  # fmt: skip


def _no_action(sample: Any, random: np.random.Generator) -> Any:
    """Things of the wrong type altogether."""
    return _pick(
        [
            None, True, -1, 10**30, 0.5, float("nan"), float("-inf"), 1j, b"", b"\xff\xfe", str(sample).encode(),
            bytearray(3), [], [sample], [[]], (), (sample, sample), {}, {"action": sample}, {1, 2}, frozenset(),
            object(), Thorny(), Thorny, int, len, iter([]), range(3), ..., NotImplemented, slice(1), memoryview(b"ab"),
            ValueError("x"), np.zeros(0), np.zeros((2, 3)), np.array(None), np.array("text"),
            np.array([Thorny(), None], object), np.datetime64("NaT"),
        ],
        random,
    )  # fmt: skip


def _odd_number(sample: Any, random: np.random.Generator) -> Any:
    """For whole-number actions: out of range, almost whole, or in strange clothes."""
    return _pick(
        [
            -1, -(2**63), 2**31, 2**63, 2**64, 10**100, 0.0, 1.5, float("inf"), float("nan"), True, "", str(sample),
            f" {sample} ", [sample], np.array(sample), np.array([sample]), np.array([sample, sample]), np.float32(1),
            np.uint8(255), np.int64(-1), np.array(10**30, object), np.array([[sample]]), np.array([np.nan]),
            np.bool_(True), np.str_("0"), sample,
        ],
        random,
    )  # fmt: skip


def _odd_array(sample: np.ndarray, random: np.random.Generator) -> Any:
    """For continuous control: wrong shape, wrong type, not a number, out of range."""
    broken = np.array(sample, float)
    if broken.size:
        broken.flat[random.integers(broken.size)] = _pick([np.nan, np.inf, -np.inf, 1e30, -1e30], random)
    return _pick(
        [
            broken, broken.astype(np.float32), np.append(sample, sample), np.ravel(sample)[:-1], sample[None],
            np.float64(0.5), sample.tolist(), sample.astype(object), sample.astype(str), sample.astype(complex),
            sample.astype(bool), sample.astype(np.int64), sample.astype(np.float16), np.full_like(sample, 1e30),
            np.zeros(0), sample.tobytes(), sample,
        ],
        random,
    )  # fmt: skip
