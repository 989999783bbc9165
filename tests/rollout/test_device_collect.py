"""Rollouts of a VLA policy in worlds of MuJoCo Warp: the ordinary collector's episodes, and faults that stay one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from agentrl.core.errors import ConfigError, EngineFault
from agentrl.models.vla.loading import load_vla
from agentrl.models.vla.spec import fitted
from agentrl.policies.vla import VLAPolicy
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.prompts import for_policy
from agentrl.rollout.starts import alone
from agentrl.trainers import train
from agentrl.trainers.arguments.policy import GRPO, PPO
from agentrl.trainers.update.learner import make_learner
from tests.trainers.runs import assert_same_run, lines
from tests.vla import KINDS, write_nano_vla

pytestmark = pytest.mark.warp
ID, CHUNK, TURNS, FAR = "agentrl/LIBERO-Goal-v0", 2, 5, 0.0353
WARP = {"simulator": "warp", "device": "cpu", "starts": 2, "tasks": [4, 8]}
STATE = {"obs_mode": "state", "max_turns": TURNS, "settle_steps": 1}
PIXELS = {"image_size": 16, "max_turns": 2, "settle_steps": 1}


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Policies of a few thousand weights that move a lot, from state and from pictures."""
    nano, found = write_nano_vla(tmp_path_factory.mktemp("vla") / "nano"), {}
    made: Any
    kwargs: Any
    for name, kind, kwargs in (
        ("state", "parallel", STATE),
        ("flow", "flow_sde", STATE),
        ("pixels", "parallel", PIXELS),
    ):
        env = gym.make(ID, obs_text=True, **kwargs)
        loaded = load_vla(nano, "cpu")
        made = loaded.fit(fitted(loaded.spec, env, ID, chunk=CHUNK, **KINDS[kind]), seed=1)
        found[name] = tmp_path_factory.mktemp("vla") / name
        made.model.save_pretrained(found[name])
        made.tokenizer.save_pretrained(found[name])
    return found


@pytest.fixture
def near_goal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In both simulators the task is done when the first joint of the arm has turned a little."""
    from agentrl.envs.common.mujoco.panda import JOINTS
    from agentrl.envs.libero.warp import LiberoWorlds
    from agentrl.envs.libero.world import World

    def angle(world: World) -> int:
        return int(world.model.joint(JOINTS[0]).qposadr[0])

    monkeypatch.setattr(LiberoWorlds, "goal", lambda self: self.batch.state["qpos"][:, angle(self.world)] > FAR)
    monkeypatch.setattr(World, "goal_holds", lambda self: bool(self.data.qpos[angle(self)] > FAR))
    yield


def collectors(folder: Path, kwargs: dict[str, Any], **options: Any) -> tuple[Any, Collector]:
    """On a device, and one by one."""
    from agentrl.rollout.device_collect import DeviceCollector

    policy = VLAPolicy(folder, device="cpu", seed=3)
    spec = for_policy(EnvSpec(ID, {**kwargs, **WARP}), policy)
    options = {"prompt_style": "step", "history": 0, "num_envs": 4, **options}
    single = Collector([alone(spec)], policy, **{name: value for name, value in options.items() if name != "memory"})
    return DeviceCollector([spec], policy, **options), single


STARTS = [Start(n, task=f"libero_goal/{task}:train:{n % 2}", id=f"s{n}") for n, task in enumerate((4, 8, 8, 8, 4))]


@pytest.mark.parametrize("family", ["state", "flow"])
def test_episodes_are_those_of_the_ordinary_collector(policies: dict[str, Path], family: str, near_goal: None) -> None:
    """Three of the five starts are of the same task, which has two worlds: there are two waves."""
    device, single = collectors(policies[family], STATE)
    found, wanted = device.collect(STARTS).trajectories, single.collect(STARTS).trajectories
    assert {one.success for one in wanted} == {True, False}
    mine: Any
    other: Any
    here: Any
    there: Any
    for mine, other in zip(found, wanted, strict=True):
        assert (mine.id, mine.env_id, mine.task, mine.split) == (other.id, other.env_id, other.task, other.split)
        assert (mine.success, mine.reward, mine.limit) == (other.success, other.reward, other.limit)
        assert (mine.stop_reason, mine.about, mine.spec) == (other.stop_reason, other.about, other.spec)
        assert mine.final_prompt_ids == other.final_prompt_ids
        assert np.allclose(mine.final_state, other.final_state, atol=2e-3)
        for here, there in zip(mine.steps, other.steps, strict=True):
            assert here.response_ids == there.response_ids and here.prompt_ids == there.prompt_ids
            assert here.info["ran"] == there.info["ran"] and here.info["rewards"] == there.info["rewards"]
            assert np.allclose(here.state, there.state, atol=2e-3) and np.allclose(here.action, there.action, atol=1e-3)
            assert np.allclose(here.logprobs, there.logprobs, atol=1e-2)
    device.close()
    single.close()


def test_a_batch_of_rows_on_the_device_is_scored_as_one_of_records(policies: dict[str, Path], near_goal: None) -> None:
    device, single = collectors(policies["state"], STATE)
    args = PPO(env=(ID,), env_kwargs={**STATE, **WARP}, model=str(policies["state"]), device="cpu", episodes=5,
               variant="turn", critic="shared", kl_coef=0.0)  # fmt: skip
    learner = make_learner(args)
    here, there = (learner.batch(one.collect(STARTS).trajectories) for one in (device, single))
    assert here.rows[0].held is not None and there.rows[0].held is None
    assert torch.equal(here.turn_rewards(), there.turn_rewards()) and torch.equal(here.turn_ends, there.turn_ends)
    for mine, other in zip(learner.logprobs(here.rows), learner.logprobs(there.rows), strict=True):
        assert torch.allclose(mine, other, atol=1e-2)
    mine = torch.cat(learner.logprobs(here.rows))
    assert torch.allclose(mine, here.logprobs[here.action_mask], atol=1e-4)  # what the policy drew is found again
    device.collect(STARTS)
    with pytest.raises(ConfigError, match="episodes on a device are learned from once"):
        learner.logprobs(here.rows)


def test_what_is_kept_are_the_pictures_that_the_worlds_show(policies: dict[str, Path]) -> None:
    device, _ = collectors(policies["pixels"], PIXELS)
    (first, *_) = device.collect([replace(STARTS[0], id=None)]).trajectories
    env = device._worlds[0].env
    rows, row = first.held.rows, first.held.row
    seen, _ = env.reset(options={"task": [first.task, "libero_goal/8:train:0"] * 2})
    assert torch.equal(rows.pictures["image"][row], seen["image"][0])
    actions = torch.tensor(first.steps[0].action, dtype=torch.float32).expand(4, CHUNK, 7)
    after = env.play_chunk(actions, np.ones(4, bool)).seen
    assert torch.equal(rows.pictures["wrist_image"][row + 1], after["wrist_image"][0])
    assert not first.to_json()["steps"][0]["images"]


@pytest.mark.parametrize("kind", [PPO, GRPO])
def test_training_practises_on_the_device_from_the_command_s_options(
    policies: dict[str, Path], tmp_path: Path, kind: Any, near_goal: None
) -> None:
    """And a run that goes on from its first checkpoint, in worlds that are made anew, ends with the same bits."""
    own = {"variant": "turn", "critic": "shared"} if kind is PPO else {"group_size": 2, "drop_zero_variance": True}
    options = {"env": (ID,), "env_kwargs": {**STATE, **WARP}, "model": str(policies["state"]), "device": "cpu"}
    options |= {"episodes": 4, "num_envs": 4, "iterations": 2, "minibatches": 1, "lr": 1e-3, "report": False, **own}
    options |= {"save_every": 1, "resume": True}
    folder = train(kind(output=str(tmp_path / "run"), **options), lambda line: None)
    first, second = lines(folder, "train")
    assert first["episodes"] == second["episodes"] == 4 and set(first["by_group"]) == {
        "put the bowl on top of the cabinet", "put the bowl on the plate"
    }  # fmt: skip
    assert np.isfinite(first["loss"]["policy"]) and (kind is GRPO or first["loss"]["grad_norm"] > 0)
    pieces = Path(shutil.copytree(folder, tmp_path / "pieces"))
    shutil.rmtree(pieces / "checkpoints" / "step_2")
    train(kind(output=str(pieces), **options), lambda line: None)
    assert_same_run(folder, pieces, 2)


def test_a_world_that_diverges_is_begun_again_and_a_policy_that_fails_moves_nothing(
    policies: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    device, _ = collectors(policies["state"], STATE, retries=1)
    device.collect(STARTS[:1])
    env, before = device._worlds[0].env, device._worlds[0].env.play_chunk
    broken = [2]  # times that the world of the second start diverges: once in each of its two attempts

    def sometimes(actions: Any, playing: Any) -> Any:
        if broken[0] and playing[1]:
            broken[0] -= 1
            env.tasks[1].batch.state["qvel"][env.tasks[1].rows[0], 5] = 1e30
        return before(actions, playing)

    monkeypatch.setattr(env, "play_chunk", sometimes)
    found = device.collect(STARTS[:2])
    assert found.retries == 1 and found.faults == 1
    well, lost = found.trajectories
    assert well.fault is None and well.reward == 0.0
    assert lost.fault is not None and lost.fault["kind"] == "EnvFault" and lost.reward is None and not lost.success
    broken[0] = 1
    assert all(one.fault is None for one in device.collect(STARTS[:2]).trajectories)
    with torch.no_grad():
        next(device.policy.loaded.model.parameters()).fill_(float("nan"))
    monkeypatch.setattr(env, "play_chunk", lambda *given: pytest.fail("nothing may be carried out"))
    with pytest.raises(EngineFault, match="not finite; nothing was carried out"):
        device.collect(STARTS[:2])


def test_what_cannot_be_is_refused(policies: dict[str, Path]) -> None:
    device, _ = collectors(policies["state"], STATE)
    with pytest.raises(ConfigError, match="task must be one of the 4 starts on the device; got"):
        device.collect([Start(0, task="libero_goal/4:train:7")])
    small, _ = collectors(policies["pixels"], PIXELS, memory=1e-6)
    with pytest.raises(ConfigError, match=r"more than picture_memory \(1e-06\)"):
        small.collect(STARTS[:2])
    with pytest.raises(ConfigError, match="simulator"):
        collectors(policies["state"], STATE, hosts=2)
    with pytest.raises(ConfigError, match='dynamic_sampling_rounds must be left out with simulator="warp"'):
        make_learner(GRPO(env=(ID,), env_kwargs={**STATE, **WARP}, model=str(policies["state"]), device="cpu",
                          dynamic_sampling_rounds=1))  # fmt: skip
