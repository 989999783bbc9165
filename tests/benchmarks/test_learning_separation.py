"""Before a run is spent: how much conditions' advantages agree, which comparisons are refused, and what force does."""

from __future__ import annotations

import pytest
import torch

from agentrl.algorithms import Stage, arguments_class
from benchmarks.learning import command, separation, separation_table
from benchmarks.learning.command import run_learning
from benchmarks.learning.experiment import Claim, Experiment, over_seeds
from benchmarks.learning.runner import Outcome
from benchmarks.learning.separation import Condition, conditions, correlation, differences, measure_separation, row
from benchmarks.learning.separation_table import CAN, CANNOT, MORE, blind_to, separation_rows, withheld
from benchmarks.learning.table import EXPERIMENTS

COMMON = {"device": "cpu", "threads": 1, "num_envs": 4, "max_new_tokens": 4, "kl_coef": 0.0, "iterations": 1}


def condition(label, algorithm="ppo", **options):
    return Condition(label, algorithm, arguments_class(algorithm)(**{**COMMON, **options}))


def test_the_correlation_of_advantages_is_pearsons():
    x = torch.tensor([1.0, 2.0, 3.0, 4.0])
    assert correlation(x, 3 * x - 7) == pytest.approx(1.0)  # whitening changes nothing
    assert correlation(x, -x) == pytest.approx(-1.0)
    assert correlation(x, torch.tensor([1.0, 3.0, 2.0, 4.0])) == pytest.approx(0.8)
    assert correlation(x, torch.tensor([1.0, -1.0, -1.0, 1.0])) == pytest.approx(0.0, abs=1e-12)


def test_constant_advantages_are_alike_only_among_themselves():
    flat, x = torch.full((3,), 0.1), torch.tensor([0.0, 1.0, 2.0])
    assert correlation(flat, 5 * flat) == 1.0 and correlation(flat, x) == 0.0


def test_a_pair_is_refused_only_where_nothing_but_the_estimator_differs():
    token, turn = condition("token"), condition("turn", variant="turn")
    assert row(token, turn, 0.981)["verdict"] == CANNOT and row(token, turn, 0.98)["verdict"] == CAN
    judged = condition("turn", variant="turn", clip_high=0.3)
    found = row(token, judged, 0.999)
    assert (found["verdict"], found["besides"]) == (MORE, ["clip_high"])


def test_a_ratio_of_another_unit_is_a_difference_of_its_own():
    token, step = condition("token"), condition("StepPO", "steppo", prompt_style="conversation")
    assert differences(token, step) == ["clip_low", "clip_high", "unit of the ratio"]  # which a unit has its own of
    assert differences(token, condition("x", "steppo", prompt_style="conversation", step_ratio=False)) == []


def test_means_that_only_one_algorithm_offers_are_compared_with_its_default():
    grpo = condition("GRPO", "grpo", prompt_style="step", episodes=8)
    gigpo = condition("GiGPO", "gigpo", episodes=8)
    assert differences(grpo, gigpo) == []
    assert differences(condition("GRPO", "grpo", prompt_style="step", episodes=8, loss_mean="sequence"), gigpo) == [
        "loss_mean"
    ]


START = Stage("sft", {})
THREE = {name: (START, Stage("ppo", {"variant": name})) for name in ("masked", "turn", "bilevel")}
CLAIMS = (Claim("bilevel", "masked", "A paper"), Claim("bilevel", "turn", "A paper"))
EXPERIMENT = Experiment("three", "Which", over_seeds(THREE, [0]), CLAIMS)


def table(**verdicts):
    pairs = [(*name.split("_"), verdict) for name, verdict in verdicts.items()]
    rows = [{"first": a, "second": b, "correlation": 0.99, "verdict": v, "besides": []} for a, b, v in pairs]
    return {"limit": 0.98, "episodes": 128, "pairs": rows, "critics": {}}


def test_a_label_is_withheld_when_every_claim_it_stands_in_is_blind():
    assert withheld(EXPERIMENT, table(masked_bilevel=CANNOT, turn_bilevel=CAN, masked_turn=CAN)) == ["masked"]
    assert withheld(EXPERIMENT, table(masked_bilevel=CANNOT, turn_bilevel=CANNOT)) == ["masked", "turn", "bilevel"]
    assert withheld(EXPERIMENT, table(masked_bilevel=MORE, turn_bilevel=CAN)) == []
    without = Experiment("three", "Which", EXPERIMENT.cells)
    assert withheld(without, table(masked_bilevel=CANNOT, turn_bilevel=CAN, masked_turn=CAN)) == []


def test_what_is_blind_is_found_in_either_order_and_shown_most_alike_first():
    found = table(masked_bilevel=CANNOT, turn_bilevel=CAN)
    assert blind_to(found, "bilevel", "masked") == blind_to(found, "masked", "bilevel") == 0.99
    assert blind_to(found, "turn", "bilevel") is None and blind_to(None, "turn", "bilevel") is None
    found["pairs"][1]["correlation"] = 0.995
    assert [line[0] for line in separation_rows(found)] == ["turn", "masked"]


class Played:
    """A runner that finishes everything at once."""

    asked_to_stop, deadline = False, float("inf")

    def __init__(self, out, cells, **options):
        self.folder, self.cells = out, cells

    def run(self):
        for cell in self.cells:
            for planned in cell.runs():
                (self.folder / planned.name).mkdir(exist_ok=True)
                (self.folder / planned.name / "done.json").write_text("{}")
        return self.outcome()

    def outcome(self):
        done = {cell.title: (self.folder / cell.runs()[-1].name / "done.json").exists() for cell in self.cells}
        return Outcome([name for name in done if done[name]], [name for name in done if not done[name]], {})


@pytest.mark.parametrize("force", [False, True])
def test_what_cannot_tell_runs_only_by_force(tmp_path, monkeypatch, force):
    monkeypatch.setattr(command, "Runner", Played)
    monkeypatch.setattr(command, "measure", lambda *_: table(masked_bilevel=CANNOT, turn_bilevel=CAN))
    said: list[str] = []
    result = run_learning("three", output=tmp_path, known={"three": EXPERIMENT}, force=force, say=said.append)
    assert result["withheld"] == ([] if force else ["masked/seed0"])
    assert result["finished"] == [f"{name}/seed0" for name in THREE if force or name != "masked"]
    assert result["pass"] and any("cannot tell masked" in line for line in said)


def test_who_is_asked_to_stop_while_starts_are_trained_trains_nothing_more(tmp_path, monkeypatch):
    class Stopped(Played):
        asked_to_stop = True

    monkeypatch.setattr(command, "Runner", Stopped)
    result = run_learning("three", output=tmp_path, known={"three": EXPERIMENT}, say=lambda line: None)
    assert result["finished"] == [] and len(result["unfinished"]) == 3 and result["pass"] is False


def test_advantages_of_a_real_model_are_compared_once_and_kept(tmp_path, monkeypatch):
    for module in (separation_table, separation):
        monkeypatch.setattr(module, "EPISODES", 4)
        monkeypatch.setattr(module, "ROUNDS", 1)
    plain = {**COMMON, "critic": "shared", "lam": 0.9, "turn_lam": 0.9, "reward_at": "turn", "max_new_tokens": 3}
    labels = {name: (Stage("ppo", {**plain, "variant": name}),) for name in ("masked", "vanilla", "bilevel")}
    experiment = Experiment("real", "Which", over_seeds(labels, [0]))
    found = measure_separation(tmp_path, experiment, lambda line: None)
    assert len(found["pairs"]) == 3 and set(found["critics"]) == set(labels)
    assert all(-1.001 <= one["correlation"] <= 1.001 for one in found["pairs"])
    monkeypatch.setattr(separation, "separation", None)
    assert measure_separation(tmp_path, experiment) == found


def test_the_new_tasks_differ_in_nothing_but_what_they_ask(tmp_path):
    """Their conditions are read as the runs will read them."""
    for name in ("one-move-estimators", "one-move-gigpo"):
        experiment = EXPERIMENTS[name]
        for cell in experiment.cells:
            for planned in cell.runs()[:-1]:
                policy = tmp_path / planned.name / "checkpoints" / "step_1" / "policy"
                policy.mkdir(parents=True, exist_ok=True)
                (tmp_path / planned.name / "done.json").write_text("{}")
        chosen = conditions(tmp_path, experiment)
        assert [one.label for one in chosen] == experiment.labels
        alone = [other for other in chosen[1:] if other.label != "StepPO"]  # whose ratio is that of a step
        assert all(differences(chosen[0], other) == [] for other in alone)
