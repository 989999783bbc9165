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
from agentrl.models.prompt_settings import as_trained, settings_of
from agentrl.policies import KINDS, check_kind, load_policy
from agentrl.registry import parts
from agentrl.rollout.evaluate import Evaluation, Save, evaluate
from agentrl.rollout.prompts import STYLES, layers, with_judge
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import TrajectoryWriter

MODEL_OPTIONS = ("temperature", "greedy", "max_new_tokens", "device")
Strategy = Annotated[str | None, tyro.conf.arg(metavar="|".join(STRATEGIES))]


POLICY_HELP = (
    "Policy: random, oracle, constant or constant:REPLY (the same reply in every turn), random-constant (one drawn by "
    "the seed), copy (what it was told), prior (the commonest solution of training tasks), human, hf:MODEL (a model "
    "folder, tiny-text, tiny-web, tiny-vlm or smollm2), vllm:MODEL (the same models, computed by vLLM), openai:MODEL "
    "(any OpenAI-compatible endpoint), react:POLICY (one of the last three, told to think and then act), control:FOLDER"
    " (a small network that was cloned, for continuous control); "
    "scripted policies: " + "; ".join(f"{name} {part.summary}" for name, part in parts("policies").items()) + "."
)


@dataclass(kw_only=True)
class Arguments(Common):
    """Evaluate a policy: success, reward, validity, with 95 % intervals."""

    id: EnvId
    """Environment id; `agentrl list` shows them."""
    policy: Annotated[str, tyro.conf.arg(help=POLICY_HELP)] = "random"
    base_url: str = ""
    """The endpoint of openai:MODEL; default: OPENAI_BASE_URL, or else OpenAI. For vllm:MODEL: a vLLM
    server that is already running."""
    policy_kwargs: JsonText = "{}"
    """Arguments of the policy, for example '{"top_p": 0.9, "concurrency": 8}'."""
    episodes: int = 100
    """Number of episodes."""
    seed: int = 0
    """Seed of the tasks and of the policy's sampling."""
    split: Split = "test"
    """Split of the tasks."""
    env_kwargs: JsonText = "{}"
    """Arguments of the environment, for example '{"size": 8}'."""
    strategy: Strategy = None
    """Reasoning format of the replies (the Reasoning wrapper); default: as the model was trained here, else none."""
    representation: Annotated[str | None, tyro.conf.arg(metavar="natural|symbolic|structured")] = None
    """Representation of observations and predictions; default: as the model was trained, else natural."""
    judge: JudgeText = ""
    """Judge that rewards true observations and predictions (the ReasoningReward wrapper), for example: rule."""
    deferred: bool = False
    """Record what is to be judged; `agentrl judge` judges it later."""
    num_envs: int | None = None
    """Episodes played in parallel; default: 64 for models that answer in batches, otherwise 1."""
    prompt_style: Annotated[str | None, tyro.conf.arg(metavar="|".join(STYLES))] = None
    """What a model is shown: the whole conversation, or each step on its own after the last actions;
    default: as the model was trained here, else conversation."""
    history: int | None = None
    """Number of past actions that the prompt style `step` shows; default: as the model was trained, else 3."""
    timeout: float | None = None
    """Timeout of an environment step in seconds; a longer one ends its episode with a fault."""
    temperature: float | None = None
    """Sampling temperature; default: 1."""
    greedy: bool = False
    """Greedy decoding."""
    max_new_tokens: int | None = None
    """Maximum number of tokens of a reply; default: as the model was trained, else 128."""
    device: str | None = None
    """Device of the model: cpu, cuda; default: the GPU if there is one."""
    wrap: Annotated[str | None, tyro.conf.arg(metavar="JSON")] = None
    """Further wrappers, innermost first, for example '[{"wrapper": "History", "turns": 2}]';
    default: those that the model was trained with and that change prompts."""
    save: Path | None = None
    """Write every trajectory to this file (JSON lines) while it runs."""


def run(arguments: Arguments) -> int:
    """Evaluate and print; fails when no episode finished without a fault."""
    kwargs = json_object("--env-kwargs", arguments.env_kwargs)
    wrappers = chosen_wrappers(arguments)
    check_kind(arguments.policy, arguments.id)
    label = f"{arguments.id} {arguments.policy}"
    with saving(arguments.save) as save, progress(label, arguments.episodes) as advance:

        def seen(episode: Trajectory | Fault) -> None:
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
        raise ConfigError(f"{names}: the policy must be a model, hf:MODEL or openai:MODEL; got {kind!r}")
    seed = whole_number("--seed", arguments.seed, at_least=0)
    return load_policy(arguments.policy, **{"seed": seed, **options})


def further_options(arguments: Arguments) -> dict[str, Any]:
    """The arguments in `--policy-kwargs`."""
    chosen = json_object("--policy-kwargs", arguments.policy_kwargs)
    if "api_key" in chosen:
        # Every user of the machine can list its processes and sees the command line.
        raise ConfigError(
            "--policy-kwargs must not contain a key; put it into OPENAI_API_KEY or the variable that api_key_env names"
        )
    return {**chosen, "base_url": arguments.base_url} if arguments.base_url else chosen


def chosen_wrappers(arguments: Arguments) -> list[dict[str, Any]]:
    """The wrappers that the options ask for, inside first; where they leave it open, as the model was trained."""
    given = {
        "strategy": arguments.strategy,
        "representation": arguments.representation,
        "wrap": None if arguments.wrap is None else json_list("--wrap", arguments.wrap),
    }
    chosen, _ = as_trained(settings_of(arguments.policy), arguments.id, given)
    wrappers = layers(**chosen)
    if not (arguments.judge or arguments.deferred):
        return wrappers
    if not chosen["strategy"]:
        raise ConfigError("--judge and --deferred need --strategy, which says what is judged")
    judge = judge_spec("--judge", arguments.judge or "rule")
    return with_judge(wrappers, {"wrapper": "ReasoningReward", "judge": judge, "deferred": arguments.deferred})


@contextlib.contextmanager
def saving(path: Path | None) -> Iterator[Save | None]:
    """What writes a trajectory to the file; None where nothing is to be kept."""
    if path is None:
        yield None
        return
    if path.exists():
        # Two evaluations in one file could no longer be told apart.
        raise ConfigError(f"{path} already exists; choose another file with --save, or remove it")
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
