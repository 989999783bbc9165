"""`bc`, `ppo`, `steppo` and `grpo` of VLA policies: they learn, resume to the bit, and refuse what cannot work."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agentrl.core.errors import ConfigError
from agentrl.models.vla.loading import load_vla
from agentrl.rollout.collect import Start
from agentrl.rollout.evaluate import evaluate
from agentrl.rollout.lerobot import write_lerobot
from agentrl.trainers import train
from agentrl.trainers.algorithms.bc import augmented, demonstrations
from agentrl.trainers.arguments.imitation import BC, SFT
from agentrl.trainers.arguments.policy import GRPO, GSPO, PPO, StepPO
from agentrl.trainers.run.run import Run
from agentrl.trainers.update.learner import make_learner
from agentrl.trainers.update.losses import clipped_loss
from tests.trainers.runs import assert_equal_runs, assert_same_run, lines, timeless
from tests.vla import KINDS, STATE, TOY, nano_vla, some_seen, write_nano_vla

QUICK: dict[str, Any] = {"env": (TOY,), "report": False, "num_envs": 8, "save_trajectories": 2}


@pytest.fixture(scope="module")
def nano_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_nano_vla(tmp_path_factory.mktemp("vla") / "nano")


def imitation(model: Path, output: Path, **changes: Any) -> BC:
    """Two short iterations from numbers."""
    options = {"env_kwargs": STATE, "demonstrations": 6, "iterations": 2, "steps_per_iteration": 4, "batch_size": 8}
    options |= {"warmup": 2, "chunk": 3, "model": str(model), "output": str(output)}
    return BC(**(QUICK | options | changes))


def quiet(line: str) -> None:
    """Nobody listens."""


@pytest.fixture(scope="module")
def cloned(nano_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A policy of each family, that has seen little."""
    found = {}
    for kind, form in (("parallel", {"family": "tokens"}), ("flow_sde", {"family": "flow"})):
        output = tmp_path_factory.mktemp("bc") / kind
        found[kind] = train(imitation(nano_folder, output, **form), quiet) / "checkpoints" / "step_2" / "policy"
    return found


def practice(kind: str, model: Path, output: Path, **changes: Any) -> Any:
    """Two iterations of four episodes."""
    options: dict[str, Any] = {"env_kwargs": {**STATE, "max_turns": 7}, "model": str(model), "output": str(output)}
    options |= {"iterations": 2, "episodes": 4, "minibatches": 2, "lr": 1e-3, "save_every": 1}
    if kind == "ppo":
        return PPO(**(QUICK | options | {"variant": "turn", "critic": "shared", "credit": "action"} | changes))
    if kind == "steppo":
        return StepPO(**(QUICK | options | {"critic": "own"} | changes))
    return GRPO(**(QUICK | options | {"group_size": 2, "drop_zero_variance": True} | changes))


# ---------------------------------------------------------------------- imitation


@pytest.mark.parametrize("form", [{"family": "tokens"}, {"family": "flow"}])
def test_imitation_learns_the_task_from_numbers(nano_folder: Path, tmp_path: Path, form: dict[str, Any]) -> None:
    args = imitation(
        nano_folder, tmp_path / "run", demonstrations=40, noise=0.2, iterations=4, steps_per_iteration=60, chunk=2,
        batch_size=32, lr=3e-3, eval_every=4, eval_episodes=30, eval_at_start=False, **form,
    )  # fmt: skip
    folder = train(args, quiet)
    losses = [line["loss"] for line in lines(folder, "train")]
    assert losses[-1]["imitation"] < 0.8 * losses[0]["imitation"] and losses[-1]["held_out"] < losses[0]["held_out"]
    (measured,) = lines(folder, "eval")
    assert measured["success"] >= 0.5 and measured["split"] == "test"
    assert evaluate(TOY, f"vla:{folder}/checkpoints/step_4/policy", 5, env_kwargs=STATE).faults == 0


def test_imitation_keeps_its_ranges_and_its_form_in_the_folder(cloned: dict[str, Path], nano_folder: Path) -> None:
    spec = load_vla(cloned["flow_sde"], "cpu").spec
    assert (spec.family, spec.chunk, spec.trained_on) == ("flow", 3, (TOY,))
    assert spec.action_range != tuple(zip(spec.action_low, spec.action_high, strict=True))
    args = imitation(nano_folder, Path("unused"))
    played = demonstrations(args, quiet)
    labels = np.array([step.sampling["gold"] for one in played for step in one.steps])
    assert np.allclose(np.array(spec.action_range).T, np.percentile(labels, (1, 99), axis=0))


def test_imitation_goes_on_from_a_policy_and_refuses_to_change_its_form(
    cloned: dict[str, Path], tmp_path: Path
) -> None:
    model = cloned["parallel"]
    folder = train(imitation(model, tmp_path / "more", chunk=0, iterations=1), quiet)
    assert load_vla(folder / "checkpoints/step_1/policy", "cpu").spec == load_vla(model, "cpu").spec
    with pytest.raises(ConfigError, match="was made with chunk=3; got 5"):
        train(imitation(model, tmp_path / "other", chunk=5), quiet)
    with pytest.raises(ConfigError, match="was made with family='tokens'; got 'flow'"):
        train(imitation(model, tmp_path / "other", family="flow"), quiet)


def test_a_data_set_teaches_what_its_demonstrations_taught(nano_folder: Path, tmp_path: Path) -> None:
    plain = imitation(nano_folder, tmp_path / "there", noise=0.0, env_kwargs={"image_size": 16}, iterations=1)
    write_lerobot(tmp_path / "data", demonstrations(plain, quiet))
    there = train(plain, quiet)
    data = str(tmp_path / "data")
    back = train(
        imitation(nano_folder, tmp_path / "back", data=data, env_kwargs={"image_size": 16}, iterations=1), quiet
    )
    one, two = (lines(folder, "train")[0]["loss"] for folder in (there, back))
    assert one == pytest.approx(two, rel=1e-4)
    with pytest.raises(ConfigError, match=r"do not have all that the policy reads|range"):
        train(imitation(nano_folder, tmp_path / "wrong", data=data), quiet)


def test_each_picture_is_moved_and_lit_by_itself() -> None:
    one = torch.randint(0, 256, (16, 16, 3), generator=torch.Generator().manual_seed(0)).to(torch.uint8)
    many = one.expand(32, -1, -1, -1)
    moved = augmented(many, 2, 0.0, torch.Generator().manual_seed(1))
    padded = np.pad(one.numpy(), ((2, 2), (2, 2), (0, 0)), mode="edge")
    windows = {padded[row : row + 16, column : column + 16].tobytes() for row in range(5) for column in range(5)}
    found = {picture.numpy().tobytes() for picture in moved}
    assert len(found) > 8 and found <= windows, "each is the picture, moved by at most two pixels"
    lit = augmented(many, 0, 0.3, torch.Generator().manual_seed(2)).float().mean((1, 2, 3))
    assert float(lit.std()) > 3 and torch.equal(augmented(many, 0, 0.0, torch.Generator()), many)


# ---------------------------------------------------------------------- practice


@pytest.mark.parametrize(
    ("kind", "family"), [("ppo", "parallel"), ("steppo", "parallel"), ("grpo", "flow_sde"), ("ppo", "flow_sde")]
)
def test_practice_runs_and_its_first_ratios_are_one(
    cloned: dict[str, Path], tmp_path: Path, kind: str, family: str
) -> None:
    args = practice(kind, cloned[family], tmp_path / "run", minibatches=1, epochs=2, kl_coef=0.01, iterations=1)
    learner = make_learner(args)
    with Run(args, kind, learner, quiet) as run:
        batch = learner.batch(run.play([Start(seed) for seed in range(3)], run.collector).trajectories)
        recomputed = batch.by_trajectory(learner.logprobs(batch.rows))
        assert torch.allclose(recomputed[batch.token_mask], batch.logprobs[batch.token_mask], atol=1e-4)
    folder = train(practice(kind, cloned[family], tmp_path / "real", kl_coef=0.01), quiet)
    losses = [line["loss"] for line in lines(folder, "train")]
    assert len(losses) == 2 and all(np.isfinite(list(one.values())).all() for one in losses)
    if kind == "ppo":
        assert "explained_variance" in losses[0] or "value_mean" in losses[0]


@pytest.mark.parametrize("kind", KINDS)
def test_clipped_ratios_of_both_families_teach_what_is_rewarded(nano_folder: Path, kind: str) -> None:
    """The reward is how small the first number of the first action is."""
    loaded = nano_vla(nano_folder, kind, **STATE)
    model, seen, means = loaded.model, some_seen(loaded, 64), []
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for number in range(10):
        noise = torch.rand(64, model.noise_numbers, generator=torch.Generator().manual_seed(number))
        with torch.no_grad():
            drawn = model.draw(seen, noise.clamp(1e-6, 1 - 1e-6))
        earned = -drawn.actions[:, 0, 0]
        means.append(float(earned.mean()))
        advantages = ((earned - earned.mean()) / earned.std())[:, None].expand_as(drawn.logprobs)
        mask = torch.ones_like(advantages, dtype=torch.bool)
        ratio = (model.score(seen, drawn.record, drawn.step).logprobs - drawn.logprobs).exp()
        optimiser.zero_grad()
        clipped_loss(ratio, advantages, mask, mask / mask.sum()).loss.backward()
        optimiser.step()
    assert np.mean(means[-2:]) > np.mean(means[:2]) + 0.1


# ---------------------------------------------------------------------- stop and resume


@pytest.mark.parametrize("algorithm", ["bc", "ppo"])
def test_killed_and_resumed_a_run_ends_with_the_same_bits(
    nano_folder: Path, cloned: dict[str, Path], tmp_path: Path, algorithm: str
) -> None:
    def arguments(output: Path) -> Any:
        if algorithm == "bc":
            return imitation(nano_folder, output, iterations=3, save_every=1, resume=True, family="flow")
        return practice("ppo", cloned["flow_sde"], output, iterations=3, resume=True, kl_coef=0.01)

    whole, pieces = tmp_path / "whole", tmp_path / "pieces"
    train(arguments(whole), quiet)
    child = os.fork()
    if not child:  # it trains until it is killed
        try:
            train(arguments(pieces), quiet)
        finally:
            os._exit(0)
    deadline = time.monotonic() + 120
    while not (pieces / "checkpoints/step_1/manifest.json").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    train(arguments(pieces), quiet)
    assert_same_run(whole, pieces, 3)
    assert timeless(whole)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"chunk": -1}, "chunk must be a whole number"),
        ({"noise": -1.0}, "noise must not be negative"),
        ({"held_out": 2.0}, "held_out must lie between 0 and 1"),
        ({"cameras": ("top",)}, "cameras must be among none; got 'top'"),
        ({"env": "agentrl/FrozenLake-Text-v0", "env_kwargs": {}}, "arrays as actions"),
        ({"lora_rank": 2}, "lora_rank must be left at its default for a VLA policy"),
        ({"optimiser": "muon"}, "optimiser must be left"),
    ],
)
def test_what_cannot_be_imitated_is_refused(nano_folder: Path, tmp_path: Path, changes: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        train(imitation(nano_folder, tmp_path / "run", **changes), quiet)


def test_what_cannot_be_practised_is_refused(cloned: dict[str, Path], tmp_path: Path) -> None:
    model = cloned["parallel"]
    cases: list[tuple[Any, str]] = [
        (practice("ppo", model, tmp_path, variant="bilevel"), "variant must be masked or turn"),
        (practice("ppo", model, tmp_path, mc_rollout_every=1), "mc_rollout_every must be left"),
        (practice("ppo", model, tmp_path, critic_truth=True), "critic_truth must be left"),
        (practice("ppo", model, tmp_path, wrap=[{"wrapper": "ActionChunks", "size": 5}]), "size 3.*got 5"),
        (practice("ppo", model, tmp_path, env_kwargs={"obs_mode": "image"}), "'state' of shape .* shows none"),
        (GSPO(**QUICK, env_kwargs=STATE, model=str(model), output=str(tmp_path)), "trained by BC, PPO, GRPO, StepPO"),
        (SFT(**QUICK, env_kwargs=STATE, model=str(model), output=str(tmp_path)), "is a VLA policy"),
    ]
    for args, words in cases:
        with pytest.raises(ConfigError, match=words):
            train(args, quiet)
    with pytest.raises(ConfigError, match="more than picture_memory"):
        train(practice("ppo", Path("tiny-vla"), tmp_path, env_kwargs={}, picture_memory=1e-4), quiet)


# ---------------------------------------------------------------------- asynchronous


@pytest.mark.parametrize("kind", ["parallel", "flow_sde"])
def test_in_step_an_asynchronous_run_is_the_synchronous_one_to_the_bit(
    cloned: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    sync = train(practice("ppo", cloned[kind], tmp_path / "sync"), quiet)
    in_step = {"asynchronous": True, "max_staleness": 0, "max_wait_ms": -1, "max_batch": 8}
    found = train(practice("ppo", cloned[kind], tmp_path / "async", **in_step), quiet)
    assert_equal_runs(sync, found, 2)
