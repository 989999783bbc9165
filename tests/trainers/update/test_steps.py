"""Steps whose loss or gradient is not finite: they change nothing, are counted and told, and cannot be all there is."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agentrl.trainers import train
from agentrl.trainers.arguments.imitation import BC
from agentrl.trainers.arguments.policy import GRPO
from agentrl.trainers.arguments.run import RunArguments
from agentrl.trainers.update.batch import Batch, Row
from agentrl.trainers.update.learner import Learner, NotFinite, TrainingFault
from agentrl.trainers.update.losses import LOG_RATIO_LIMIT, clipped_loss, log_ratios
from agentrl.trainers.update.steps import Steps
from tests.trainers import toys
from tests.trainers.episodes import conversation
from tests.trainers.runs import lines, training_state
from tests.vla import STATE, TOY, nano_vla, some_seen, write_nano_vla

ROWS = Batch([conversation([[30, 31, 2], [32, 33, 34, 2]]), conversation([[40, 2]], first=[5, 6])]).rows
Spoil = Callable[..., None]


@pytest.fixture(scope="module")
def nano_robot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_nano_vla(tmp_path_factory.mktemp("vla") / "nano")


@pytest.fixture
def spoil(monkeypatch: pytest.MonkeyPatch) -> Spoil:
    """Make the losses of some steps (by number; None: of all) not a number."""

    def chosen(*numbers: int | None) -> None:
        real, count = Learner.step, itertools.count()

        def step(self: Learner, rows: Any, loss_of: Any) -> dict[str, float]:
            factor = float("nan") if None in numbers or next(count) in numbers else 1.0

            def spoiled(indices: list[int]) -> Any:
                loss, metrics = loss_of(indices)
                return factor * loss, {name: factor * value for name, value in metrics.items()}

            return real(self, rows, spoiled)

        monkeypatch.setattr(Learner, "step", step)

    return chosen


def mean_loss(learner: Learner, rows: list[Row], *, steep: bool = False) -> dict[str, float]:
    """A step on the mean negative log-likelihood; `steep`: on a number that is finite and has an infinite slope."""

    def loss_of(indices: list[int]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        out = learner.outputs([rows[index] for index in indices])
        loss = -(out.logprobs * out.mask).sum()
        return (torch.sqrt(0 * loss) if steep else loss), {}

    return learner.step(rows, loss_of)


def test_other_steps_go_on_as_if_the_bad_one_had_not_been(nano: Path, caplog: pytest.LogCaptureFixture) -> None:
    options = RunArguments(model=str(nano), lr=1e-2, device="cpu", dtype="float32")
    mine, other = Learner(options), Learner(options)
    for learner, kinds in ((mine, (False, True, False)), (other, (False, False))):
        steps = Steps(learner)
        for steep in kinds:
            steps.take(lambda one, rows, bad: mean_loss(one, rows, steep=bad), learner, ROWS, steep)
        means = steps.means()
        assert np.isfinite(list(means.values())).all() and len(steps.taken()) == learner.steps == 2
    assert (mine.skipped_steps, other.skipped_steps) == (1, 0)
    assert "a step was skipped: a gradient norm is" in caplog.text
    for one, two in zip(mine.policy.parameters(), other.policy.parameters(), strict=True):
        assert torch.equal(one, two)


def test_where_no_step_can_be_taken_the_update_fails_and_changes_nothing(nano: Path) -> None:
    learner = Learner(RunArguments(model=str(nano), lr=1e-2, device="cpu", dtype="float32"))
    before, steps = copy.deepcopy(learner.policy.state_dict()), Steps(learner)
    for _ in range(3):
        steps.take(lambda: mean_loss(learner, ROWS, steep=True))
    with pytest.raises(
        TrainingFault, match="none of the 3 steps of this update could be taken: a gradient norm"
    ) as told:
        steps.means()
    assert isinstance(told.value.__cause__, NotFinite)
    assert all(torch.equal(value, before[name]) for name, value in learner.policy.state_dict().items())


# ---------------------------------------------------------------------- whole runs


def a_run(kind: str, text: Path, robot: Path, output: Path) -> Any:
    """Two iterations of four steps, of a text policy or a robot's."""
    if kind == "sft":
        return toys.sft(text, output, iterations=2, steps_per_iteration=4)
    if kind == "grpo":
        return toys.grpo(text, output, iterations=2, minibatches=4, epochs=1)
    shared: dict[str, Any] = {"env": (TOY,), "env_kwargs": STATE, "report": False, "num_envs": 4, "lr": 1e-3}
    shared |= {"model": str(robot), "output": str(output), "iterations": 2}
    if kind == "bc":
        form = {"family": "flow", "chunk": 3, "warmup": 2}
        return BC(**shared, **form, demonstrations=6, steps_per_iteration=4, batch_size=8)
    shared |= {"env_kwargs": {**STATE, "max_turns": 7}, "episodes": 8, "group_size": 2, "minibatches": 4}
    return GRPO(**shared, clip_high=0.28, kl_coef=0.0)


@pytest.fixture(scope="module")
def fitted_robot(nano_robot: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A flow for the puck."""
    loaded, folder = nano_vla(nano_robot, "flow_sde", **STATE), tmp_path_factory.mktemp("vla") / "fitted"
    loaded.model.save_pretrained(folder)
    loaded.tokenizer.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("kind", ["sft", "grpo", "bc", "flow-grpo"])
def test_a_run_counts_what_it_skipped_and_goes_on(
    kind: str, nano: Path, nano_robot: Path, fitted_robot: Path, tmp_path: Path, spoil: Spoil
) -> None:
    spoil(1, 2)
    robot = nano_robot if kind == "bc" else fitted_robot
    folder = train(a_run(kind, nano, robot, tmp_path / "run"), lambda line: None)
    first, second = lines(folder, "train")
    assert (first["loss"]["skipped_steps"], second["loss"]["skipped_steps"]) == (2, 0)
    assert None not in first["loss"].values(), "numbers that are not finite are written as null"
    (warning,) = lines(folder, "warning")
    assert warning["warning"] == "skipped_steps" and warning["detail"].startswith("2 optimiser steps were skipped")
    weights = {name: value for name, value in training_state(folder, 2).items() if isinstance(value, torch.Tensor)}
    assert weights and all(bool(value.isfinite().all()) for value in weights.values())


@pytest.mark.parametrize("kind", ["grpo", "flow-grpo"])
def test_a_run_ends_where_every_step_is_spoiled(
    kind: str, nano: Path, fitted_robot: Path, tmp_path: Path, spoil: Spoil
) -> None:
    spoil(None)
    with pytest.raises(TrainingFault, match="none of the 4 steps of this update could be taken: the loss is nan"):
        train(a_run(kind, nano, fitted_robot, tmp_path / "run"), lambda line: None)
    assert [path.name for path in (tmp_path / "run" / "checkpoints").glob("step_*")] == ["step_0"]


# ---------------------------------------------------------------------- far in the tail


@pytest.mark.parametrize("kind", ["flow_sde", "flow_noise"])
@pytest.mark.parametrize("distance", [30.0, -1e3, 1e8])
def test_a_chain_far_in_the_tail_has_a_finite_ratio_and_gradient(nano_robot: Path, kind: str, distance: float) -> None:
    """Its log-ratio would overflow; it is clamped before the exponential."""
    loaded = nano_vla(nano_robot, kind, **STATE)
    model, seen = loaded.model, some_seen(loaded, 6)
    noise = torch.rand(6, model.noise_numbers, generator=torch.Generator().manual_seed(0)).double()
    with torch.no_grad():
        drawn = model.draw(seen, noise.clamp(1e-6, 1 - 1e-6))
    record, mask = drawn.record.clone(), torch.ones_like(drawn.logprobs, dtype=torch.bool)
    record[::2, 1:] += distance
    for towards in (drawn.logprobs, -drawn.logprobs.abs() - 1e9):  # much less likely than it was, and much likelier
        log_ratio = log_ratios(model.score(seen, record, drawn.step).logprobs, towards, mask)
        assert float(log_ratio.detach().abs().max()) == LOG_RATIO_LIMIT
        model.zero_grad()
        advantages = torch.tensor([1.0, -1.0]).repeat(3)[:, None].expand_as(mask)
        found = clipped_loss(log_ratio.exp(), advantages, mask, mask / mask.sum())
        found.loss.backward()
        slopes = [weight.grad for weight in model.parameters() if weight.grad is not None]
        assert bool(found.loss.isfinite()) and slopes and all(bool(slope.isfinite().all()) for slope in slopes)
