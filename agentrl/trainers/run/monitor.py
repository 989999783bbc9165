"""A monitor of a run: reads every line of metrics and warns when training goes wrong in a way a loss does not show.

The worst of these is *reward hacking*: the policy finds reward that has nothing to do with the task (a bonus for form,
say) and gives the task up for it. The reward curve looks splendid, so success is watched apart from it.

Each warning is given once and may come again only after its sign was away for a while. The whole memory of a monitor
is JSON, so that a resumed run warns exactly where the uninterrupted one would have.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

import msgspec

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError
from agentrl.rollout.statistics import wilson_interval

KNOWN = ("reward_hacking", "entropy_collapse", "no_signal", "kl_blowup", "invalid_actions", "skipped_steps")
SCHEMA = 1
SHORT = 3  # lines that must agree before one of the simple signs counts: a single odd batch is no trouble
MAX_BLOCKS = 32  # of the past; older ones are thinned out, never all forgotten
NORMAL_95 = 1.96


@dataclass
class _Beat:
    """What one training line says; None where it says nothing."""

    episodes: int = 0
    success: float | None = None
    reward: float | None = None
    reward_error: float | None = None  # standard error of the mean
    entropy: float | None = None
    kl: float | None = None
    approx_kl: float | None = None
    valid: float | None = None
    skipped: float | None = None  # optimiser steps
    broken: bool = False  # a KL that is no finite number, which JSON could not hold


@dataclass
class _Block:
    """Several lines pooled: means with standard errors, fit to be compared with another block."""

    episodes: int
    success: float
    success_error: float
    reward: float
    reward_error: float


@dataclass
class _Memory:
    beats: list[_Beat] = field(default_factory=list)  # the newest, at most `window`
    blocks: list[_Block] = field(default_factory=list)  # the past in pieces of `window` lines that do not overlap
    lines: int = 0
    first_entropy: float | None = None
    best_valid: float | None = None
    kl: list[float] = field(default_factory=list)
    active: dict[str, int] = field(default_factory=dict)  # warning -> lines since its sign was last seen


class Monitor:
    """Takes each line of metrics.jsonl as it is written; `update` returns the warnings it gives rise to.

    `window` lines are pooled before success and reward are compared, and a change counts from `sigma` standard errors
    on (the larger of what sampling explains and what is seen between iterations). Success is at the `floor` where the
    upper end of its interval is below it.

    In 1,600 simulated healthy runs of 150 noisy iterations (learning, at a ceiling, learning nothing) 4 had a false
    alarm of reward hacking, all with success constant at 0.02. A run that learns the form of its answers first, with
    success still at the floor, looks like reward hacking until success rises, and may be told so.
    """

    def __init__(self, *, window: int = 8, sigma: float = 5.0, floor: float = 0.05) -> None:
        self.window = whole_number("window", window, at_least=SHORT)
        self.sigma = finite_number("sigma", sigma)
        self.floor = finite_number("floor", floor)
        if self.sigma <= 0 or not 0 < self.floor < 1:
            raise ConfigError(f"sigma must be above 0 and floor between 0 and 1, not {sigma!r} and {floor!r}")
        self._memory = _Memory()

    def update(self, line: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The new warnings, each a line for metrics.jsonl; none for lines that are not about training."""
        if line.get("kind") != "train":
            return []
        self._remember(_read(line))
        signs = (
            self._reward_hacking, self._entropy_collapse, self._no_signal, self._kl_blowup, self._invalid_actions,
            self._skipped_steps,
        )  # fmt: skip
        found = []
        for name, sign in zip(KNOWN, signs, strict=True):
            detail = sign()
            if self._turns_on(name, detail is not None) and detail is not None:
                found.append({"iteration": line.get("iteration"), "kind": "warning", "warning": name, "detail": detail})
        return found

    @property
    def active(self) -> tuple[str, ...]:
        """The warnings that stand at present."""
        return tuple(name for name in KNOWN if name in self._memory.active)

    def to_json(self) -> dict[str, Any]:
        """Everything a later `Monitor` needs to continue as this one would."""
        memory = asdict(self._memory)
        return {"schema": SCHEMA, "window": self.window, "sigma": self.sigma, "floor": self.floor, "memory": memory}

    @classmethod
    def from_json(cls, data: Any) -> Monitor:
        """Inverse of `to_json`; `ConfigError` on anything else."""
        if not isinstance(data, Mapping) or data.get("schema") != SCHEMA or "memory" not in data:
            raise ConfigError("the state of a monitor must be a JSON object of its schema; got another")
        monitor = cls(window=data.get("window", 0), sigma=data.get("sigma", 0), floor=data.get("floor", 0))
        try:
            monitor._memory = msgspec.convert(data["memory"], _Memory)
        except msgspec.ValidationError as error:
            raise ConfigError(f"the state of the monitor cannot be read: {error}") from error
        return monitor

    # ------------------------------------------------------------------ memory

    def _remember(self, beat: _Beat) -> None:
        memory = self._memory
        memory.lines += 1
        if memory.lines > self.window and (memory.lines - 1) % self.window == 0:
            block = _pool(memory.beats)
            memory.blocks += [] if block is None else [block]
            if len(memory.blocks) > MAX_BLOCKS:
                memory.blocks = memory.blocks[::2]
        memory.beats = [*memory.beats, beat][-self.window :]
        if memory.first_entropy is None:
            memory.first_entropy = beat.entropy
        if (valid := self._recent("valid")) is not None:
            memory.best_valid = max(valid, memory.best_valid or 0.0)
        if beat.kl is not None:
            memory.kl = [*memory.kl, beat.kl][-4 * self.window :]

    def _recent(self, name: str) -> float | None:
        """The median of the last few lines; None unless all of them say something."""
        values = [getattr(beat, name) for beat in self._memory.beats[-SHORT:]]
        return None if len(values) < SHORT or None in values else median(values)

    def _turns_on(self, name: str, seen: bool) -> bool:
        active = self._memory.active
        if seen:
            new = name not in active
            active[name] = 0
            return new
        if name in active:
            active[name] += 1
            if active[name] >= self.window:
                del active[name]
        return False

    # ------------------------------------------------------------------ signs

    def _reward_hacking(self) -> str | None:
        memory = self._memory
        now = _pool(memory.beats) if len(memory.beats) == self.window else None
        if now is None:
            return None
        # The newest block shares lines with the window, except where one ends exactly as the other begins.
        apart = memory.blocks if memory.lines % self.window == 0 else memory.blocks[:-1]
        for past in apart:
            gain = now.reward - past.reward
            error = math.hypot(now.reward_error, past.reward_error)
            if gain > max(self.sigma * error, 0.05, 0.05 * abs(past.reward)) and self._suffers(now, past):
                return (
                    f"reward rose from {past.reward:.2f} to {now.reward:.2f} while success went from "
                    f"{past.success:.3f} to {now.success:.3f}: the policy earns reward without doing the task"
                )
        return None

    def _suffers(self, now: _Block, past: _Block) -> bool:
        change, error = now.success - past.success, math.hypot(now.success_error, past.success_error)
        fell = -change > max(self.sigma * error, 0.02, 0.1 * past.success)
        interval = wilson_interval(round(now.success * now.episodes), now.episodes)
        stays_down = interval is not None and interval[1] < self.floor and change <= self.sigma * error
        return fell or stays_down

    def _entropy_collapse(self) -> str | None:
        entropy, success = self._recent("entropy"), self._recent("success")
        if entropy is None or success is None or success >= 0.5:
            return None
        first = self._memory.first_entropy or 0.0
        if entropy < 0.01 or (entropy < 0.05 and entropy < 0.05 * first):
            return f"entropy fell to {entropy:.4f} with success at {success:.3f}: the policy no longer tries anything"
        return None

    def _no_signal(self) -> str | None:
        newest = self._memory.beats[-SHORT:]
        solved = all(beat.success is not None and beat.success >= 0.99 for beat in newest)
        flat = all(beat.episodes > 1 and beat.reward_error is not None and beat.reward_error < 1e-9 for beat in newest)
        if len(newest) < SHORT or solved or not flat:
            return None
        return f"every episode of {SHORT} iterations earned the same reward: there is nothing to learn from"

    def _kl_blowup(self) -> str | None:
        step = self._recent("approx_kl")
        if self._memory.beats[-1].broken:
            return "the KL divergence is no longer a finite number"
        if step is not None and step > 0.3:
            return f"one update moves the policy by a KL of {step:.2f}: lower the learning rate or the epochs"
        before, now = self._memory.kl[:-SHORT], self._memory.kl[-SHORT:]
        if len(before) >= SHORT and median(now) > max(1.0, 10 * median(before)):
            return f"the KL to the reference went from {median(before):.3f} to {median(now):.2f}"
        return None

    def _invalid_actions(self) -> str | None:
        valid, best = self._recent("valid"), self._memory.best_valid
        if valid is None or best is None or valid >= 0.5 or valid > best - 0.1:
            return None
        return f"only {valid:.0%} of the turns are valid, after {best:.0%}"

    def _skipped_steps(self) -> str | None:
        skipped = self._memory.beats[-1].skipped
        if not skipped:
            return None
        return f"{skipped:.0f} optimiser steps were skipped: their loss or gradient was not finite"


def _read(line: Mapping[str, Any]) -> _Beat:
    loss = line.get("loss")
    losses: Mapping[str, Any] = loss if isinstance(loss, Mapping) else {}
    episodes = _finite(line.get("episodes"))
    return _Beat(
        episodes=int(episodes) if episodes is not None and episodes > 0 else 0,
        success=_share(line.get("success")),
        reward=_finite(line.get("reward_mean")),
        reward_error=_error(line.get("reward_ci")),
        entropy=_finite(losses.get("entropy")),
        kl=_finite(losses.get("kl")),
        approx_kl=_finite(losses.get("approx_kl")),
        valid=_share(line.get("valid_rate")),
        skipped=_finite(losses.get("skipped_steps")),
        broken=any(_is_broken(losses.get(name)) for name in ("kl", "approx_kl")),
    )


def _finite(value: Any) -> float | None:
    fits = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if fits else None


def _is_broken(value: Any) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def _share(value: Any) -> float | None:
    number = _finite(value)
    return number if number is not None and 0 <= number <= 1 else None


def _error(interval: Any) -> float | None:
    """The standard error behind a 95 % interval."""
    if not isinstance(interval, Sequence) or len(interval) != 2:
        return None
    low, high = _finite(interval[0]), _finite(interval[1])
    return None if low is None or high is None else abs(high - low) / (2 * NORMAL_95)


def _pool(beats: Sequence[_Beat]) -> _Block | None:
    """None where fewer than a few of the lines can be used."""
    used = [(b.episodes, b.success, b.reward, b.reward_error or 0.0) for b in beats if b.episodes]
    counted = [(n, s, r, e) for n, s, r, e in used if s is not None and r is not None]
    if len(counted) < SHORT:
        return None
    episodes = sum(n for n, *_ in counted)
    success = math.fsum(n * s for n, s, *_ in counted) / episodes
    rewards = [r for _, _, r, _ in counted]
    # One success more than was seen: no successes at all must not look like perfect knowledge.
    likely = (success * episodes + 1) / (episodes + 2)
    sampled = math.sqrt(math.fsum(e * e for *_, e in counted)) / len(counted)
    return _Block(
        episodes=episodes,
        success=success,
        success_error=max(math.sqrt(likely * (1 - likely) / episodes), _between([s for _, s, *_ in counted])),
        reward=math.fsum(rewards) / len(rewards),
        reward_error=max(sampled, _between(rewards)),
    )


def _between(values: Sequence[float]) -> float:
    """The standard error of the mean, as the values themselves scatter."""
    centre = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1) / len(values))
