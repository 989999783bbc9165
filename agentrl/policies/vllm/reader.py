"""The part of a model that reads and writes tokens, without its weights: those are vLLM's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.models import resolve_model
from agentrl.models.chat import PromptEncoder
from agentrl.models.quiet import quiet


@dataclass(frozen=True)
class Reader:
    """What a policy needs to know of a model."""

    folder: Path
    encoder: PromptEncoder
    stops: frozenset[int]  # every special token ends a turn, as for the transformers policy
    context: int  # longest sequence the model can read

    @property
    def tokenizer(self) -> Any:
        """The model's tokenizer."""
        return self.encoder.tokenizer


def load_reader(name: str | Path) -> Reader:
    """From a model's name or folder; nothing is ever downloaded and no code of the folder is run."""
    try:
        from transformers import AutoConfig, AutoTokenizer
    except ImportError as error:
        raise MissingExtra(error.name or "transformers", "train") from error
    folder = resolve_model(name)
    try:
        with quiet():
            config = AutoConfig.from_pretrained(folder, local_files_only=True)
            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            image_token = getattr(config, "image_token_id", None)
            processor = None if image_token is None else _image_processor(folder)
            ends = _generation_ends(folder)
    except Exception as error:  # a damaged folder fails in as many ways as there are file formats
        raise ConfigError(f"the model in {folder} cannot be read: {type(error).__name__}: {error}") from error
    if processor is not None and not hasattr(processor, "merge_size"):
        raise ConfigError("this model packs pictures in its own way; models of the Qwen-VL family are read")
    encoder = PromptEncoder(tokenizer, processor, image_token)
    context = int(getattr(config.get_text_config(), "max_position_embeddings", None) or 1 << 20)
    return Reader(folder, encoder, encoder.specials | ends, context)


def _image_processor(folder: Path) -> Any:
    from transformers import AutoImageProcessor

    return AutoImageProcessor.from_pretrained(folder, local_files_only=True, backend="pil")


def _generation_ends(folder: Path) -> frozenset[int]:
    from transformers import GenerationConfig

    if not (folder / "generation_config.json").is_file():
        return frozenset()
    given = GenerationConfig.from_pretrained(folder, local_files_only=True).eos_token_id
    return frozenset([given] if isinstance(given, int) else given or [])
