"""A model so small that it learns a choice between two words in seconds, and runs that let it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentrl.trainers.algorithms.awr import AWR
from agentrl.trainers.algorithms.digirl import DigiRL
from agentrl.trainers.algorithms.filtered_bc import FilteredBC
from agentrl.trainers.algorithms.gigpo import GiGPO
from agentrl.trainers.algorithms.grpo import GRPO
from agentrl.trainers.algorithms.gspo import GSPO
from agentrl.trainers.algorithms.ppo import PPO
from agentrl.trainers.algorithms.reinforce_pp import ReinforcePP
from agentrl.trainers.algorithms.rloo import RLOO
from agentrl.trainers.algorithms.sft import SFT
from agentrl.trainers.algorithms.steppo import StepPO
from agentrl.trainers.algorithms.webrl import WebRL
from tests.trainers.arms import ARMS

QUICK: dict[str, Any] = {"max_new_tokens": 3, "threads": 1, "report": False, "save_trajectories": 0, "save_every": 1000}


def write_nano_model(folder: Path, width: int = 32, layers: int = 1) -> Path:
    """An ordinary model folder: the tiny models' words, a body of a few thousand weights."""
    from transformers import Qwen3Config

    from agentrl.models.tiny import write_model
    from agentrl.models.tokenizer import END, PAD, TEXT_SPECIALS, tiny_tokenizer

    tokenizer = tiny_tokenizer(TEXT_SPECIALS)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=1024,
        initializer_range=0.02,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.convert_tokens_to_ids(END),
        pad_token_id=tokenizer.convert_tokens_to_ids(PAD),
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_model(folder, config, tokenizer)
    return folder


def ppo(model: Any, output: Any, **options: Any) -> PPO:
    """PPO on the toy, small and quick; `options` change it."""
    return PPO(**(_rl(model, output) | options))


def steppo(model: Any, output: Any, **options: Any) -> StepPO:
    """StepPO, likewise."""
    return StepPO(**(_rl(model, output) | options))


def grpo(model: Any, output: Any, **options: Any) -> GRPO:
    """GRPO, likewise; two groups of eight."""
    return GRPO(**(_without_critic(model, output) | options))


def rloo(model: Any, output: Any, **options: Any) -> RLOO:
    """RLOO, likewise."""
    return RLOO(**(_without_critic(model, output) | options))


def gspo(model: Any, output: Any, **options: Any) -> GSPO:
    """GSPO, likewise."""
    return GSPO(**(_without_critic(model, output) | options))


def gigpo(model: Any, output: Any, **options: Any) -> GiGPO:
    """GiGPO, likewise."""
    return GiGPO(**(_without_critic(model, output) | options))


def reinforce_pp(model: Any, output: Any, **options: Any) -> ReinforcePP:
    """REINFORCE++, likewise; groups as for the others, looked at with `baseline` only."""
    grouped: dict[str, Any] = {"group_size": 8}
    return ReinforcePP(**(_without_critic(model, output) | grouped | options))


def webrl(model: Any, output: Any, **options: Any) -> WebRL:
    """WebRL, likewise; the toy has no list of tasks, so that every phase plays seeds of its own."""
    return WebRL(**(_phases(model, output) | options))


def digirl(model: Any, output: Any, **options: Any) -> DigiRL:
    """DigiRL, likewise."""
    return DigiRL(**(_phases(model, output) | options))


def awr(model: Any, output: Any, **options: Any) -> AWR:
    """AWR, likewise."""
    return AWR(**(_phases(model, output) | options))


def filtered_bc(model: Any, output: Any, **options: Any) -> FilteredBC:
    """Filtered BC, likewise."""
    return FilteredBC(**(_phases(model, output) | options))


def _phases(model: Any, output: Any) -> dict[str, Any]:
    left_out = ("episodes", "kl_coef", "minibatches")
    found = {name: value for name, value in _rl(model, output).items() if name not in left_out}
    return found | {"tasks_per_phase": 16, "start_tasks": 8, "batch_size": 8}


def _without_critic(model: Any, output: Any) -> dict[str, Any]:
    return {name: value for name, value in _rl(model, output).items() if name != "critic_lr"}


def _rl(model: Any, output: Any) -> dict[str, Any]:
    return QUICK | {
        "env": (ARMS,),
        "model": str(model),
        "output": str(output),
        "iterations": 2,
        "episodes": 16,
        "num_envs": 16,
        "minibatches": 1,
        "lr": 3e-3,
        "critic_lr": 1e-2,
        "kl_coef": 0.0,
    }


def sft(model: Any, output: Any, **options: Any) -> SFT:
    """Imitation of the toy's oracle."""
    given = QUICK | {
        "env": (ARMS,),
        "model": str(model),
        "output": str(output),
        "demonstrations": 32,
        "mistake_rate": 0.5,
        "iterations": 2,
        "steps_per_iteration": 10,
        "batch_size": 16,
        "lr": 1e-2,
    }
    return SFT(**(given | options))
