"""`agentrl eval ID ...`: measure policies."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import tyro

from agentrl.cli.arguments import JudgeText, json_object, judge_spec
from agentrl.cli.output import interval, log, number, print_json, print_table, progress
from agentrl.cli.perturb import read_perturbations, show_perturbations
from agentrl.cli.policy_options import (
    POLICY_HELP,
    PolicyOptions,
    chosen_policy,
    model_options,
    prompt_layers,
    takes_options,
)
from agentrl.core.cache import write_atomically
from agentrl.core.errors import ConfigError, Fault, MissingExtra, did_you_mean
from agentrl.core.policy import Policy
from agentrl.core.secrecy import scrub
from agentrl.policies import check_kind
from agentrl.registry import is_available, known
from agentrl.rollout.collect import Timings
from agentrl.rollout.episode import check_id, make
from agentrl.rollout.evaluate import Evaluation, evaluate
from agentrl.rollout.prompts import with_judge
from agentrl.rollout.statistics import wilson_interval
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import TrajectoryWriter
from agentrl.viewer.episode_pages import write_episode_pages
from agentrl.viewer.eval_report import write_eval_report

PASSED_ON = ("episodes", "seed", "split", "num_envs", "prompt_style", "history", "timeout", "hosts")
EPISODES_SHOWN = 20  # of each policy in each environment, on pages of their own


@dataclass(kw_only=True)
class Arguments(PolicyOptions):
    """Evaluate policies: success, reward, validity, with 95 % intervals.

    Several environments and policies stand in one table, and all play the same tasks. --output keeps every episode.
    """

    ids: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="ID")] = ()
    """Environment ids, or patterns such as 'agentrl/*-Text-v0'; `agentrl list` shows them."""
    suite: str | None = None
    """In place of ids, a suite of tasks such as libero_spatial: every start of every task, with success per task."""
    policy: Annotated[tyro.conf.UseAppendAction[tuple[str, ...]], tyro.conf.arg(help=POLICY_HELP, metavar="NAME")] = ()
    episodes: int | None = None
    """Number of episodes of each policy in each environment; default: 100, with --suite every start of every task. The
    tasks of a suite take turns."""
    output: Path | None = None
    """A new folder for report.html, results.json and trajectories/*.jsonl (every episode, written while it runs)."""
    judge: JudgeText = ""
    """Judge that rewards true observations and predictions (the ReasoningReward wrapper), for example: rule."""
    deferred: bool = False
    """Record what is to be judged; `agentrl judge` judges it later."""
    num_envs: int | None = None
    """Episodes played in parallel; default: 64 for models that answer in batches and with --hosts, otherwise 1."""
    timeout: float | None = None
    """Timeout of an environment step in seconds; a longer one ends its episode with a fault."""
    perturb: tuple[str, ...] = ()
    """For robots, how the world is changed: light:2 camera:1 changes both at once; factors without levels (light, or
    all) give a table of success by factor and level beside the unchanged world."""
    hosts: int = 0
    """Processes that share the --num-envs environments, for slow ones; 0: all of them in this process."""


def run(arguments: Arguments) -> int:
    """Evaluate and print; fails when a policy finished no episode without a fault."""
    if bool(arguments.ids) == (arguments.suite is not None):
        raise ConfigError("ID must be one environment id or more, or a suite with --suite; `agentrl list` shows them")
    words = arguments.ids if arguments.suite is None else (suite_id(arguments.suite),)
    ids, policies = chosen_ids(words), tuple(dict.fromkeys(arguments.policy or ("random",)))
    options = model_options(arguments, policies)
    kwargs = json_object("--env-kwargs", arguments.env_kwargs)
    changes = read_perturbations(arguments.perturb)
    if arguments.perturb and "perturb" in kwargs:
        raise ConfigError("perturb must be given once, by --perturb or inside --env-kwargs")
    tasks = None if arguments.suite is None else suite_tasks(ids[0], arguments.split, kwargs)
    if arguments.episodes is None:
        arguments = replace(arguments, episodes=100 if tasks is None else len(tasks))
    given = {name: getattr(arguments, name) for name in PASSED_ON} | {"env_kwargs": kwargs, "tasks": tasks}
    wrappers = {pair: chosen_wrappers(arguments, *pair) for pair in product(ids, policies)}
    folder = None if arguments.output is None else EvalFolder(arguments.output, described(arguments, options), tasks)
    results: dict[tuple[str, str, str], Evaluation] = {}
    played = list(product(ids, policies, changes))
    for policy in policies:
        model: Policy | None = None  # one in memory at a time, read once for all environments
        for env_id, change in product(ids, changes):
            load = partial(chosen_policy, arguments, policy, options) if model is None else lambda found=model: found
            given["wrappers"] = wrappers[env_id, policy]
            given["env_kwargs"] = kwargs | ({"perturb": change} if change else {})
            actor, results[env_id, policy, change] = play(env_id, policy, load, given, folder)
            model = actor if takes_options(policy) else None  # a scripted policy begins anew, with its seed
            if folder is not None:
                folder.write([results[key] for key in played if key in results])
        getattr(model, "close", lambda: None)()
    found = [results[key] for key in played]
    if arguments.json:
        print_json(as_json(found, tasks))
    else:
        show(found[0]) if len(found) == 1 else show_all(found)
        for result in found if tasks else ():
            show_tasks(result, by_task(result, tasks or ()))
        if len(changes) > 1:
            show_perturbations(found)
    if folder is not None:
        log(f"report: {folder.page.resolve()}")
    return 0 if all(result.metrics["scored"] for result in found) else 1


def chosen_ids(words: Sequence[str]) -> tuple[str, ...]:
    """The ids that were named, patterns among them; what cannot be played here is said before anything is."""
    entries = {entry.id: entry for entry in known()}
    found: list[str] = []
    for word in words:
        fitting = [env_id for env_id in entries if fnmatchcase(env_id, word)] if "*" in word else [word]
        if not fitting:
            raise ConfigError(f"no environment fits {word!a}; `agentrl list` shows them")
        found += fitting
    for env_id in found:
        check_id(env_id)
        entry = entries.get(env_id)
        if entry is not None and entry.extra and not is_available(entry):
            raise MissingExtra(entry.modules[0], entry.extra)
    return tuple(dict.fromkeys(found))


def suite_id(name: str) -> str:
    """The environment that plays a suite by its own actions."""
    suites = {str(entry.kwargs["suite"]): entry.id for entry in known() if "suite" in entry.kwargs and not entry.kind}
    if name not in suites:
        raise ConfigError(
            f"--suite must be one of {', '.join(sorted(suites))}; got {name!a}.{did_you_mean(name, suites)}"
        )
    return suites[name]


def suite_tasks(env_id: str, split: str, kwargs: dict[str, Any]) -> list[str]:
    """Every start of every task of a suite, the tasks in turn."""
    with contextlib.closing(make(env_id, **{**kwargs, "split": split})) as env:
        return list(env.unwrapped.tasks())  # pyright: ignore[reportAttributeAccessIssue]


def chosen_wrappers(arguments: Arguments, env_id: str, policy: str) -> list[dict[str, Any]]:
    """The wrappers that the options ask for, inside first, with the judge's reward if one is chosen."""
    check_kind(policy, env_id)
    wrappers = prompt_layers(arguments, policy, env_id)
    if not (arguments.judge or arguments.deferred):
        return wrappers
    if not any(layer.get("wrapper") == "Reasoning" for layer in wrappers if isinstance(layer, dict)):
        raise ConfigError("--judge and --deferred need --strategy, which says what is judged")
    judge = judge_spec("--judge", arguments.judge or "rule")
    return with_judge(wrappers, {"wrapper": "ReasoningReward", "judge": judge, "deferred": arguments.deferred})


def play(
    env_id: str, policy: str, load: Callable[[], Policy], given: dict[str, Any], folder: EvalFolder | None
) -> tuple[Policy, Evaluation]:
    """One policy in one environment, with a line of progress every ten seconds: the policy, and how it did."""
    tally = Timings()
    label = f"{env_id} {given['env_kwargs'].get('perturb', '')}".strip()
    keeping = contextlib.nullcontext() if folder is None else folder.keeping(label, policy)
    told = progress(f"{label} {policy}", given["episodes"], lambda: f"{tally.turns} turns")
    with keeping as save, told as advance:

        def seen(episode: Trajectory | Fault) -> None:
            if isinstance(episode, Fault):
                log(f"fault: {type(episode).__name__}: {episode}")
            advance()

        actor = load()
        result = evaluate(env_id, actor, **given, on_episode=seen, on_trajectory=save, tally=tally)
    return actor, replace(result, policy=policy)  # as it was chosen, not only its kind


# ---------------------------------------------------------------------- the folder


class EvalFolder:
    """What `--output` keeps: every trajectory, the figures, and a page about them that links to episodes."""

    def __init__(self, folder: Path, about: str, tasks: Sequence[str] | None = None) -> None:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            # Two evaluations in one folder could no longer be told apart.
            raise ConfigError(f"{folder} already exists; choose another folder with --output, or remove it")
        self.folder, self.about, self.page, self.tasks = folder, about, folder / "report.html", tasks
        self._files: dict[tuple[str, str], Path] = {}

    @contextlib.contextmanager
    def keeping(self, label: str, policy: str) -> Any:
        """What writes a trajectory of this policy in this environment; afterwards its first episodes have pages."""
        name = re.sub(r"[^\w.-]+", "-", f"{label.rpartition('/')[2]}_{policy}")[:100]
        taken = {path.stem for path in self._files.values()}
        stem = f"{name}-{len(taken)}" if name in taken else name
        path = self._files[label, policy] = self.folder / "trajectories" / f"{stem}.jsonl"
        with TrajectoryWriter(path) as writer:
            yield writer.write
        if path.stat().st_size:
            write_episode_pages(path, self.folder / "episodes" / stem, episodes=EPISODES_SHOWN)

    def write(self, results: Sequence[Evaluation]) -> None:
        """The page and the figures of all evaluations so far."""
        write_atomically(self.folder / "results.json", json.dumps(as_json(results, self.tasks), indent=1).encode())
        links = {pair: f"episodes/{path.stem}/index.html" for pair, path in self._files.items()}
        write_eval_report(self.page, results, self.about, links)


def described(arguments: Arguments, options: dict[str, Any]) -> str:
    """How it was played, in one sentence."""
    asked = ("env_kwargs", "perturb", "strategy", "representation", "prompt_style", "history", "wrap", "judge")
    given = {name: getattr(arguments, name) for name in asked}
    given = options | {name: value for name, value in given.items() if value not in (None, "", "{}", ())}
    if any(map(takes_options, arguments.policy)) and not given.keys() & {"temperature", "greedy"}:
        given["temperature"] = 1
    how = ", ".join(f"{name} {value}" for name, value in scrub(given).items())
    played = f"{arguments.episodes} episodes of the split {arguments.split}, seed {arguments.seed}"
    return f"{played}: the same tasks for every policy.{f' Options: {how}.' if how else ''}"


# ---------------------------------------------------------------------- results


def by_task(result: Evaluation, tasks: Sequence[str]) -> list[dict[str, Any]]:
    """Success in each task of a suite, over its starts; `libero_goal/3:test:7` is a start of `libero_goal/3`."""
    outcomes: dict[str, list[bool]] = {}
    told: dict[str, str] = {}
    for place, (outcome, facts) in enumerate(zip(result.outcomes, result.tasks, strict=True)):
        name = tasks[place % len(tasks)].partition(f":{result.split}:")[0]
        if facts is not None:  # a fault says nothing about the policy
            outcomes.setdefault(name, []).append(outcome == "1")
            told[name] = facts.group or ""
    found = []
    for name, solved in outcomes.items():
        figures = {"success": sum(solved) / len(solved), "success_ci": wilson_interval(sum(solved), len(solved))}
        found.append({"task": name, "instruction": told[name], "episodes": len(solved), **figures})
    return found


def as_json(results: Sequence[Evaluation], tasks: Sequence[str] | None = None) -> dict[str, Any]:
    """What `--json` prints: the figures, or a list of them where there are several; of a suite also those by task."""
    found = [result.to_json() | ({"tasks": by_task(result, tasks)} if tasks else {}) for result in results]
    return found[0] if len(found) == 1 else {"schema": 1, "results": found}


def show_all(results: Sequence[Evaluation]) -> None:
    """One line for each policy in each environment."""
    columns = ("environment", "policy", "success", "95 %", "reward", "95 %", "valid", "turns", "faults", "seconds")
    rows = []
    for one in results:
        success, reward = (one.success, one.success_ci), (one.reward_mean, one.reward_ci)
        figures = [cell for value, bounds in (success, reward) for cell in (number(value), interval(bounds))]
        effort = (number(one.turns_mean, 1), one.faults, number(one.seconds, 1))
        rows.append((one.label, one.policy, *figures, number(one.valid_rate), *effort))
    first = results[0]
    print_table(columns, rows, title=f"{first.episodes} episodes of {first.split} each, seed {first.seed}")


def show_tasks(result: Evaluation, tasks: Sequence[dict[str, Any]]) -> None:
    """One line for each task of a suite."""
    rows = [
        (row["task"], row["instruction"], row["episodes"], number(row["success"]), interval(row["success_ci"]))
        for row in tasks
    ]
    columns = ("task", "instruction", "episodes", "success", "95 %")
    print_table(columns, rows, title=f"{result.label}: {result.policy}, success per task (Wilson)")


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
    title = f"{result.label}: {result.policy}, {result.episodes} episodes of {result.split}, seed {result.seed}"
    print_table(("figure", "value"), rows, title=title)
