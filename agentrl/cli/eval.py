"""`agentrl eval ID`: measure a policy."""

from __future__ import annotations

from dataclasses import dataclass

from agentrl.cli.arguments import Common, EnvId, JsonText, Split, json_object
from agentrl.cli.output import interval, log, number, print_json, print_table, progress
from agentrl.core.errors import Fault
from agentrl.rollout.episode import EpisodeRecord
from agentrl.rollout.evaluate import Evaluation, evaluate


@dataclass(kw_only=True)
class Arguments(Common):
    """Measure a policy: success, reward, validity, with 95 % intervals."""

    id: EnvId
    """Which environment; `agentrl list` shows them."""
    policy: str = "random"
    """Who plays: random, oracle or human."""
    episodes: int = 100
    """How many episodes."""
    seed: int = 0
    """Decides every episode's task and the policy's own dice."""
    split: Split = "test"
    """Which tasks."""
    env_kwargs: JsonText = "{}"
    """Arguments of the environment, for example '{"size": 8}'."""


def run(arguments: Arguments) -> int:
    """Evaluate and print; fails when the machinery let not a single episode finish."""
    kwargs = json_object("--env-kwargs", arguments.env_kwargs)
    label = f"{arguments.id} {arguments.policy}"
    with progress(label, arguments.episodes) as advance:

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
            on_episode=seen,
        )
    print_json(result.to_json()) if arguments.json else show(result)
    return 0 if result.metrics["scored"] else 1


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
        ("faults", result.faults),
        ("seconds", number(result.seconds, 2)),
    ]
    title = f"{result.id}: {result.policy}, {result.episodes} episodes of {result.split}, seed {result.seed}"
    print_table(("figure", "value"), rows, title=title)
