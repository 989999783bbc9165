"""`agentrl eval ID`: measure a policy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import tyro

from agentrl.cli.arguments import Common, EnvId, JsonText, JudgeText, Split, json_list, json_object, judge_spec
from agentrl.cli.output import interval, log, number, print_json, print_table, progress
from agentrl.core.errors import ConfigError, Fault
from agentrl.core.response import STRATEGIES
from agentrl.rollout.episode import EpisodeRecord
from agentrl.rollout.evaluate import Evaluation, Save, evaluate
from agentrl.rollout.trajectory_file import TrajectoryWriter

Strategy = Annotated[str, tyro.conf.arg(metavar="|".join(STRATEGIES))]


@dataclass(kw_only=True)
class Arguments(Common):
    """Measure a policy: success, reward, validity, with 95 % intervals."""

    id: EnvId
    """Which environment; `agentrl list` shows them."""
    policy: str = "random"
    """Who plays: random, oracle, human, hf:MODEL (a model folder, tiny-text, tiny-vlm or smollm2), openai:MODEL (any
    OpenAI-compatible endpoint), or react:POLICY (one of the last two, told to think and then act)."""
    base_url: str = ""
    """The endpoint of openai:MODEL; otherwise OPENAI_BASE_URL says, or OpenAI itself is asked."""
    policy_kwargs: JsonText = "{}"
    """Arguments of the policy, for example '{"greedy": true}' or '{"temperature": 0.7, "concurrency": 8}'."""
    episodes: int = 100
    """How many episodes."""
    seed: int = 0
    """Decides every episode's task and the policy's own dice."""
    split: Split = "test"
    """Which tasks."""
    env_kwargs: JsonText = "{}"
    """Arguments of the environment, for example '{"size": 8}'."""
    strategy: Strategy = ""
    """Ask for replies in this form (the Reasoning wrapper)."""
    representation: Annotated[str, tyro.conf.arg(metavar="natural|symbolic|structured")] = "natural"
    """How observations and predictions are to be written."""
    judge: JudgeText = ""
    """Pay for true observations and predictions (the ReasoningReward wrapper), for example: rule."""
    deferred: bool = False
    """Only note down what is to be judged; `agentrl judge` does it later."""
    wrap: JsonText = "[]"
    """Further wrappers, inside first, for example '[{"wrapper": "History", "turns": 2}]'."""
    save: Path | None = None
    """Write every trajectory to this file (JSON lines) while it runs."""


def run(arguments: Arguments) -> int:
    """Evaluate and print; fails when the machinery let not a single episode finish."""
    kwargs = json_object("--env-kwargs", arguments.env_kwargs)
    wrappers = chosen_wrappers(arguments)
    label = f"{arguments.id} {arguments.policy}"
    with saving(arguments.save) as save, progress(label, arguments.episodes) as advance:

        def seen(episode: EpisodeRecord | Fault) -> None:
            if isinstance(episode, Fault):
                log(f"fault: {type(episode).__name__}: {episode}")
            advance()

        result = evaluate(
            arguments.id,
            arguments.policy,
            arguments.episodes,
            arguments.seed,
            arguments.split,
            kwargs,
            wrappers=wrappers,
            on_episode=seen,
            on_trajectory=save,
            policy_kwargs=policy_arguments(arguments),
        )
    print_json(result.to_json()) if arguments.json else show(result)
    return 0 if result.metrics["scored"] else 1


def policy_arguments(arguments: Arguments) -> dict[str, Any]:
    """What the policy is made with."""
    chosen = json_object("--policy-kwargs", arguments.policy_kwargs)
    if "api_key" in chosen:
        # Whoever lists the processes of the machine sees the command line.
        raise ConfigError("--policy-kwargs must not hold a key; put it into OPENAI_API_KEY or the api_key_env you name")
    return {**chosen, "base_url": arguments.base_url} if arguments.base_url else chosen


def chosen_wrappers(arguments: Arguments) -> list[dict[str, Any]]:
    """The wrappers that the options ask for, inside first."""
    wrappers: list[dict[str, Any]] = []
    if arguments.strategy:
        form = {"strategy": arguments.strategy, "representation": arguments.representation}
        wrappers.append({"wrapper": "Reasoning", **form})
    if arguments.judge or arguments.deferred:
        if not arguments.strategy:
            raise ConfigError("--judge and --deferred need --strategy: what shall be judged?")
        judge = judge_spec("--judge", arguments.judge or "rule")
        wrappers.append({"wrapper": "ReasoningReward", "judge": judge, "deferred": arguments.deferred})
    return wrappers + json_list("--wrap", arguments.wrap)


@contextlib.contextmanager
def saving(path: Path | None) -> Iterator[Save | None]:
    """What writes a trajectory to the file; None where nothing is to be kept."""
    if path is None:
        yield None
        return
    if path.exists():
        # Two evaluations in one file could no longer be told apart.
        raise ConfigError(f"{path} is there already; choose another file with --save, or remove it")
    with TrajectoryWriter(path) as writer:
        yield writer.write


def show(result: Evaluation) -> None:
    """The figures for a person."""
    terms = ", ".join(f"{name} {value:+.3f}" for name, value in result.reward_terms.items())
    rows = [
        ("success", f"{number(result.success)}  95 % {interval(result.success_ci)} (Wilson)"),
        ("reward", f"{number(result.reward_mean)}  95 % {interval(result.reward_ci)} (Student's t)"),
        ("reward terms", terms or "-"),
        ("valid turns", number(result.valid_rate)),
        ("well-formed turns", number(result.format_rate)),
        ("effective turns", number(result.effective_rate)),
        ("turns per episode", number(result.turns_mean, 2)),
        ("truncated", number(result.truncated_rate)),
        ("rewards pending", result.metrics["pending"]),
        ("faults", result.faults),
        ("seconds", number(result.seconds, 2)),
    ]
    title = f"{result.id}: {result.policy}, {result.episodes} episodes of {result.split}, seed {result.seed}"
    print_table(("figure", "value"), rows, title=title)
