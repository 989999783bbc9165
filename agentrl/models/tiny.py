"""`tiny-text`, `tiny-web`, `tiny-words` and `tiny-vlm`: untrained models, small enough to train on a laptop."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentrl.core.errors import MissingExtra
from agentrl.models.loading import cached_folder, quiet
from agentrl.models.tokenizer import (
    END,
    IMAGE,
    PAD,
    RESPONSE,
    TEXT_SPECIALS,
    VIDEO,
    VISION_END,
    VISION_SPECIALS,
    VISION_START,
    tiny_tokenizer,
)

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerFast

SEED = 20_240_607  # of the first weights
# A picture of 192 x 192 pixels becomes 6 x 6 tokens.
PATCH, MERGE, MAX_SIZE = 16, 2, 256 * 256


def tiny_text() -> Path:
    """A Qwen3 of about 300,000 parameters: the smallest that learns the grid tasks, for speed."""
    tokenizer = tiny_tokenizer(TEXT_SPECIALS)
    return _stored("tiny-text", _text_config(tokenizer), tokenizer)


def tiny_web() -> Path:
    """A Qwen3 of about 300,000 parameters that has words for a map's pages, where `tiny-text` would spell them."""
    tokenizer = tiny_tokenizer(TEXT_SPECIALS, "tiny_web_vocabulary.json")
    return _stored("tiny-web", _text_config(tokenizer, layers=3, widening=2), tokenizer)


def tiny_words() -> Path:
    """A Qwen3 of about 520,000 parameters that has words for homes and for an encyclopaedia, and parts of names."""
    tokenizer = tiny_tokenizer(TEXT_SPECIALS, "tiny_words_vocabulary.json")
    return _stored("tiny-words", _text_config(tokenizer, layers=3), tokenizer)


def tiny_vlm() -> Path:
    """A Qwen2.5-VL of about a million parameters."""
    tokenizer = tiny_tokenizer(VISION_SPECIALS)
    return _stored("tiny-vlm", _vision_config(tokenizer), tokenizer)


def _stored(name: str, config: PreTrainedConfig, tokenizer: PreTrainedTokenizerFast) -> Path:
    # The hash of everything that decides the content is part of the name: another vocabulary is another model.
    told = [tokenizer.backend_tokenizer.to_str(), tokenizer.chat_template, RESPONSE]
    content = json.dumps([SEED, config.to_diff_dict(), *told], sort_keys=True)
    folder = f"{name}-{hashlib.sha256(content.encode()).hexdigest()[:12]}"
    return cached_folder(folder, lambda empty: write_model(empty, config, tokenizer))


def write_model(folder: Path, config: PreTrainedConfig, tokenizer: PreTrainedTokenizerFast) -> None:
    """Fresh weights from the fixed seed, and all the files that transformers looks for."""
    try:
        import torch
        from transformers import AutoModelForCausalLM, AutoModelForImageTextToText
    except ImportError as error:
        raise MissingExtra("torch", "train") from error
    vision = hasattr(config, "vision_config")
    with torch.random.fork_rng(devices=[]):  # the caller's random state is not touched
        torch.manual_seed(SEED)
        kind: Any = AutoModelForImageTextToText if vision else AutoModelForCausalLM
        model = kind.from_config(config, dtype=torch.float32)
    model.generation_config.update(eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)
    with quiet():
        model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if vision:
        # The class for PIL: the other one needs torchvision, which nothing else here does.
        from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

        size = {"shortest_edge": (PATCH * MERGE) ** 2, "longest_edge": MAX_SIZE}
        Qwen2VLImageProcessorPil(patch_size=PATCH, merge_size=MERGE, size=size).save_pretrained(folder)


def _sizes(tokenizer: PreTrainedTokenizerFast, layers: int = 4) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "num_hidden_layers": layers,
        "max_position_embeddings": 4096,
        # Narrow layers need larger first weights than wide ones: with the usual 0.02 they learn half as fast.
        "initializer_range": 0.08,
        "tie_word_embeddings": True,
        "bos_token_id": None,
        "eos_token_id": tokenizer.convert_tokens_to_ids(END),
        "pad_token_id": tokenizer.convert_tokens_to_ids(PAD),
    }


def _text_config(tokenizer: PreTrainedTokenizerFast, layers: int = 4, widening: int = 4) -> PreTrainedConfig:
    from transformers import Qwen3Config

    heads = {"num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 16}
    return Qwen3Config(hidden_size=64, intermediate_size=64 * widening, **heads, **_sizes(tokenizer, layers))


def _vision_config(tokenizer: PreTrainedTokenizerFast) -> PreTrainedConfig:
    from transformers import Qwen2_5_VLConfig

    names = {
        "image_token_id": IMAGE,
        "video_token_id": VIDEO,
        "vision_start_token_id": VISION_START,
        "vision_end_token_id": VISION_END,
    }
    text = {"hidden_size": 128, "intermediate_size": 384, "num_attention_heads": 4, "num_key_value_heads": 4}
    rope = {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [4, 6, 6]}  # half of a head of 32
    vision = {
        "depth": 2,
        "hidden_size": 64,
        "intermediate_size": 192,
        "num_heads": 4,
        "out_hidden_size": 128,
        "patch_size": PATCH,
        "spatial_merge_size": MERGE,
        "window_size": PATCH * MERGE * 4,
        "fullatt_block_indexes": [0, 1],
    }
    ids: dict[str, Any] = {key: tokenizer.convert_tokens_to_ids(token) for key, token in names.items()}
    return Qwen2_5_VLConfig(
        text_config={**_sizes(tokenizer), **text, "initializer_range": 0.06, "rope_parameters": rope},
        vision_config=vision,
        tie_word_embeddings=True,
        **ids,
    )
