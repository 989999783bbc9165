"""TRL's GRPO on an environment of the suite: `rollout` is all that stands between the two.

    pip install '.[train]' trl datasets
    python examples/trl_rollout.py --model DIR

TRL calls `rollout_func(prompts, trainer)` with one prompt for each completion it wants and takes token ids and
log-probabilities back; `env_mask` says which tokens the model wrote, and further fields go to the reward functions.
Here a prompt is the seed of a task. TRL's interface is experimental there; this was run with version 1.16.
The fresh weights of tiny-text show that everything fits; they earn the same in every episode, which teaches nothing.
Give a model that has been taught the actions (`agentrl train sft`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import tyro

from agentrl.core.errors import ConfigError
from agentrl.models.loading import LoadedModel, load_model
from agentrl.policies.hf import HFPolicy
from agentrl.rollout.collect import Collector, EnvSpec, Start
from agentrl.rollout.token_rows import conversation_row

ENVS = [EnvSpec("agentrl/FrozenLake-Text-v0", {"max_turns": 3})]


def rollout(prompts: list[str], trainer: Any) -> dict[str, list[Any]]:
    """Play one episode for each prompt with the model in training."""
    model = trainer.accelerator.unwrap_model(trainer.model)
    loaded = LoadedModel.from_live(model, trainer.processing_class)
    policy = HFPolicy(loaded, max_new_tokens=16, seed=trainer.state.global_step)
    played = Collector(ENVS, policy, num_envs=len(prompts)).collect([Start(int(prompt)) for prompt in prompts])
    rows = [conversation_row(trajectory) for trajectory in played.trajectories]
    if any(row.images for row in rows):  # it would train without pixel values, and say nothing
        raise ConfigError("the environment must be of a Text kind: TRL drops the pictures that rollout_func returns")
    tokens = {name: [getattr(row, name) for row in rows] for name in ("prompt_ids", "completion_ids", "logprobs")}
    rewards = [trajectory.reward for trajectory in played.trajectories]
    return tokens | {"env_mask": [row.mask for row in rows], "env_reward": rewards}


def env_reward(completions: list[Any], env_reward: list[float], **_: Any) -> list[float]:
    """The reward function of TRL: what the environment said."""
    return env_reward


@dataclass
class Arguments:
    """What can be chosen on the command line."""

    model: str = "tiny-text"
    steps: int = 2
    device: str = "auto"


def main(args: Arguments) -> None:
    """Train; TRL prints its figures."""
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    loaded = load_model(args.model, device=args.device)
    settings = GRPOConfig(
        output_dir="runs/trl",
        max_steps=args.steps,
        per_device_train_batch_size=4,
        num_generations=2,
        use_cpu=loaded.model.device.type == "cpu",
        bf16=loaded.model.device.type != "cpu",
        report_to=[],
        logging_steps=1,
        save_strategy="no",
    )
    trainer = GRPOTrainer(
        model=loaded.model,
        processing_class=loaded.tokenizer,
        args=settings,
        reward_funcs=env_reward,
        rollout_func=rollout,
        train_dataset=Dataset.from_dict({"prompt": [str(seed) for seed in range(64)]}),
    )
    trainer.train()


if __name__ == "__main__":
    main(tyro.cli(Arguments, description=__doc__))
