"""TRL's GRPO on an environment of the suite, with `agentrl.adapters.trl.rollout`.

    pip install '.[trl]'
    python examples/trl_rollout.py --model DIR

The fresh weights of tiny-text show that everything fits; they earn the same in every episode, which teaches nothing.
Give a model that has been taught the actions (`agentrl train sft`).
"""

from __future__ import annotations

from dataclasses import dataclass

import tyro
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from agentrl.adapters.trl import env_reward, rollout
from agentrl.models.loading import load_model


@dataclass
class Arguments:
    """What can be chosen on the command line."""

    model: str = "tiny-text"
    env: str = "agentrl/FrozenLake-Text-v0"
    max_turns: int = 3
    steps: int = 2
    device: str = "auto"
    output: str = "runs/trl"


def main(args: Arguments) -> None:
    """Train; TRL prints its figures."""
    loaded = load_model(args.model, device=args.device)
    settings = GRPOConfig(
        output_dir=args.output,
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
        rollout_func=rollout(args.env, max_new_tokens=16, max_turns=args.max_turns),
        train_dataset=Dataset.from_dict({"prompt": [str(seed) for seed in range(64)]}),
    )
    trainer.train()


if __name__ == "__main__":
    main(tyro.cli(Arguments, description=__doc__))
