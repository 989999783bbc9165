"""What lerobot itself says about agentrl's side of it; runs in lerobot's virtual environment, prints one JSON object.

.venv-lerobot/bin/python tests/adapters/lerobot_driver.py read DATASET TRAJECTORIES
.venv-lerobot/bin/python tests/adapters/lerobot_driver.py observe
.venv-lerobot/bin/python tests/adapters/lerobot_driver.py play DATASET FOLDER
.venv-lerobot/bin/python tests/adapters/lerobot_driver.py record FOLDER
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from lerobot.configs.types import FeatureType, PolicyFeature
from lerobot.datasets.compute_stats import aggregate_stats, get_feature_stats
from lerobot.datasets.lerobot_dataset import LeRobotDataset
from lerobot.datasets.utils import dataset_to_policy_features
from lerobot.envs.utils import add_envs_task, preprocess_observation
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.act.modeling_act import ACTPolicy
from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig
from lerobot.policies.diffusion.modeling_diffusion import DiffusionPolicy
from lerobot.policies.factory import make_pre_post_processors
from lerobot.processor import PolicyProcessorPipeline
from lerobot.processor.env_processor import LiberoProcessorStep
from lerobot.scripts.lerobot_eval import eval_policy, rollout

import agentrl  # noqa: F401  (registers the ids)
from agentrl.adapters.lerobot import LeRobotEnv, LeRobotPolicy
from agentrl.core.errors import ConfigError
from agentrl.policies import load_policy
from agentrl.rollout.episode import play_episode
from agentrl.rollout.evaluate import evaluate
from agentrl.rollout.lerobot import read_lerobot
from agentrl.rollout.lerobot.names import ACTION, STATE, camera_keys
from agentrl.rollout.lerobot.write import instruction_of
from agentrl.rollout.trajectory_file import with_pictures
from agentrl.wrappers import ActionChunks

ARM, SAWYER = "agentrl/LIBERO-Spatial-v0", "agentrl/MetaWorld-reach-v0"
SHORT = {"protocol": "lerobot", "max_turns": 12, "image_size": 96}


def pixels(tensor: torch.Tensor) -> np.ndarray:
    """A picture of lerobot, [3, height, width] from 0 to 1, as bytes [height, width, 3]."""
    return (tensor * 255).round().to(torch.uint8).permute(1, 2, 0).numpy()


# ---------------------------------------------------------------------- data sets


def read(folder: str, file: str) -> dict[str, Any]:
    """Our export, read by lerobot, beside the trajectories that it was made of."""
    data = LeRobotDataset("agentrl/test", root=folder)
    episodes, place = list(with_pictures(file)), 0
    wrong = {"pictures": 0, "tasks": 0, "times": 0}
    numbers = {STATE: 0.0, ACTION: 0.0}
    for episode in episodes:
        for number, step in enumerate(episode.steps):
            item = data[place]
            for key, name in zip(data.meta.camera_keys, step.images, strict=True):
                wrong["pictures"] += not np.array_equal(pixels(item[key]), episode.pictures[name])
            wrong["tasks"] += item["task"] != instruction_of(step)
            wrong["times"] += abs(item["timestamp"].item() - number / data.fps) > 1e-6
            for key, values in ((STATE, step.proprio), (ACTION, step.action)):
                gap = np.abs(item[key].numpy() - np.array(values, np.float32)).max()
                numbers[key] = max(numbers[key], float(gap))
            place += 1
    return {
        "frames": len(data),
        "compared": place,
        "episodes": data.num_episodes,
        "cameras": data.meta.camera_keys,
        "wrong": wrong,
        "greatest_difference": numbers,
        "statistics": statistics(data),
    }


def statistics(data: LeRobotDataset) -> dict[str, float]:
    """How far our statistics are from lerobot's, as a share of the range of each number; lerobot's own quantiles come
    from histograms of 5,000 bins. The spread of pictures is left out: lerobot 0.4.4 squares bytes."""
    found: dict[str, float] = {}
    for key in (STATE, ACTION, *data.meta.camera_keys):
        episodes = []
        for episode in data.meta.episodes:
            rows = range(episode["dataset_from_index"], episode["dataset_to_index"])
            held = np.stack([data[row][key].numpy() for row in rows])
            axis = (0, 2, 3) if held.ndim == 4 else 0
            stats = get_feature_stats(held.astype(np.float64), axis=axis, keepdims=held.ndim == 4)
            squeezed = {
                name: value[0] if held.ndim == 4 and name != "count" else value for name, value in stats.items()
            }
            episodes.append({key: squeezed})
        theirs = aggregate_stats(episodes)[key]
        width = np.maximum(theirs["max"] - theirs["min"], 1e-6)
        gaps = {name: float((np.abs(data.meta.stats[key][name] - theirs[name]) / width).max()) for name in theirs}
        assert data.meta.stats[key]["count"] == theirs["count"]
        found[key] = max(gap for name, gap in gaps.items() if name != "count")
    return found


def record(folder: str) -> dict[str, Any]:
    """Data sets that lerobot wrote, with pictures and with videos, as we read them."""
    found = {}
    for kind in ("image", "video"):
        root, random = Path(folder) / kind, np.random.default_rng(0)
        shape = (48, 64, 3)
        features = {
            "observation.images.front": {"dtype": kind, "shape": shape, "names": ["height", "width", "channels"]},
            STATE: {"dtype": "float32", "shape": (3,), "names": None},
            ACTION: {"dtype": "float32", "shape": (2,), "names": None},
        }
        made = LeRobotDataset.create("agentrl/made", 10, features, root=root, use_videos=kind == "video")
        written = []
        for episode in range(3):
            colours = np.linspace((20, 40, 60), (200, 180, 160), 5 + episode)
            for colour in colours:
                picture = np.broadcast_to(colour.astype(np.uint8), shape).copy()
                numbers = random.normal(size=5).astype(np.float32)
                written.append((picture, numbers))
                frame = {"observation.images.front": picture, STATE: numbers[:3], ACTION: numbers[3:]}
                made.add_frame({**frame, "task": f"task {episode % 2}"})
            made.save_episode()
        made.finalize()
        episodes = list(read_lerobot(root))
        steps = [(step, episode.pictures[step.images[0]]) for episode in episodes for step in episode.steps]
        gaps = [
            np.abs(seen.astype(int) - picture).max() for (_, seen), (picture, _) in zip(steps, written, strict=True)
        ]
        exact = all(
            np.array_equal([*step.proprio, *step.action], numbers)
            for (step, _), (_, numbers) in zip(steps, written, strict=True)
        )
        found[kind] = {
            "lengths": [len(episode.steps) for episode in episodes],
            "tasks": [episode.steps[0].observation for episode in episodes],
            "numbers_equal": exact,
            "greatest_pixel_difference": int(max(gaps)),
            "succeeded": [episode.success for episode in episodes],
        }
    return found


# ---------------------------------------------------------------------- observations


def observe() -> dict[str, Any]:
    """Our observations beside lerobot's: its processor for LIBERO, its own environment of Meta-World."""
    return {"libero": observe_libero(), "metaworld": observe_metaworld()}


def observe_libero() -> dict[str, Any]:
    """robosuite's raw pictures and robot state through lerobot's processor, and what `protocol="lerobot"` shows."""
    size = {"image_size": 128}
    raw = gym.make(ARM, split="test", protocol="lerobot", picture_convention="raw", robot_state=True, **size)
    ready = gym.vector.SyncVectorEnv([lambda: LeRobotEnv(gym.make(ARM, split="test", protocol="lerobot", **size))])
    random, gaps, equal, steps = np.random.default_rng(0), [], 0, 8
    seen, (ours, _) = raw.reset(seed=3)[0], ready.reset(seed=3)
    for _ in range(steps):
        theirs = {
            "pixels": {"image": seen["image"][None], "image2": seen["wrist_image"][None]},
            "robot_state": {
                "eef": {"pos": seen["eef_pos"][None], "quat": seen["eef_quat"][None]},
                "gripper": {"qpos": seen["gripper_qpos"][None]},
            },
        }
        left = LiberoProcessorStep().observation(preprocess_observation(theirs))
        right = preprocess_observation(ours)
        assert left.keys() == right.keys(), (left.keys(), right.keys())
        equal += sum(torch.equal(left[key], right[key]) for key in camera_keys(2))
        gaps.append((left[STATE] - right[STATE]).abs().max().item())
        action = random.uniform(-1, 1, 7).astype(np.float32)
        seen, ours = raw.step(action)[0], ready.step(action[None])[0]
    task = add_envs_task(ready, {})["task"]
    keys = sorted([*right, "task"])
    return {"keys": keys, "pictures_equal": equal, "of": 2 * steps, "state_gap": max(gaps), "task": task}


def observe_metaworld() -> dict[str, Any]:
    """Both environments from the same start: keys, state, instruction and how far apart their pictures are."""
    from lerobot.envs.metaworld import TASK_DESCRIPTIONS, MetaworldEnv

    from agentrl.envs.metaworld.tasks import WORDS

    theirs = MetaworldEnv("reach-v3", obs_type="pixels_agent_pos")
    ours = LeRobotEnv(gym.make(SAWYER, protocol="lerobot"))
    seen, _ = ours.reset(seed=0)
    simulation: Any = ours.unwrapped._world._sim
    theirs._env._freeze_rand_vec, theirs._env._last_rand_vec = True, simulation._last_rand_vec.copy()
    other, _ = theirs.reset()
    gaps, pictures, random = [], [], np.random.default_rng(0)
    for _ in range(10):
        gaps.append(float(np.abs(seen["agent_pos"] - other["agent_pos"]).max()))
        pictures.append(float(np.abs(seen["pixels"].astype(int) - other["pixels"]).mean()))
        action = random.uniform(-1, 1, 4).astype(np.float32)
        seen, other = ours.step(action)[0], theirs.step(action)[0]
    words = {name.removesuffix("-v3"): text for name, text in TASK_DESCRIPTIONS.items()}
    return {
        "keys_equal": seen.keys() == other.keys(),
        "shapes_equal": all(seen[key].shape == other[key].shape for key in other),
        "state_gap": max(gaps),
        "mean_pixel_difference": max(pictures),
        "instructions_equal": sum(words.get(name) == text for name, text in WORDS["lerobot"].items()),
        "instructions": len(words),
        "limits_equal": ours._max_episode_steps == theirs._max_episode_steps,
        "task_equal": ours.task_description == theirs.task_description,
    }


# ---------------------------------------------------------------------- policies


def play(dataset: str, folder: str) -> dict[str, Any]:
    """Policies with random weights, by lerobot's loop and by ours; one of them after a step of lerobot's training."""
    torch.manual_seed(0)
    torch.set_num_threads(2)
    return {"act": play_act(Path(dataset), Path(folder) / "act"), "diffusion": play_diffusion()}


def play_act(dataset: Path, folder: Path) -> dict[str, Any]:
    """ACT on LIBERO: normalised by our export, trained on it for a step, kept in a folder, played three ways."""
    data = LeRobotDataset("agentrl/test", root=dataset, delta_timestamps={ACTION: [step / 20 for step in range(10)]})
    features = dataset_to_policy_features(data.meta.features)
    inputs = {key: one for key, one in features.items() if one.type is not FeatureType.ACTION}
    small = {"dim_model": 32, "n_heads": 2, "dim_feedforward": 32, "n_encoder_layers": 1, "n_vae_encoder_layers": 1}
    config = ACTConfig(
        input_features=inputs,
        output_features={ACTION: features[ACTION]},
        chunk_size=10,
        n_action_steps=5,
        pretrained_backbone_weights=None,
        device="cpu",
        **small,
    )
    policy = ACTPolicy(config)
    before, after = make_pre_post_processors(config, dataset_stats=data.meta.stats)
    batch = before(next(iter(torch.utils.data.DataLoader(data, batch_size=4, shuffle=False))))
    loss, _ = policy.train().forward(batch)
    loss.backward()
    policy.eval()
    for part in (policy, before, after):
        part.save_pretrained(folder)
    size = {**SHORT, "image_size": data.meta.shapes[data.meta.camera_keys[0]][0], "split": "test"}
    nothing: Any = PolicyProcessorPipeline(steps=[])
    vector = gym.vector.SyncVectorEnv([lambda: LeRobotEnv(gym.make(ARM, **size))])
    theirs = rollout(vector, policy, nothing, nothing, before, after, seeds=[7])[ACTION][0].numpy()
    whole = eval_policy(vector, policy, nothing, nothing, before, after, n_episodes=2, start_seed=7)
    vector.close()

    def ours(**options: Any) -> np.ndarray:
        kept: list[Any] = []
        kwargs = {name: value for name, value in size.items() if name != "split"}
        result = evaluate(
            ARM, LeRobotPolicy(folder), 3, seed=7, env_kwargs=kwargs, on_trajectory=kept.append, **options
        )
        assert result.valid_rate == 1.0 and result.faults == 0 and result.success_ci is not None
        return np.stack([np.array([row for step in one.steps for row in np.atleast_2d(step.action)]) for one in kept])

    stepwise = ours()
    chunked = ours(wrappers=[{"wrapper": "ActionChunks", "size": 5}])
    beside = ours(num_envs=3)
    same_start = same_actions(ARM, size, load_policy(f"lerobot:{folder}"), 7)
    return {
        "loss": loss.item(),
        "against_lerobot": float(np.abs(theirs - same_start).max()),
        "steps": len(theirs),
        "lerobot_eval": whole["aggregated"]["pc_success"],
        "chunks_against_steps": float(np.abs(chunked[:, :10] - stepwise[:, :10]).max()),
        "side_by_side_against_alone": float(np.abs(beside - stepwise).max()),
        "refusals": refusals(folder),
        "distinct": len(np.unique(stepwise.round(6), axis=1)[0]),
    }


def same_actions(env_id: str, kwargs: dict[str, Any], policy: Any, seed: int) -> np.ndarray:
    """What our policy plays from the start that a plain seed gives."""
    record = play_episode(gym.make(env_id, **kwargs), policy, seed)
    return np.array([step.action for step in record.steps])


def refusals(folder: Path) -> list[str]:
    """What is said where a policy and an environment do not fit, or there is no policy."""
    policy, said = LeRobotPolicy(folder), []
    wrong = ActionChunks(gym.make(ARM, **SHORT), 4)
    for env in (gym.make(ARM, obs_mode="state"), gym.make(SAWYER, obs_mode="state"), wrong):
        try:
            play_episode(env, policy, 0)
        except ConfigError as error:
            said.append(str(error))
    try:
        LeRobotPolicy(folder / "nothing")
    except ConfigError as error:
        said.append(str(error))
    return said


def play_diffusion() -> dict[str, Any]:
    """Diffusion on Meta-World: two observations at a time, and noise that follows from the seed."""
    config = DiffusionConfig(
        input_features={
            camera_keys(1)[0]: PolicyFeature(FeatureType.VISUAL, (3, 96, 96)),
            STATE: PolicyFeature(FeatureType.STATE, (4,)),
        },
        output_features={ACTION: PolicyFeature(FeatureType.ACTION, (4,))},
        down_dims=(32, 64),
        num_inference_steps=3,
        crop_shape=(84, 84),
        device="cpu",
    )
    policy = DiffusionPolicy(config)
    unit = {"min": torch.zeros(4), "max": torch.ones(4), "mean": torch.zeros(4), "std": torch.ones(4)}
    picture = {name: value[:3].reshape(3, 1, 1) for name, value in unit.items()}
    stats = {STATE: unit, ACTION: unit, camera_keys(1)[0]: picture}
    before, after = make_pre_post_processors(config, dataset_stats=stats)
    played = []
    for seed, many in ((0, 1), (0, 2), (1, 1)):
        kept: list[Any] = []
        actor = LeRobotPolicy(policy, before, after, seed=seed)
        result = evaluate(SAWYER, actor, 2, env_kwargs=SHORT, num_envs=many, on_trajectory=kept.append)
        played.append(np.array([[step.action for step in one.steps] for one in kept]))
    return {
        "success_ci": result.success_ci,
        "same_seed": float(np.abs(played[0] - played[1]).max()),
        "another_seed": float(np.abs(played[0] - played[2]).max()),
    }


if __name__ == "__main__":
    verbs: dict[str, Callable[..., dict[str, Any]]] = {"read": read, "observe": observe, "play": play, "record": record}
    print(json.dumps(verbs[sys.argv[1]](*sys.argv[2:])))
