"""Models, conversations and the comparison with transformers that the tests of vLLM share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from agentrl.core.policy import Generation, Message
from agentrl.models import resolve_model, tiny
from agentrl.models.loading import LoadedModel
from agentrl.models.tokenizer import TEXT_SPECIALS, VISION_SPECIALS, tiny_tokenizer
from agentrl.policies.hf import HFPolicy

MODELS = ("text-tied", "text-untied", "vision-tied", "vision-untied")
CLOSE = 1e-4  # of log-probabilities


def model_folder(kind: str, folder: Path) -> Path:
    """A tiny model that reads text or pictures, whose output layer is its embedding or has weights of its own."""
    seeing, tied = kind.startswith("vision"), kind.endswith("-tied")
    if tied:
        return resolve_model("tiny-vlm" if seeing else "tiny-text")
    tokenizer = tiny_tokenizer(VISION_SPECIALS if seeing else TEXT_SPECIALS)
    config = tiny._vision_config(tokenizer) if seeing else tiny._text_config(tokenizer)
    for part in {id(one): one for one in (config, config.get_text_config())}.values():
        part.tie_word_embeddings = False
    folder.mkdir(parents=True, exist_ok=True)
    tiny.write_model(folder, config, tokenizer)
    return folder


def perturb(model: Any, seed: int, size: float = 0.1) -> None:
    """Change every single weight."""
    rng = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(size * torch.randn(parameter.shape, generator=rng) * parameter.abs().mean().clamp(min=0.1))


def conversations(count: int, pictures: bool = False, seed: int = 0) -> list[list[Message]]:
    """A system prompt and a question; with two pictures of awkward sizes where pictures are wanted."""
    rng = np.random.default_rng(seed)
    found: list[list[Message]] = []
    for number in range(count):
        text = f"Question {number}: which way?"
        shown = [rng.integers(0, 256, shape, dtype=np.uint8) for shape in ((96, 64, 3), (75, 130, 3))]
        question: Message = {"role": "user", "content": text}
        if pictures:
            question = {"role": "user", "content": f"<image> {text} And <image>?", "images": shown}
        found.append([{"role": "system", "content": "Moves: Left, Right."}, question])
    return found


def pictures_of(talks: Sequence[Sequence[Message]]) -> list[list[Any]]:
    """Of each conversation, in order."""
    return [[picture for message in talk for picture in message.get("images", [])] for talk in talks]


def trainer_scores(engine: LoadedModel, talks: Sequence[Any], said: Sequence[Generation], **sampling: Any) -> list[Any]:
    """What transformers thinks of these answers."""
    judge = HFPolicy(engine, **sampling)
    prompts, answers = [one.prompt_ids or [] for one in said], [one.token_ids or [] for one in said]
    images = pictures_of(talks)
    with torch.no_grad():
        found = judge.logprobs_of(prompts, answers, images if any(images) else None)
    return [one.numpy() for one in found]


def largest_error(first: Sequence[Any], second: Sequence[Any]) -> float:
    """Over all tokens of all rows."""
    return max(float(np.abs(np.asarray(a) - np.asarray(b)).max()) for a, b in zip(first, second, strict=True))
