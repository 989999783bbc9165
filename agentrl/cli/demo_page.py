"""The demo's page and film: the same unseen level before and after reinforcement learning."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentrl import __version__
from agentrl.cli.plan import Plan
from agentrl.core.errors import ConfigError
from agentrl.core.html import data_url, page, safe, section
from agentrl.core.html import write_page as write_whole
from agentrl.core.seeding import episode_seed
from agentrl.rollout.evaluate import Evaluation
from agentrl.rollout.trajectory import Trajectory
from agentrl.viewer.canvas import chart_style
from agentrl.viewer.episode_gif import episodes_gif
from agentrl.viewer.eval_report import bar_figure, results_table, short_name
from agentrl.viewer.findings import card, sharpening

LEVELS = 48  # looked at for one that was lost before and is won after
INTRO = (
    "A tiny language model imitates demonstrations that are partly wrong, then learns from its own play and the "
    "reward alone. All figures are success on levels that were never trained on, with 95 % intervals. Random play is "
    "the floor; the oracle, which computes shortest solutions from the true state, is the ceiling."
)


def write_film(plan: Plan) -> Path | None:
    """Two games of one level side by side; None where pictures of it cannot be made."""
    before, after = (episodes(plan, str(planned.final_policy)) for planned in plan.runs)
    pairs = [pair for pair in zip(before, after, strict=True) if pair[0].fault is None and pair[1].fault is None]
    if not pairs:
        return None
    # The best to look at is a level that was lost and is won; where there is none, one that is won, or any.
    lost, won = max(pairs, key=lambda pair: (pair[1].success and not pair[0].success, pair[1].success))
    titled = {f"after {planned.name}": one for planned, one in zip(plan.runs, (lost, won), strict=True)}
    try:
        return episodes_gif(titled, plan.folder / "before_after.gif")
    except ConfigError:
        return None


def episodes(plan: Plan, model: str) -> list[Trajectory]:
    """The first test levels, played greedily by a policy."""
    from agentrl.policies.hf import HFPolicy
    from agentrl.rollout.collect import Collector, Start

    arguments = plan.runs[-1].arguments
    policy = HFPolicy(model, greedy=True, max_new_tokens=arguments.max_new_tokens, device=arguments.device)
    options: dict[str, Any] = {"prompt_style": arguments.prompt_style, "history": arguments.history}
    collector = Collector(arguments.specs(), policy, split=arguments.eval_split, num_envs=LEVELS, **options)
    try:
        return collector.collect([Start(episode_seed(0, index)) for index in range(LEVELS)]).trajectories
    finally:
        collector.close()


def write_page(
    plan: Plan, trained: Sequence[Evaluation], baselines: Sequence[Evaluation], film: Path | None, seconds: float
) -> Path:
    """`report.html` of the demo; the curves are in the reports of the stages, which it links to."""
    results = [baselines[0], *trained, baselines[1]]
    links = "".join(
        f'<li><a href="{safe(run.name)}/report.html">{safe(run.name)} ({safe(run.algorithm)})</a></li>'
        for run in plan.runs
        if (run.folder / "report.html").exists()
    )
    sections = [
        section("Success on unseen levels", bar_figure(results), _learned(trained)),
        section("The same level, before and after reinforcement learning", _film(film)) if film else "",
        section("Curves and episodes of both stages", f"<ul>{links}</ul>") if links else "",
        section("Figures", results_table(results)),
    ]
    title = f"A tiny model learns {short_name(results[0].id)}"
    footer = f"agentrl {__version__}, {seconds / 60:.1f} minutes, recipe {plan.recipe}."
    html = page(title, INTRO, [part for part in sections if part], footer, style=chart_style())
    return write_whole(plan.folder / "report.html", html)


def _learned(trained: Sequence[Evaluation]) -> str:
    """What reinforcement learning did, where it changed how the model plays and not what it would play at best."""
    after = trained[2:]  # sampled and greedy in turn: at the start, after imitation, after reinforcement learning
    lines = [{"iteration": place, **result.to_json()} for place, result in enumerate(after)]
    found = sharpening("", lines[::2], lines[1::2])
    return card("note", *found) if found else ""


def _film(path: Path) -> str:
    return f'<div class="card"><img src="{data_url(path.read_bytes(), "gif")}" alt="two games of one level"></div>'
