"""A choice between two words, and a model so small that it learns to choose in seconds; importable in other processes."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import gymnasium as gym

from agentrl.core.spaces import AnyText
from agentrl.trainers.ppo import PPO
from agentrl.trainers.sft import SFT
from agentrl.trainers.steppo import StepPO

ARMS = "tests.trainers.toys:trainer-tests/Arms-v0"
WORDS = ("Left", "Right")
QUICK: dict[str, Any] = {"max_new_tokens": 3, "threads": 1, "report": False, "save_trajectories": 0, "save_every": 1000}


class ArmsEnv(gym.Env):
    """`turns` turns; the word of the turn is worth 1, and `form` is paid for any of the two. All right: success.

    Episodes whose seed leaves 0 when divided by `trouble_every` meet `trouble` in their first turn.
    """

    render_mode = None
    system_prompt = "Moves: Left, Right."

    def __init__(
        self,
        split: str = "train",
        turns: int = 1,
        good: str = "Right",
        form: float = 0.0,
        trouble: str = "",
        trouble_every: int = 3,
        slow: float = 0.0,
    ) -> None:
        self.action_space, self.observation_space = AnyText(WORDS), gym.spaces.Dict({"text": AnyText()})
        self.split, self.turns, self.good, self.form, self.slow = split, turns, good, form, slow
        self.trouble, self.trouble_every = trouble, trouble_every

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.turn, self.hits = 0, 0
        return self._see(), {"task": f"{self.good}-{seed}"}

    def _see(self) -> dict[str, str]:
        return {"text": f"turn {self.turn}"}

    def step(self, action: str) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        time.sleep(self.slow)
        self._meet_trouble()
        self.turn += 1
        hit = action.strip() == self.good
        self.hits += hit
        terms = {"hit": float(hit), "form": self.form * (action.strip() in WORDS)}
        success = self.hits == self.turns
        cut = self.turn == self.turns and not success
        info = {"success": success, "reward_terms": terms, "valid": action.strip() in WORDS, "pending": []}
        return self._see(), sum(terms.values()), success, cut, {**info, "limit": "task" if cut else None}

    def _meet_trouble(self) -> None:
        if not self.trouble or self.np_random_seed % self.trouble_every or self.turn:
            return
        if self.trouble == "die":
            os.kill(os.getpid(), 9)
        if self.trouble == "hang":
            time.sleep(60)
        raise RuntimeError("a bug of the simulator")

    def oracle(self) -> str:
        return self.good


if "trainer-tests/Arms-v0" not in gym.registry:
    gym.register("trainer-tests/Arms-v0", entry_point=f"{__name__}:ArmsEnv", disable_env_checker=True)


def write_nano_model(folder: Path, width: int = 32, layers: int = 1) -> Path:
    """An ordinary model folder: the tiny models' words, a body of a few thousand weights."""
    from transformers import Qwen3Config

    from agentrl.policies.models.tiny import write_model
    from agentrl.policies.models.tokenizer import END, PAD, TEXT_SPECIALS, build_tokenizer

    tokenizer = build_tokenizer(TEXT_SPECIALS)
    config = Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=2 * width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=1024,
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
        "mistakes": 0.5,
        "iterations": 2,
        "steps_per_iteration": 10,
        "batch_size": 16,
        "lr": 1e-2,
    }
    return SFT(**(given | options))
