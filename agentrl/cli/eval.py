"""`agentrl eval ID`: measure a policy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import tyro

from agentrl.cli.arguments import Common, EnvId, JsonText, JudgeText, Split, json_list, json_object, judge_spec
from agentrl.cli.output import interval, log, number, print_json, print_table, progress
from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError, Fault
from agentrl.core.policy import Policy
from agentrl.core.response import STRATEGIES
from agentrl.policies import KINDS, load_policy
from agentrl.rollout.episode import EpisodeRecord
from agentrl.rollout.evaluate import Evaluation, Save, evaluate
from agentrl.rollout.prompts import HISTORY, STYLES
from agentrl.rollout.trajectory_file import TrajectoryWriter

MODEL_OPTIONS = ("temperature", "greedy", "max_new_tokens", "device")
Strategy = Annotated[str, tyro.conf.arg(metavar="|".join(STRATEGIES))]


@dataclass(kw_only=True)
class Arguments(Common):
    """Measure a policy: success, reward, validity, with 95 % intervals."""

    id: EnvId
    """Which environment; `agentrl list` shows them."""
    policy: str = "random"
    """Who plays: random, oracle, human, hf:MODEL (a model folder, tiny-text, tiny-vlm, tiny-shop or smollm2),
    vllm:MODEL (the same models, computed by vLLM), openai:MODEL (any OpenAI-compatible endpoint), react:POLICY (one of
    the last three, told to think and then act), for WebShop webshop-naive (buys the first thing it finds), for SVG
    targets svg-blank, svg-boxes and svg-colours."""
    base_url: str = ""
    """The endpoint of openai:MODEL; otherwise OPENAI_BASE_URL says, or OpenAI itself is asked. Of vllm:MODEL: a vLLM
    server that runs already."""
    policy_kwargs: JsonText = "{}"
    """Arguments of the policy, for example '{"top_p": 0.9, "concurrency": 8}'."""
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
    num_envs: int | None = None
    """Episodes played side by side; without it 64 for models that answer in batches, one at a time for others."""
    prompt_style: Annotated[str, tyro.conf.arg(metavar="|".join(STYLES))] = "conversation"
    """What a model is shown: the whole conversation, or each step on its own behind the last actions."""
    history: int = HISTORY
    """How many of the last actions the prompt style `step` shows."""
    timeout: float | None = None
    """Seconds for a turn of the environment; one that takes longer costs its episode."""
    temperature: float | None = None
    """How freely a model samples; 1 without it."""
    greedy: bool = False
    """A model answers with the likeliest tokens."""
    max_new_tokens: int | None = None
    """The longest answer of a model."""
    device: str | None = None
    """Where a model runs: cpu, cuda; without it the GPU if there is one."""
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
            chosen_policy(arguments),
            arguments.episodes,
            arguments.seed,
            arguments.split,
            kwargs,
            wrappers=wrappers,
            num_envs=arguments.num_envs,
            prompt_style=arguments.prompt_style,
            history=arguments.history,
            timeout=arguments.timeout,
            on_episode=seen,
            on_trajectory=save,
        )
    result = replace(result, policy=arguments.policy)  # as it was chosen, not only its kind
    print_json(result.to_json()) if arguments.json else show(result)
    return 0 if result.metrics["scored"] else 1


def chosen_policy(arguments: Arguments) -> Policy | str:
    """The policy's name, or the policy itself where options say more about it."""
    given = {name: getattr(arguments, name) for name in MODEL_OPTIONS}
    # By identity: a temperature of 0 equals False, and is to be refused by the model.
    options = {name: value for name, value in given.items() if value is not None and value is not False}
    options |= further_options(arguments)
    kind = arguments.policy.partition(":")[0]
    if not options or kind not in KINDS:
        return arguments.policy
    if KINDS[kind].argument is None:
        names = ", ".join("--" + name.replace("_", "-") for name in options)
        raise ConfigError(f"{names}: the policy {kind!r} is no model; choose hf:MODEL or openai:MODEL")
    seed = whole_number("--seed", arguments.seed, at_least=0)
    return load_policy(arguments.policy, **{"seed": seed, **options})


def further_options(arguments: Arguments) -> dict[str, Any]:
    """What the policy is given beyond the options that have a name of their own."""
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
        *((name, number(value)) for name, value in result.metrics.items() if name not in ("scored", "pending")),
        ("rewards pending", result.metrics["pending"]),
        ("faults", result.faults),
        ("seconds", number(result.seconds, 2)),
    ]
    title = f"{result.id}: {result.policy}, {result.episodes} episodes of {result.split}, seed {result.seed}"
    print_table(("figure", "value"), rows, title=title)
