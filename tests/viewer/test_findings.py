"""What a report says about the curves together: each finding where it holds, and silence where it does not."""

from __future__ import annotations

import pytest

from agentrl.viewer.findings import critic_finding, findings, sharpening_findings
from agentrl.viewer.run_data import RunData
from agentrl.viewer.run_report import build
from tests.viewer.run_folders import eval_line, sft_lines


def run_of(tmp_path, *, explained=(), ceiling=None, evals=(), reward=True) -> RunData:
    lines = [{"iteration": i, "loss": {"explained_variance": value}} for i, value in enumerate(explained, 1)]
    if ceiling is not None:
        lines[-1]["loss"] |= {"explained_variance_ceiling": ceiling, "explained_variance_ceiling_error": 0.03}
        lines[-1]["loss"] |= {"explained_variance_at_turns": 0.01, "explained_variance_at_turns_error": 0.02}
    lines += [{"iteration": 99, "reward_mean": 1.0}] if reward else []
    return RunData(tmp_path, train=lines, evals=list(evals))


def evals_of(sampled, greedy, episodes=500, **changes):
    held = [eval_line(i, s, greedy=False, episodes=episodes, **changes) for i, s in zip((0, 40), sampled, strict=True)]
    return held + [
        eval_line(i, s, greedy=True, episodes=episodes, **changes) for i, s in zip((0, 40), greedy, strict=True)
    ]


@pytest.mark.parametrize(
    ("explained", "blamed"),
    [
        ([-0.2] * 20, True),
        ([0.9] * 9 + [0.01] * 11, True),  # it has forgotten
        ([-1.0] * 10 + [0.6] * 10, False),  # it had to learn first
        ([0.01] * 5, False),  # too early to tell
        ([0.0] * 20, False),  # all returns are equal: there is nothing to explain
        ([], False),  # no critic
    ],
)
def test_a_critic_that_explains_nothing_is_named(tmp_path, explained, blamed):
    found = critic_finding(run_of(tmp_path, explained=explained))
    assert (found is not None) is blamed
    if found:
        assert "The critic explains nothing." in found[0] and "critic_warmup" in found[1]


def test_a_critic_is_blamed_only_where_there_is_something_to_explain(tmp_path):
    assert critic_finding(run_of(tmp_path, explained=[0.01] * 20, ceiling=0.04)) is None
    found = critic_finding(run_of(tmp_path, explained=[0.01] * 20, ceiling=0.3))
    assert found and "0.30 is the best that a critic can do here" in found[1]


def test_the_ceiling_is_drawn_beside_the_critic_with_intervals(tmp_path):
    html = build(run_of(tmp_path, explained=[0.1] * 3, ceiling=0.3))
    assert "explained variance at turn beginnings, ceiling" not in html and "best critic possible" in html
    assert "error" not in html
    assert "best critic possible" not in build(run_of(tmp_path, explained=[0.1] * 3))


@pytest.mark.parametrize(
    ("sampled", "greedy", "sharpened"),
    [
        ((0.2, 0.6), (0.6, 0.62), True),
        ((0.2, 0.6), (0.62, 0.6), True),
        ((0.2, 0.6), (0.3, 0.62), False),  # greedy play became better too
        ((0.2, 0.6), (0.6, 0.4), False),  # it became worse, which is another finding
        ((0.2, 0.22), (0.6, 0.6), False),  # sampled play did not change either
        ((0.6, 0.2), (0.6, 0.6), False),
    ],
)
def test_reinforcement_learning_that_only_sharpens_sampling_is_named(tmp_path, sampled, greedy, sharpened):
    found = sharpening_findings(run_of(tmp_path, evals=evals_of(sampled, greedy)))
    assert bool(found) is sharpened
    if found:
        assert "only sharpened sampling" in found[0][0] and "20.0 % to 60.0 %" in found[0][1]


def test_a_start_that_was_not_measured_is_not_judged(tmp_path):
    """Greedy success may have risen before the first evaluation: 22.7 % at the end of imitation, 66.7 % here."""
    held = evals_of((0.5, 0.71), (0.66, 0.67))
    late = [{**line, "iteration": line["iteration"] or 30} for line in held]
    assert sharpening_findings(run_of(tmp_path, evals=held)) and not sharpening_findings(run_of(tmp_path, evals=late))
    source = {"from": {"run": "imitation", "iteration": 10}}
    before = [eval_line(0, s, greedy=g, **source) for s, g in ((0.3, False), (0.227, True))]
    assert not sharpening_findings(run_of(tmp_path, evals=[*before, *late]))
    same = [eval_line(0, s, greedy=g, **source) for s, g in ((0.3, False), (0.66, True))]
    (found,) = sharpening_findings(run_of(tmp_path, evals=[*same, *late]))
    assert found[1].endswith("Measured after iteration 10 of imitation and after iteration 40.")


def test_few_episodes_imitation_and_single_evaluations_are_not_judged(tmp_path):
    held = evals_of((0.2, 0.6), (0.6, 0.62))
    assert not sharpening_findings(run_of(tmp_path, evals=evals_of((0.4, 0.6), (0.6, 0.6), episodes=10)))
    assert not sharpening_findings(run_of(tmp_path, evals=held, reward=False))
    assert not sharpening_findings(run_of(tmp_path, evals=held[::2]))
    assert not sharpening_findings(run_of(tmp_path, evals=held[:2]))
    assert findings(RunData(tmp_path, train=sft_lines())) == "" == findings(RunData(tmp_path))


def test_each_environment_is_judged_by_itself_and_names_are_escaped(tmp_path):
    held = evals_of((0.2, 0.6), (0.6, 0.62), env_id="a/<b>-v0") + evals_of((0.2, 0.6), (0.2, 0.6), env_id="a/Good-v0")
    html = findings(run_of(tmp_path, evals=held))
    assert html.count("only sharpened") == 1 and "(a/&lt;b&gt;-v0)" in html and "<b>-v0" not in html
