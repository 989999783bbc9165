"""The page about a training run: how far it came, how, what it cost, and what its episodes look like.

Made from the run folder alone, at any moment: a run that is still going, was killed or trained without rewards has a
page too. Nothing on it is a script, and nothing comes from elsewhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from agentrl.core.html import details, number, page, percent, safe, section, write_page
from agentrl.rollout.error_types import from_columns
from agentrl.rollout.evaluate import split_word
from agentrl.viewer.canvas import Look, chart_style
from agentrl.viewer.charts import Series, line_chart, share_bar, stacked_bars
from agentrl.viewer.curriculum import curriculum_section
from agentrl.viewer.episode_strip import sample_sections
from agentrl.viewer.eval_report import short_name
from agentrl.viewer.findings import CRITIC, IN_THE_CHART, ceiling_chart, findings
from agentrl.viewer.held_out import held_out_section
from agentrl.viewer.layout import charts, facts_table, in_two_sizes, small, wide
from agentrl.viewer.run_data import (
    Line,
    RunData,
    band,
    eval_groups,
    figure,
    interval,
    names,
    points,
    read_run,
    series,
    when,
)
from agentrl.viewer.setting import environment_words, mode_words, of_line, options_of
from agentrl.viewer.timeline import async_section

PHASES = {
    "generate": "generation",
    "environment": "environment",
    "judge": "judge",
    "wait": "waiting",
    "update": "update",
}
# In words, in the order in which they are shown; docs/run-folder.md explains each.
LOSSES = {
    "loss": "total loss",
    "policy": "policy loss",
    "critic": "critic loss",
    "nll": "negative log-likelihood",
    "kl": "KL to the reference",
    "approx_kl": "KL of one update",
    "approx_kl_k1": "KL of one update, plain estimate",
    "entropy": "entropy",
    "clip_fraction": "share of clipped tokens",
    "clipped_sequences": "share of clipped sequences",
    "clipped_sequences_last": "share of clipped sequences, last mini-batch",
    "grad_norm": "gradient norm",
    "skipped_steps": "skipped optimiser steps",
    "explained_variance": "explained variance",
    "explained_variance_at_turns": "explained variance at turn beginnings",
    "explained_variance_ceiling": "explained variance at turn beginnings, ceiling",
    "zero_variance_groups": "share of groups with one outcome",
    "mismatch_mean": "distance of generation from training, mean",
    "mismatch_max": "distance of generation from training, largest",
    "effective_sample_size": "effective sample size, as a share",
    "staleness_mean": "age of the data, in updates",
    "over_max_weight": "share of tokens above the largest weight",
    "importance_weight_mean": "mean weight of the correction",
    "staleness_max": "age of the oldest data, in updates",
    "ratio_max": "largest probability ratio",
    "dual_clip_fraction": "share of tokens at the second clip",
    "value_clip_fraction": "share of clipped values",
    "value_mean": "mean value of the critic",
    "return_mean": "mean return",
    "singleton_groups": "share of groups with one episode left",
    "dynamic_sampling_rounds": "further rounds of dynamic sampling",
    "missing_groups": "share of groups not found",
    "value_accuracy": "share of values on the right side of 0.5",
    "advantage_mean": "mean advantage of an action",
    "advantage_positive": "share of actions with a positive advantage",
    "policy_at_reference": "loss of an actor that does not move (loss=webrl)",
    "good_actions": "share of actions with a good advantage",
    "capped_actions": "share of actions whose beta is capped (loss=released)",
    "action_weight": "mean weight of an action",
    "actions": "actions that the policy learned from",
    "critic_actions": "states that the critic learned from",
    "accuracy": "share of right verdicts on what is learned",
    "held_out_accuracy": "share of right verdicts, other tasks",
    "held_out_balanced_accuracy": "mean of the shares right among successes and failures, other tasks",
    "held_out_base_rate": "share of the more frequent outcome, other tasks",
    "held_out_auc": "how often a success is likelier than a failure, other tasks",
    "held_out_ece": "calibration error, other tasks",
    "held_out_nll": "cross-entropy, other tasks",
    "overlong": "share of episodes with a cut reply",
    "anchored_steps": "share of steps with another at the same place",
}
WARNINGS = {
    "reward_hacking": "Reward without success (reward hacking)",
    "entropy_collapse": "The policy no longer explores (entropy collapse)",
    "no_signal": "Nothing to learn from (no_signal)",
    "kl_blowup": "The policy moves too far (kl_blowup)",
    "invalid_actions": "Many invalid turns (invalid_actions)",
    "skipped_steps": "Losses or gradients that are not finite (skipped_steps)",
    "mc_rollouts": "The ceiling of the explained variance was not measured (mc_rollouts)",
    "prompts": "Other prompts than the model was trained with (prompts)",
}


def write_run_report(run_folder: str | os.PathLike[str], *, play_again: bool = False) -> Path:
    """Write `report.html` into the run folder; its path.

    With `play_again` episodes without pictures are played once more to draw them, as far as their records name
    nothing but registered environments and safe arguments (see `agentrl.viewer.replay`).
    """
    run = read_run(run_folder)
    return write_page(run.folder / "report.html", build(run, play_again=play_again))


def build(run: RunData, *, play_again: bool = False) -> str:
    """The page as HTML."""
    parts = [
        alarms(run),
        findings(run),
        heads(run),
        section("What was trained and measured", facts) if (facts := facts_table(run_facts(run))) else "",
        _charts("Success and reward", reward_charts(run), across=success_chart(run)),
        held_out_section(run),
        curriculum_section(run),
        _charts("What the policy does", behaviour_charts(run), many=True),
        _charts("Optimisation", optimisation_charts(run), many=True),
        _charts("Time and tokens", time_charts(run), across=total_time_chart(run)),
        async_section(run),
        by_env_table(run),
        *(section(title, *strips) for title, strips in sample_sections(run.folder, play_again=play_again)),
        config_section(run),
    ]
    missing = f" {count(run.damaged, 'line')} of the metrics could not be read." if run.damaged else ""
    footer = f"Folder {run.folder.name}.{missing}"
    return page(title_of(run), intro_of(run), [part for part in parts if part], footer, style=chart_style())


def title_of(run: RunData) -> str:
    """What was trained, on what."""
    algorithm = find_setting(run.config, "algorithm", "algo", "name") or run.folder.name
    return f"{algorithm} on {where}" if (where := ", ".join(map(short_name, env_ids(run)))) else str(algorithm)


def env_ids(run: RunData) -> list[str]:
    """The environments the metrics name, or else the configuration."""
    found = names(run.train, "by_env")
    found = found or list(dict.fromkeys(str(line["env_id"]) for line in run.evals if line.get("env_id")))
    configured = run.config.get("environments")
    return found or ([str(name) for name in configured] if isinstance(configured, list) else [])


def find_setting(config: Any, *wanted: str) -> str | None:
    """A text under one of these names at the top of the configuration or among its arguments."""
    arguments = config.get("arguments") if isinstance(config.get("arguments"), dict) else {}
    held = (place.get(name) for place in (config, arguments) for name in wanted)
    return next((value for value in held if isinstance(value, str) and value), None)


def intro_of(run: RunData) -> str:
    """How long it was, in one sentence."""
    if not run.train:
        return "No iteration has been finished yet." if not run.evals else "Evaluations only; nothing was trained."
    spent = sum(figure(line, "seconds", "total") or 0.0 for line in run.train)
    episodes = max((figure(line, "episodes_total") or 0.0 for line in run.train), default=0.0)
    played = f", {episodes:,.0f} episodes" if episodes else ""
    measuring = sum(figure(line, "seconds_total") or 0.0 for line in run.evals)
    further = f" of training and {duration(measuring)} of evaluation" if measuring else ""
    told = f"{count(len(run.train), 'iteration')}{played}, {duration(spent)}{further}. "
    told += "Bands and ranges are 95 % intervals, plays of one task taken together"
    splits = {str(line.get("split")) for line in run.evals}
    if splits and all(split_word(split) == "held-out" for split in splits):
        return f"{told}; held-out tasks are never trained on."
    return f"{told}; evaluations play tasks of the training split." if "train" in splits else f"{told}."


def run_facts(run: RunData) -> dict[str, str]:
    """What was trained, from what, on what; and what was measured, how."""
    options, measured = options_of(run.config), []
    for lines in eval_groups(run.evals).values():
        line = lines[-1]
        episodes, rows = figure(line, "episodes"), from_columns(line.get("by_task"))
        tasks = len({one.task for one in rows if one and one.task})
        on = f", {count(tasks, 'task')}" if tasks else ""
        measured.append(f"{of_line(line, run.config).title}{on}" + (f", {episodes:,.0f} episodes" if episodes else ""))
    made_with = options.get("env_kwargs")
    trained = mode_words(False, options.get("temperature")) if points(run.train, "reward_mean") else ""
    return {
        "algorithm": find_setting(run.config, "algorithm") or "",
        "model": find_setting(run.config, "model") or "",
        "environment": ", ".join(environment_words(env_id, made_with) for env_id in env_ids(run)),
        "trained on": f"train split, {trained}" if trained else "",
        "evaluated on": "; ".join(dict.fromkeys(measured)),
    }


def count(number: int, thing: str) -> str:
    """1 line, 2 lines."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def duration(seconds: float) -> str:
    """45 s, 12 min, 3.4 h."""
    if seconds < 90:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 5400 else f"{seconds / 3600:.3g} h"


# ---------------------------------------------------------------------- the top of the page


def alarms(run: RunData) -> str:
    """Every warning of the run, in red."""
    said = [
        f'<div class="card alarm" role="alert"><b>{safe(warning_in_words(str(line.get("warning"))))}</b> at iteration '
        f"{line['iteration']:g}: {safe(str(line.get('detail', '')))}</div>"
        for line in run.warnings
    ]
    return "\n".join(said)


def warning_in_words(name: str) -> str:
    """A warning as people read it; one that is not known as it is."""
    return WARNINGS.get(name, name)


def in_words(name: str) -> str:
    """A metric or reward term as people read it."""
    return LOSSES.get(name) or name.replace("_", " ")


def heads(run: RunData) -> str:
    """The few numbers one looks for first."""
    found = [
        head(f"{split_word(lines[-1].get('split'))} success, {name}", lines)
        for name, lines in eval_groups(run.evals).items()
    ]
    if not run.evals:
        found = [head("training success", [line for line in run.train if figure(line, "success") is not None])]
    rewards = points(run.train, "reward_mean")
    if rewards:
        start, end = (number(round(value, 2) + 0.0) for _, value in (rewards[0], rewards[-1]))
        found.append(_head("training reward", start, end, f"iterations {rewards[0][0]:g} and {rewards[-1][0]:g}"))
    losses = points(run.train, "loss", "nll")
    if losses:
        start = f"{losses[0][1]:.3f}" if len(losses) > 1 else None
        at = f"iterations {losses[0][0]:g} and {losses[-1][0]:g}"
        found.append(_head(LOSSES["nll"], start, f"{losses[-1][1]:.3f}", at))
    shown = [one for one in found if one]
    return f'<div class="heads">{"".join(shown)}</div>' if shown else ""


def head(name: str, lines: Sequence[Line]) -> str:
    """Success at the start and at the end, with its intervals."""
    known = [line for line in lines if figure(line, "success") is not None]
    if not known:
        return ""
    ranges = [
        "-" if bounds is None else f"{percent(bounds[0])} to {percent(bounds[1])}"
        for bounds in (interval(line, "success_ci") for line in (known[0], known[-1]))
    ]
    played = figure(known[-1], "episodes")
    first, last = (f"{bounds} {when(line)}" for bounds, line in zip(ranges, (known[0], known[-1]), strict=True))
    note = f"{first}, {last}" + (f"; {played:,.0f} episodes" if played else "")
    if len(known) == 1:
        return _head(name, None, percent(figure(known[0], "success")), first)
    return _head(name, percent(figure(known[0], "success")), percent(figure(known[-1], "success")), note)


def _head(name: str, start: str | None, end: str, note: str) -> str:
    began = "" if start is None else f'<span class="from">{safe(start)} \N{RIGHTWARDS ARROW}</span> '
    return (
        f'<div class="card head"><div class="name">{safe(name)}</div><div class="value">{began}{safe(end)}</div>'
        f'<div class="name">{safe(note)}</div></div>'
    )


# ---------------------------------------------------------------------- the charts


def _charts(title: str, drawn: Sequence[str], many: bool = False, across: str = "") -> str:
    cards = charts(drawn, many=many, across=across)
    return section(title, cards) if cards else ""


def with_held_out(run: RunData, value: str, bounds: str) -> list[Series]:
    """A figure in training, then in each kind of evaluation; intervals as bands."""
    found = [Series("training", points(run.train, value), band(run.train, bounds, value), colour=7)]
    for index, (name, lines) in enumerate(eval_groups(run.evals).items()):
        greedy = name.endswith("greedy")
        held = points(lines, value), band(lines, bounds, value)
        found.append(
            Series(f"{split_word(lines[-1].get('split'))}, {name}", *held, colour=index, dashed=greedy, marks=True)
        )
    return found


def success_chart(run: RunData) -> str:
    """Success alone: a reward in the same picture would hide it."""
    look = wide("Success", limits=(0.0, 1.0), percent=True, alarms=run.alarms)
    return in_two_sizes(partial(line_chart, with_held_out(run, "success", "success_ci")), look)


def reward_charts(run: RunData) -> list[str]:
    """The reward, and the terms it is made of."""
    rewards = with_held_out(run, "reward_mean", "reward_ci")
    # A term that nobody earned in an iteration has no entry there: it is 0, wherever rewards are known.
    known = [line for line in run.train if figure(line, "reward_mean") is not None]
    terms = [
        Series(
            name.replace("_", " "),
            [(line["iteration"], figure(line, "reward_terms", name) or 0.0) for line in known],
            colour=colour,
        )
        for colour, name in enumerate(names(known, "reward_terms"))
    ]
    return [
        in_two_sizes(partial(line_chart, rewards), Look("Reward of an episode", alarms=run.alarms)),
        in_two_sizes(partial(line_chart, terms), Look("Reward terms, mean of an episode", alarms=run.alarms)),
    ]


def behaviour_charts(run: RunData) -> list[str]:
    """How it answers: rates, length."""
    kinds = {"valid_rate": "valid", "format_rate": "right format", "effective_rate": "effective"}
    rates = [series(run.train, label, (name,), i) for i, (name, label) in enumerate(kinds.items())]
    rates.append(series(run.train, "out of turns", ("truncated_rate",), 3, dashed=True))
    turns = [series(run.train, "turns", ("turns_mean",), 1)]
    length = [series(run.train, "tokens", ("response_tokens_mean",), 5)]
    return [
        line_chart(rates, small("shares of turns and episodes", height=250, limits=(0.0, 1.0), percent=True)),
        line_chart(turns, small("turns of an episode", height=250, limits=(0.0, 0.0))),
        line_chart(length, small("tokens of a response", height=250, limits=(0.0, 0.0))),
    ]


def optimisation_charts(run: RunData) -> list[str]:
    """Small multiples: losses and their relatives, the learning rate."""
    known = [name for name in names(run.train, "loss") if name not in IN_THE_CHART]
    ordered = [name for name in LOSSES if name in known] + [name for name in known if name not in LOSSES]
    charts = [
        line_chart([series(run.train, name, ("loss", name), i)], small(in_words(name), legend=False))
        for i, name in enumerate(ordered)
    ]
    rate = line_chart([series(run.train, "lr", ("lr",), 7)], small("learning rate", legend=False))
    padding = line_chart(
        [series(run.train, "padding", ("tokens", "padding"), 7)],
        small("share of padding", limits=(0.0, 0.1), percent=True, legend=False),
    )
    return [*charts, ceiling_chart(run, small(LOSSES[CRITIC], height=250)), rate, padding]


def time_layers(run: RunData) -> tuple[list[float], dict[str, list[float]]]:
    """Iterations, and the seconds of each phase in them; what no phase claims is "other". Evaluations come after the
    iteration whose number they have."""
    timed = {line["iteration"]: line for line in run.train if figure(line, "seconds", "total") is not None}
    measured: dict[float, float] = {}
    for at, spent in points(run.evals, "seconds_total"):
        measured[at] = measured.get(at, 0.0) + spent
    xs = sorted({*timed, *measured})
    lines = [timed.get(at, {}) for at in xs]
    layers = {label: [figure(line, "seconds", name) or 0.0 for line in lines] for name, label in PHASES.items()}
    known = [sum(layer[i] for layer in layers.values()) for i in range(len(xs))]
    totals = [figure(line, "seconds", "total") or 0.0 for line in lines]
    layers["other"] = [max(0.0, total - part) for total, part in zip(totals, known, strict=True)]
    layers["evaluation"] = [measured.get(at, 0.0) for at in xs]
    return xs, layers


def total_time_chart(run: RunData) -> str:
    """Where the time of the whole run went."""
    _, layers = time_layers(run)
    totals = {name: sum(layer) for name, layer in layers.items()}
    return in_two_sizes(lambda look: share_bar(totals, look, duration), wide("Time of the run"))


def time_charts(run: RunData) -> list[str]:
    """Where the seconds of each iteration went; its tokens."""
    kinds = {"generated": "generated", "trained": "trained on"}
    tokens = [series(run.train, label, ("tokens", name), i) for i, (name, label) in enumerate(kinds.items())]
    return [
        in_two_sizes(partial(stacked_bars, *time_layers(run)), Look("Seconds of an iteration")),
        in_two_sizes(partial(line_chart, tokens), Look("Tokens of an iteration", limits=(0.0, 0.0))),
    ]


# ---------------------------------------------------------------------- tables


def by_env_table(run: RunData) -> str:
    """Success in each environment of a mix, first and last; nothing for a single one."""
    ids = names(run.train, "by_env")
    if len(ids) < 2:
        return ""
    rows = ""
    for env_id in ids:
        held = points(run.train, "by_env", env_id, "success")
        ends = [f"{percent(value)} (iteration {at:g})" for at, value in (held[0], held[-1])] if held else []
        cells = "".join(f'<td class="figure">{cell}</td>' for cell in ends)
        rows += f"<tr><td>{safe(env_id)}</td>{cells or '<td></td><td></td>'}</tr>"
    header = '<tr><th>environment</th><th class="figure">first</th><th class="figure">last</th></tr>'
    table = f'<div class="card wide"><table><thead>{header}</thead><tbody>{rows}</tbody></table></div>'
    return section("Training success by environment", table)


def config_section(run: RunData) -> str:
    """Versions in sight, the whole configuration on a click."""
    if not run.config:
        return ""
    versions = run.config.get("versions")
    items = versions.items() if isinstance(versions, dict) else ()
    rows = "".join(f"<tr><td>{safe(str(name))}</td><td>{safe(str(value))}</td></tr>" for name, value in items)
    table = f'<div class="card wide"><table class="wrapped"><tbody>{rows}</tbody></table></div>' if rows else ""
    whole = json.dumps(run.config, indent=2, ensure_ascii=False, default=str)
    return section("Configuration", table, details("config.json", whole))
