"""What the curves of a run say together and none of them says alone: a critic that explains nothing, and reinforcement
learning that changed how often the policy plays its best answers, but not these answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from agentrl.core.html import number, percent, safe
from agentrl.rollout.statistics import Interval
from agentrl.viewer.canvas import Look
from agentrl.viewer.charts import Series, line_chart
from agentrl.viewer.run_data import Line, RunData, eval_pairs, figure, interval, points, when

FEWEST_ITERATIONS = 8  # before a critic can be blamed: it has to learn first
LEAST_EXPLAINED = 0.05  # of the variance of the returns


def findings(run: RunData) -> str:
    """Every finding as a card."""
    said = [("alarm", critic_finding(run)), *(("note", text) for text in sharpening_findings(run))]
    return "\n".join(card(kind, *found) for kind, found in said if found)


def card(kind: str, head: str, text: str) -> str:
    """A finding as HTML; `kind` is "alarm" or "note"."""
    return f'<div class="card {kind}" role="note"><b>{safe(head)}</b> {safe(text)}</div>'


def critic_finding(run: RunData) -> tuple[str, str] | None:
    """Does the critic still explain nothing in the second half of the run?"""
    # Exactly 0 stands for returns that are all equal, of which there is nothing to explain.
    known = [(at, value) for at, value in points(run.train, "loss", "explained_variance") if value != 0.0]
    if len(known) < FEWEST_ITERATIONS:
        return None
    late = known[len(known) // 2 :]
    explained = median(value for _, value in late)
    ceilings = [value for at, value in points(run.train, "loss", CEILING) if at >= late[0][0]]
    ceiling = median(ceilings) if ceilings else 1.0
    if explained >= LEAST_EXPLAINED or ceiling < 2 * LEAST_EXPLAINED:
        return None
    best = f"{number(ceiling)} is the best that a critic can do here" if ceilings else "1 is a perfect critic"
    return (
        "The critic explains nothing.",
        f"From iteration {late[0][0]:g} to {late[-1][0]:g} the median explained variance is {number(explained)}; "
        f"{best}, and 0 is no better than a constant. Such advantages are as noisy as without a critic: raise "
        "critic_lr, let the critic learn first (critic_warmup), or use an algorithm without a critic.",
    )


def sharpening_findings(run: RunData) -> list[tuple[str, str]]:
    """Environments and splits where sampled success rose and greedy success did not."""
    if not points(run.train, "reward_mean"):  # imitation: nothing was reinforced
        return []
    found = []
    for name, (sampled, greedy) in eval_pairs(run.evals).items():
        # Without a measurement before the first iteration nobody knows what reinforcement learning has changed.
        started = sampled[0]["iteration"] == greedy[0]["iteration"] == 0
        if started and (said := sharpening(name, sampled, greedy)):
            found.append((said[0], f"{said[1]} Measured {when(greedy[0])} and {when(greedy[-1])}."))
    return found


def sharpening(name: str, sampled: Sequence[Line], greedy: Sequence[Line]) -> tuple[str, str] | None:
    """Head and text of the finding, from evaluations in both modes of play, the earliest first."""
    of_sampled, of_greedy = _gain(sampled), _gain(greedy)
    if of_sampled is None or of_greedy is None:
        return None
    (rise, rise_range), (change, change_range) = of_sampled, of_greedy
    if rise_range[0] <= 0 or not change_range[0] <= 0 <= change_range[1] or change > rise / 2:
        return None
    where = f" ({name})" if name else ""
    return (
        f"Reinforcement learning only sharpened sampling{where}.",
        f"Success in evaluations went from {_span(sampled)} with sampled answers, but from {_span(greedy)} with greedy "
        "ones: "
        f"the 95 % interval of that change, {percent(change_range[0])} to {percent(change_range[1])}, includes zero. "
        "The policy gives its likeliest answers more often; these answers solve no more of these levels.",
    )


def _gain(lines: Sequence[Line]) -> tuple[float, Interval] | None:
    """How much success rose from the first to the last evaluation, with the 95 % interval of the difference.

    Newcombe's interval, from those of the two shares. It treats the evaluations as independent; on the same levels
    the truth is narrower.
    """
    known = [line for line in lines if figure(line, "success") is not None and interval(line, "success_ci") is not None]
    if len(known) < 2 or known[0]["iteration"] == known[-1]["iteration"]:
        return None
    (before, (low, high)), (after, (after_low, after_high)) = (
        (figure(line, "success") or 0.0, interval(line, "success_ci") or (0.0, 0.0)) for line in (known[0], known[-1])
    )
    change = after - before
    down, up = math.hypot(after - after_low, high - before), math.hypot(after_high - after, before - low)
    return change, (change - down, change + up)


def _span(lines: Sequence[Line]) -> str:
    known = [value for line in lines if (value := figure(line, "success")) is not None]
    return f"{percent(known[0])} to {percent(known[-1])}"


# ---------------------------------------------------------------------- the critic beside its ceiling

CRITIC, CEILING = "explained_variance_at_turns", "explained_variance_ceiling"
IN_THE_CHART = (CRITIC, CEILING, f"{CRITIC}_error", f"{CEILING}_error")


def ceiling_chart(run: RunData, look: Look) -> str:
    """Both with 95 % intervals; empty where the ceiling was never measured."""
    lines = [_measured(run, CRITIC, "critic", 0), _measured(run, CEILING, "best critic possible", 7)]
    return line_chart(lines, look) if lines[1].points else ""


def _measured(run: RunData, name: str, label: str, colour: int) -> Series:
    known = [
        (line["iteration"], value - 1.96 * error, value + 1.96 * error)
        for line in run.train
        if (value := figure(line, "loss", name)) is not None
        and (error := figure(line, "loss", f"{name}_error")) is not None
    ]
    return Series(label, points(run.train, "loss", name), known, colour=colour, dashed=name == CEILING, marks=True)
