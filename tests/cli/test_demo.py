"""The demo: what it trains, prints, promises and leaves behind; shrunk to seconds."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from agentrl.cli import demo
from agentrl.cli.demo import PROMISES, Moment, checked, demo_plan, free_folder, markdown, repeated
from agentrl.recipes import load_recipe
from agentrl.rollout.evaluate import Evaluation
from agentrl.rollout.statistics import wilson_interval

WEAK, GOOD = (PROMISES[place].limit for place in (0, 2))
SMALL = """
summary = "a demo of seconds"
[all]
threads = 1
prompt_style = "step"
history = 0
max_new_tokens = 8
num_envs = 8
eval_episodes = 4
eval_every = 9
[[stage]]
name = "imitation"
algorithm = "sft"
demonstrations = 8
iterations = 1
steps_per_iteration = 1
batch_size = 4
lr = 1e-3
save_trajectories = 0
[[stage]]
name = "rl"
algorithm = "steppo"
iterations = 1
episodes = 4
minibatches = 1
"""


@pytest.fixture
def small(tmp_path, monkeypatch):
    """A recipe that is over in seconds."""
    monkeypatch.setattr("agentrl.cli.demo.LEVELS", 4)
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    return str(path)


@pytest.fixture(autouse=True)
def threads():
    """Runs choose the threads of the whole process; other tests keep theirs."""
    import torch

    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


def result(share, trials=500):
    won = round(share * trials)
    figures = {"reward_mean": 0.0, "reward_ci": None, "reward_terms": {}, "valid_rate": 1.0, "format_rate": None}
    figures |= {"effective_rate": 1.0, "turns_mean": 1.0, "truncated_rate": 0.0, "faults": 0, "seconds": 1.0}
    return Evaluation("id", None, "hf", "test", 0, trials, won / trials, wilson_interval(won, trials), **figures)


def moments(*shares, trials=500):
    return [Moment(str(share), result(share, trials), result(share, trials)) for share in shares]


def test_the_demo_measures_three_moments_and_leaves_a_page_a_film_and_curves(agentrl_cli, small, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "LEAST_EPISODES", 1)
    folder = tmp_path / "demo"
    done = agentrl_cli("demo", "--recipe", small, "--output", str(folder), "--json")
    found = done.json
    assert done.status == 1 and found["pass"] is False  # nothing is learned in a second, and the status says so
    assert [moment["name"] for moment in found["moments"]] == [
        "start",
        "after imitation",
        "after rl",
    ]
    assert all(moment[mode]["episodes"] == 4 for moment in found["moments"] for mode in ("sampled", "greedy"))
    assert [row["policy"] for row in found["baselines"]] == ["random", "oracle"]
    assert found["baselines"][1]["success"] == 1.0
    html = (folder / "report.html").read_text()
    assert found["report"] == str(folder / "report.html")
    assert html.count("data:image/gif;base64,") == 1 and 'href="rl/report.html"' in html and "oracle" in html
    assert (folder / "before_after.gif").read_bytes().startswith(b"GIF8")
    assert "<svg" in (folder / "rl" / "report.html").read_text()
    assert "held-out success" in done.err and "rl (steppo): 1/1" in done.err
    assert json.loads((folder / "plan.json").read_text())["stages"][1]["finished"] is True
    # The same page can be written again, from the folder alone.
    assert agentrl_cli("report", str(folder)).status == 0
    again = (folder / "report.html").read_text()
    assert "oracle" in again and again.count("data:image/gif;base64,") == 1


def test_a_promise_that_is_not_kept_is_shown_as_failed(capsys):
    found, paths = moments(0.0, 0.1, GOOD + 0.1), {"report": "somewhere/report.html", "film": "somewhere/x.gif"}
    found[-1] = replace(found[-1], sampled=result(GOOD - 0.05))
    demo.show(found, [result(0.1), result(1.0)], checked(found), paths, 200.0)
    out = capsys.readouterr().out
    assert out.count("FAIL") == 1 and f"sampled success at the end: {GOOD} or more" in out
    assert "random play" in out and "report:  somewhere/report.html" in out and "3.3 minutes" in out


@pytest.mark.parametrize(("mode", "first"), [("sampled", 0), ("greedy", 3)])
def test_the_promises_are_about_sampled_and_greedy_play_alike(mode, first):
    weak, gain, good = (promise.limit for promise in PROMISES[first : first + 3])

    def kept(before, after):
        found = moments(0.0, 0.1, 0.95)
        found[-2:] = (replace(one, **{mode: r}) for one, r in zip(found[-2:], (before, after), strict=True))
        checks = [check.passed for check in checked(found)]
        assert all(checks[:first] + checks[first + 3 :])  # what the other mode promises is kept
        return checks[first : first + 3]

    assert kept(result(0.1), result(0.95)) == [True, True, True]
    assert kept(result(weak), result(weak + gain + 0.01))[:2] == [False, True]
    assert kept(result(good), result(good)) == [good < weak, False, True]
    assert kept(result(0.1), result(good - 0.002))[2] is False
    assert kept(result(0.1), replace(result(0.9), success=None, success_ci=None)) == [True, False, False]


def test_several_runs_must_stay_twice_their_spread_away_from_every_limit():
    runs = [checked(moments(0.0, WEAK - 0.2, end)) for end in (0.90, 0.92, 0.94)]
    table = repeated(runs)
    ends = table[2]
    assert ends.mean == pytest.approx(0.92) and ends.spread == pytest.approx(0.02)
    assert ends.room == pytest.approx((0.92 - GOOD) / 0.02) and all(row.passed for row in table)
    assert table[0].room is None  # all equal
    near = repeated([checked(moments(0.0, WEAK - 0.2, end)) for end in (GOOD + 0.01, GOOD + 0.03, GOOD + 0.2)])
    assert not near[2].passed and all(check.passed for check in runs[0])
    page = markdown(table, [0, 1, 2], [4.0, 5.0, 6.0], {"recipe": "r"})
    assert "| minutes | 4.0 | 5.0 | 6.0 | 5.0 |" in page and "0.900 | 0.920 | 0.940 | 0.920 | 0.020 |" in page


@pytest.mark.long
def test_several_runs_are_told_apart_by_their_seeds_and_summed_up_in_a_page(agentrl_cli, small, tmp_path):
    done = agentrl_cli(
        "demo", "--recipe", small, "--output", str(tmp_path / "d"), "--runs", "2", "--no-check", "--json"
    )
    found = done.json
    folders = [tmp_path / "d", tmp_path / "d-2"]
    assert done.status == 0 and [run["folder"] for run in found["runs"]] == list(map(str, folders))
    seeds = [json.loads((folder / "rl" / "config.json").read_text())["arguments"]["seed"] for folder in folders]
    assert seeds == [0, 1] and len(found["promises"]) == len(PROMISES) and found["pass"] is False
    assert "seed 1" in (tmp_path / "d-runs.md").read_text()
    assert json.loads((tmp_path / "d-runs.json").read_text())["promises"] == found["promises"]


def test_the_recipe_of_the_demo_measures_at_least_500_unseen_levels_in_both_modes(tmp_path):
    plan = demo_plan(demo.Arguments(output=str(tmp_path / "demo")), seed=3)
    assert [planned.algorithm for planned in plan.runs] == ["sft", "steppo"]
    for planned in plan.runs:
        arguments = planned.arguments
        assert arguments.eval_episodes >= 500 and arguments.eval_split == "test" and arguments.temperature == 1.0
        assert set(arguments.eval_modes) == {"sampled", "greedy"} and arguments.seed == 3
    assert plan.runs[0].arguments.mistake_rate > 0 and load_recipe("frozenlake-demo").summary


def test_nobodys_folder_is_overwritten(tmp_path):
    wanted = tmp_path / "demo"
    assert free_folder(str(wanted)) == str(wanted)
    wanted.mkdir()
    (tmp_path / "demo-2").mkdir()
    assert free_folder(str(wanted)) == f"{wanted}-3"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--recipe", "nothing"), "unknown recipe"),
        (("--recipe", "SMALL"), "eval_episodes must be"),
        (("--recipe", "ONE", "--no-check"), "two stages"),
        (("--recipe", "SMALL", "--no-check", "--output", "FILE/run"), "cannot be written"),
    ],
)
def test_a_demo_that_cannot_be_is_one_line(agentrl_cli, small, tmp_path, words, said):
    (tmp_path / "one.toml").write_text("[[stage]]\nalgorithm = 'sft'\neval_every = 1\n")
    (tmp_path / "file").write_text("")
    places = {"SMALL": small, "ONE": str(tmp_path / "one.toml"), "FILE/run": str(tmp_path / "file" / "run")}
    words = [places.get(word, word) for word in words]
    if "--output" not in words:
        words += ["--output", str(tmp_path / "demo")]
    done = agentrl_cli("demo", *words)
    assert done.status == 2 and said in done.err and done.err.count("\n") == 1
