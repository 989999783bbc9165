"""DINOv2 similarity from a local folder in Hugging Face's format: nothing is downloaded, no code of it is run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from torch import Tensor
from torch.nn import functional

from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.files import strange_file
from agentrl.judges.similarity.network import NetworkScorer
from agentrl.judges.similarity.preparation import Preparation, normalised, preparation_of
from agentrl.judges.similarity.scorer import Pair, Size

WHERE = "get config.json, preprocessor_config.json and model.safetensors of facebook/dinov2-base from huggingface.co"
MODEL_TYPES = ("dinov2", "dinov2_with_registers")
PUBLISHED = Preparation(resize=256, crop=(224, 224))  # of the DINOv2 models, for a folder that does not say


class DinoSimilarity(NetworkScorer):
    """(cosine + 1) / 2 of the mean last hidden states of a DINOv2 model. Raw: a blank drawing scores well above 0.

    Pictures are prepared as the folder's preprocessor_config.json says; the published one leaves out a margin of an
    eighth.
    """

    kind = "dino"
    blank_by_default = False

    def __init__(
        self,
        folder: str,
        *,
        device: str = "auto",
        threads: int | None = None,
        batch_size: int = 16,
        cache_mb: float = 64,
        above_blank: bool = False,
    ) -> None:
        shared = {"batch_size": batch_size, "cache_mb": cache_mb, "above_blank": above_blank}
        super().__init__(device=device, threads=threads, **shared)
        self.folder = model_folder(folder)
        self.arguments = {"folder": str(self.folder), **self.arguments}
        self.preparation = preparation_of(self.folder, PUBLISHED)
        self.model = load_model(self.folder).to(self.device)

    def _size(self, pair: Pair) -> Size:
        size = self.preparation.crop or self.preparation.resize
        assert not isinstance(size, int)  # preparation_of refuses that
        return size

    def _fit(self, picture: np.ndarray, size: Size) -> np.ndarray:
        return self.preparation.fit(picture)

    def _embed(self, pictures: np.ndarray) -> Tensor:
        pixels = normalised(pictures, self.preparation.colours, self.device)
        return self.model(pixel_values=pixels).last_hidden_state.mean(dim=1)

    def _compare(self, targets: Tensor, drawings: Tensor) -> Tensor:
        return (1 - functional.cosine_similarity(targets, drawings, dim=-1)) / 2


def model_folder(folder: Any) -> Path:
    """The folder, with a model of the right kind in it; else what is missing and where to get it."""
    if not isinstance(folder, (str, Path)) or not str(folder):
        raise ConfigError(f"folder must be the path of a DINOv2 model; got {folder!r} ({WHERE})")
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise ConfigError(f"folder {path} does not exist; {WHERE}")
    if (strange := strange_file(path)) is not None:
        raise ConfigError(f"folder must hold regular files; {strange} is not one")
    if not (path / "config.json").is_file():
        raise ConfigError(f"folder {path} has no config.json; {WHERE}")
    if not any(path.glob("*.safetensors")):
        raise ConfigError(f"folder {path} has no weights (model.safetensors); {WHERE}")
    try:
        model_type = msgspec.json.decode((path / "config.json").read_bytes(), type=dict).get("model_type")
    except msgspec.DecodeError as error:
        raise ConfigError(f"{path / 'config.json'} cannot be read: {error}") from error
    if model_type not in MODEL_TYPES:  # scores of another model must not be called DINO's
        raise ConfigError(
            f"folder {path} holds a model of type {model_type!r}, not {' or '.join(MODEL_TYPES)}; {WHERE}"
        )
    return path


def load_model(folder: Path) -> Any:
    """The model with all of its weights; `ConfigError` where the folder's do not fit."""
    try:
        from transformers import AutoModel
    except ImportError as error:
        raise MissingExtra("transformers", "similarity") from error
    options = {"local_files_only": True, "trust_remote_code": False, "use_safetensors": True, "dtype": "float32"}
    try:
        with quiet_transformers():
            model, found = AutoModel.from_pretrained(folder, output_loading_info=True, **options)
    except Exception as error:  # every kind of damaged file has its own exception
        raise ConfigError(f"the model in {folder} cannot be loaded: {error}") from error
    if wrong := sorted(map(str, [*found["missing_keys"], *found["mismatched_keys"]])):
        # transformers would make up random weights for these and score with them
        raise ConfigError(f"the weights in {folder} lack {len(wrong)} that the model needs, such as {wrong[0]}")
    return model.eval().requires_grad_(False)


@contextmanager
def quiet_transformers() -> Iterator[None]:
    """No progress bars and no reports of transformers inside: what is wrong is said by our own error."""
    from transformers.utils import logging

    bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
