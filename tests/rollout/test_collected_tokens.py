"""Nothing is tokenised twice: a model gives recorded tokens the recorded log-probabilities, also out of a file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import agentrl  # noqa: F401
from agentrl.models.loading import LoadedModel, load_model
from agentrl.policies.hf import HFPolicy
from agentrl.rollout.collect import Collector, EnvSpec, Start, grouped
from agentrl.rollout.evaluate import evaluate
from agentrl.rollout.prompts import prompt_at
from agentrl.rollout.trajectory import Trajectory
from agentrl.rollout.trajectory_file import TrajectoryReader, TrajectoryWriter

TOLERANCE = 1e-4
ENVS = {"tiny-text": ("FrozenLake-Text", "Sokoban-Text"), "tiny-vlm": ("FrozenLake-Visual", "Sokoban-Visual")}


@pytest.fixture(scope="module", params=list(ENVS))
def model(request) -> tuple[LoadedModel, list[EnvSpec]]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield (
        load_model(request.param, device="cpu", dtype="float32"),
        [EnvSpec(f"agentrl/{name}-v0", {"max_turns": 2, "image_size": 64}) for name in ENVS[request.param]],
    )
    torch.set_num_threads(threads)


def collected(
    engine: LoadedModel, specs: list[EnvSpec], style: str = "conversation", **options: Any
) -> list[Trajectory]:
    policy = HFPolicy(engine, max_new_tokens=6, temperature=0.8, top_p=0.9, seed=5)
    collector = Collector(specs, policy, prompt_style=style, num_envs=3, **options)
    starts = grouped([Start(1), Start(2, env=1)], 2)
    found = collector.collect(starts).trajectories
    collector.close()
    return found


def forced(policy: HFPolicy, trajectory: Trajectory, turn: int, style: str) -> Any:
    step = trajectory.steps[turn]
    shown = [step.images] if style == "step" else [earlier.images for earlier in trajectory.steps[: turn + 1]]
    pictures = [trajectory.pictures[name] for names in shown for name in names]
    with torch.no_grad():
        return policy.logprobs_of([step.prompt_ids], [step.response_ids], [pictures])[0].numpy()  # pyright: ignore


@pytest.mark.parametrize("style", ["conversation", "step"])
def test_training_gives_the_recorded_tokens_the_recorded_logprobs(model, style: str, tmp_path) -> None:
    engine, specs = model
    policy = HFPolicy(engine, temperature=0.8)
    found = collected(engine, specs, style)
    with TrajectoryWriter(tmp_path / "episodes.jsonl") as writer:
        for trajectory in found:
            writer.write(trajectory)
    reader = TrajectoryReader(tmp_path / "episodes.jsonl")
    for trajectory, stored in zip(found, reader, strict=True):
        assert stored == trajectory and trajectory.tokenizer == policy.tokenizer_hash
        assert trajectory.fault is None and len(trajectory.steps) == 2
        stored.pictures = {name: reader.picture(name) for name in trajectory.pictures}
        for turn, step in enumerate(stored.steps):
            assert step.sampling["temperature"] == 0.8 and len(step.response_ids) == len(step.logprobs) > 0
            assert np.abs(forced(policy, stored, turn, style) - step.logprobs).max() < TOLERANCE


@pytest.mark.parametrize("style", ["conversation", "step"])
def test_recorded_prompts_are_those_of_the_record_also_behind_the_last_observation(model, style: str) -> None:
    engine, specs = model
    policy = HFPolicy(engine)
    for trajectory in collected(engine, specs, style)[::2]:
        for turn, step in enumerate(trajectory.steps):
            assert policy.encode(prompt_at(trajectory, turn, style)).ids == step.prompt_ids
        last = policy.encode(prompt_at(trajectory, len(trajectory.steps), style)).ids
        assert last == trajectory.final_prompt_ids
        said = trajectory.steps[-1]
        known = said.prompt_ids + [t for t in said.response_ids if t not in engine.stops]
        assert (last[: len(known)] == known) == (style == "conversation")


def test_the_same_seed_collects_the_same_and_copies_of_a_group_differ(model) -> None:
    engine, specs = model
    first, second = collected(engine, specs), collected(engine, specs)
    assert first == second
    assert first[0].steps[0].prompt_ids == first[1].steps[0].prompt_ids
    assert first[0].steps[0].response_ids != first[1].steps[0].response_ids


def test_a_model_is_evaluated_in_one_batch_a_turn(model) -> None:
    engine, specs = model
    policy = HFPolicy(engine, max_new_tokens=4)
    result = evaluate(specs[0].id, policy, 5, env_kwargs={"max_turns": 2, "image_size": 64})
    assert policy.calls == 2 and result.metrics["scored"] == 5 and result.turns_mean == 2
