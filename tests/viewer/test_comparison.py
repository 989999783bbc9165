"""Comparisons: like with like alone, each page says what it is about, and a task counts once."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from agentrl.core.errors import ConfigError
from agentrl.rollout.episode import own_arguments
from agentrl.rollout.error_types import EpisodeFacts, to_columns
from agentrl.viewer.comparison import write_comparison
from agentrl.viewer.conditions import read_groups, read_sources, sign_test, solved_by_one
from tests.core.markup import Tags
from tests.viewer.run_folders import LAKE, eval_line, phase_lines, played, rl_lines, write_run

CONFIG = {"algorithm": "grpo", "arguments": {"model": "runs/imitation/policy", "temperature": 0.7}}


def plays(wins: int, of: int = 30, **changes) -> dict:
    """An evaluation of that many tasks, the first ones solved; `changes` are of its line."""
    held = [EpisodeFacts(place < wins, 2, "4x4", task=f"task {place}") for place in range(of)]
    line = {"greedy": True, "episodes": of, "by_task": to_columns(held), "env_kwargs": {}, **changes}
    return eval_line(40, wins / of, **line)


def page_of(tmp_path, **runs: list[dict]) -> str:
    """The text of a page that compares runs with these evaluations."""
    sources = [(name, write_run(tmp_path / name, lines, CONFIG)) for name, lines in runs.items()]
    return Tags(write_comparison(sources, tmp_path / "page.html").read_text(encoding="utf-8")).text


def test_runs_of_one_name_count_together_and_each_task_counts_once(tmp_path):
    runs = [write_run(tmp_path / f"run{n}", phase_lines(2, lift=lift)) for n, lift in enumerate((0.0, 0.05, 0.6, 0.6))]
    sources = list(zip(("SFT", "SFT", "WebRL", "WebRL"), runs, strict=True))
    (group,) = read_groups(read_sources(sources))
    first, second = group.conditions
    assert len(first.runs) == 2 and len(first.episodes) == 320 and len(group.tasks) == 160
    fewer, more, tasks = solved_by_one(first, second)
    assert tasks == 160 and more > fewer
    text = write_comparison(sources, tmp_path / "page.html").read_text()
    for said in (
        "Comparison of SFT, WebRL",
        "shopping_admin",
        "Success by complexity",
        "Failed episodes by type",
        "Task by task",
        "below",
    ):
        assert said in text, said
    assert len(re.findall("<tr><td>WebRL", text)) == 4  # twice among the sources, in the table, task by task


def test_greedy_and_sampled_play_of_one_run_are_never_tested_against_each_other(tmp_path):
    """The same policy: 93 % greedily, 20 % sampled."""
    text = page_of(tmp_path, A=[plays(28)], B=[plays(6, greedy=False)])
    assert "Task by task" not in text and "below 0.001" not in text
    assert "FrozenLake Text, test split, greedy, 30 tasks" in text
    assert "FrozenLake Text, test split, sampled at temperature 0.7, 30 tasks" in text
    said = "No test of B, which was measured otherwise: mode sampled at temperature 0.7, not greedy."
    assert said in text


def test_runs_that_have_both_are_compared_in_both_ways(tmp_path):
    text = page_of(tmp_path, A=[plays(28), plays(6, greedy=False)], B=[plays(6), plays(5, greedy=False)])
    assert text.count("Task by task") == 2 and text.count("below 0.001") == 1 and "No test" not in text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"split": "dev"}, "split dev, not test"),
        ({"env_id": "agentrl/Sokoban-Text-v0"}, f"environment agentrl/Sokoban-Text-v0, not {LAKE}"),
        ({"env_kwargs": {"max_turns": 9}}, f"environment {LAKE} (max_turns=9), not {LAKE}"),
        ({"greedy": False, "temperature": 0.5}, "mode sampled at temperature 0.5, not greedy"),
        ({"of": 20}, "20 tasks, of which 20 are among the 30 here"),
    ],
)
def test_what_differs_stands_alone_and_the_page_says_why(tmp_path, change, said):
    text = page_of(tmp_path, A=[plays(28)], B=[plays(6, **change)])
    assert f"No test of B, which was measured otherwise: {said}." in text
    assert "No test of A" in text and "Task by task" not in text


def test_the_same_record_twice_is_no_comparison(tmp_path):
    folder = write_run(tmp_path / "run", [plays(20)], CONFIG)
    text = write_comparison([("A", folder), ("B", folder)], tmp_path / "page.html").read_text()
    assert "No test of B against A: they are the same record." in text and "Task by task" not in text


def test_the_page_names_all_it_is_about(tmp_path):
    text = page_of(tmp_path, A=[plays(28, env_kwargs={"size": 5})], B=[plays(6, env_kwargs={"size": 5})])
    for said in (LAKE, "(size=5)", "test", "greedy", "30", "runs/imitation/policy", "grpo", "after iteration 40"):
        assert said in text, said


def test_a_fault_hides_a_task_and_separates_nothing(tmp_path):
    whole, broken = plays(10), plays(10)
    broken["by_task"] = {name: [None, *column[1:]] for name, column in broken["by_task"].items()}
    for first, second in ((whole, broken), (broken, whole)):
        folder = tmp_path / str(first is whole)
        (group,) = read_groups(
            read_sources([(n, write_run(folder / n, [x])) for n, x in (("a", first), ("b", second))])
        )
        assert solved_by_one(*group.conditions) == (0, 0, 29)


def test_plays_of_one_task_widen_the_interval(tmp_path):
    """Eight plays of each of ten tasks, all alike: as sure as ten plays, not as eighty."""
    held = [EpisodeFacts(place < 5, 2, task=str(place)) for place in range(10) for _ in range(8)]
    line = {**plays(5), "by_task": to_columns(held)}
    (group,) = read_groups(read_sources([("a", write_run(tmp_path / "a", [line]))]))
    text = write_comparison([("a", tmp_path / "a")], tmp_path / "page.html").read_text()
    assert len(group.tasks) == 10 and '50.0 %<span class="range">24 to 76</span>' in text


def test_files_of_trajectories_are_compared_too(tmp_path):
    one = write_run(tmp_path / "a", rl_lines(2), good=played(0.9, 0, count=8), bad=played(0.1, 1, count=8))
    files = [(name, one / "trajectories" / f"{name}.jsonl") for name in ("good", "bad")]
    (group,) = read_groups(read_sources(files))
    good, bad = group.conditions
    assert sum(facts.success for facts in good.episodes) > sum(facts.success for facts in bad.episodes)
    text = write_comparison(files, tmp_path / "page.html").read_text()
    assert "required steps" in text and "hf:tiny-text" in text and "no language model" in text


def test_episodes_of_a_file_that_were_played_differently_are_told_apart(tmp_path):
    episodes = played(0.5, 0, count=6)
    for place, one in enumerate(episodes):
        for step in one.steps:
            step.sampling = {"greedy": place < 3, "temperature": 1.0}
    folder = write_run(tmp_path / "a", [], both=episodes)
    (source,) = read_sources([("a", folder / "trajectories" / "both.jsonl")])
    counts = {setting.mode: len(held[-1].episodes) for setting, held in source.evaluations.items()}
    assert counts == {"greedy": 3, "sampled at temperature 1": 3}


def test_a_hostile_record_is_shown_and_nothing_more(tmp_path):
    (one,) = played(0.5, 0, count=1)
    one.spec = {"id": ["x"], "kwargs": {"<script>": "<script>", "deep": [1]}}
    one.steps[0].sampling = {"temperature": "<script>", "greedy": []}
    one.steps[-1].info |= {"ending": "<script>", "success": False}
    lines = [plays(3, env_kwargs={"<script>": [1]}, split="<script>", temperature=10**400)]
    folder = write_run(tmp_path / "<script>", lines, {"arguments": {"model": "<script>"}}, a=[one, one])
    sources = [("<script>", folder), ("b", folder / "trajectories" / "a.jsonl")]
    assert "<script>" not in write_comparison(sources, tmp_path / "page.html").read_text()
    one.spec = {"id": LAKE, "kwargs": [1]}
    assert own_arguments(one.spec) == {} == own_arguments(None)


def test_what_tells_nothing_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="eval_every"):
        read_sources([("a", write_run(tmp_path / "a", rl_lines(2)))])
    with pytest.raises(ConfigError, match="does not exist"):
        read_sources([("a", tmp_path / "nothing")])


def test_older_evaluations_do_not_name_their_tasks_and_are_paired_by_place(tmp_path):
    def nameless(wins: int) -> dict:
        held = [EpisodeFacts(place < wins, 2, "4x4", place % 3) for place in range(30)]
        return {**plays(wins), "by_task": to_columns([replace(one, task=None) for one in held])}

    runs = [(name, write_run(tmp_path / name, [nameless(wins)])) for name, wins in (("a", 10), ("b", 12))]
    (group,) = read_groups(read_sources(runs))
    assert solved_by_one(*group.conditions) == (0, 2, 30)


def test_sign_test_equals_the_binomial_by_hand():
    assert sign_test(0, 0) == 1.0 and sign_test(3, 3) == 1.0
    assert sign_test(0, 5) == pytest.approx(2 / 32) and sign_test(1, 5) == pytest.approx(2 * 7 / 64)
