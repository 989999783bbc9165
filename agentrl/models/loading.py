"""A transformers model in memory with its tokenizer and image processor; and model folders in the cache, which are
written whole or not at all, checked by hash and safe to delete."""

from __future__ import annotations

import functools
import hashlib
import json
import logging
import os
import re
import secrets
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agentrl.core.cache import cache_dir
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.core.files import read_regular
from agentrl.core.manifest import MANIFEST, check_manifest
from agentrl.models import resolve_model
from agentrl.models.chat import PromptEncoder
from agentrl.models.vla.spec import is_vla

log = logging.getLogger(__name__)

HASHES = "agentrl.json"  # file name -> SHA-256; written last, into folders of the cache
DTYPES = ("auto", "float32", "bfloat16", "float16")
LAYERS = re.compile(r"(?:layers?|depth|blocks)$")  # the names of numbers of layers in configurations
ONLY_DATA = {"local_files_only": True, "trust_remote_code": False}  # of a folder: nothing is fetched, nothing is run


@dataclass
class LoadedModel:
    """A model with its tokenizer and image processor, shared by policies and trainers."""

    folder: Path
    model: Any
    encoder: PromptEncoder
    stops: frozenset[int]  # every special token ends a turn: none of them belongs inside one
    pad: int
    context: int  # longest sequence the model can read
    decoder: Any = field(default=None, repr=False, compare=False)  # made on first use, shared by policies

    @classmethod
    def from_live(cls, model: Any, tokenizer: Any, image_processor: Any = None) -> LoadedModel:
        """A transformers model that is already in memory, in training for example: nothing of it is copied, so that
        policies always play with its present weights.

        `tokenizer` may be a processor, which holds both a tokenizer and an image processor.
        """
        image_processor = image_processor or getattr(tokenizer, "image_processor", None)
        tokenizer = getattr(tokenizer, "tokenizer", tokenizer)
        image_token = getattr(model.config, "image_token_id", None)
        if image_token is not None and image_processor is None:
            raise ConfigError("a vision-language model needs its image_processor")
        encoder = PromptEncoder(tokenizer, image_processor if image_token is not None else None, image_token)
        folder = Path(getattr(model, "name_or_path", "") or "live")
        ends = getattr(model.generation_config, "eos_token_id", None)
        stops = encoder.specials | frozenset([ends] if isinstance(ends, int) else ends or [])
        known = (tokenizer.pad_token_id, tokenizer.eos_token_id, 0)
        pad = next(token for token in known if token is not None)
        context = int(getattr(model.config.get_text_config(), "max_position_embeddings", None) or 1 << 20)
        return cls(folder, model, encoder, stops, pad, context)

    @property
    def tokenizer(self) -> Any:
        """The model's tokenizer."""
        return self.encoder.tokenizer


@contextmanager
def quiet() -> Iterator[None]:
    """No progress bars of transformers inside, which would end up between the lines of a log; afterwards as before."""
    from transformers.utils import logging

    before = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if before:
            logging.enable_progress_bar()


def load_model(name: str | Path, device: str = "auto", dtype: str = "auto") -> LoadedModel:
    """Load a model from its name or folder; nothing is ever downloaded and no code of the folder is run."""
    try:
        import torch  # noqa: F401
        from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, AutoTokenizer
    except ImportError as error:
        raise MissingExtra(error.name or "transformers", "train") from error
    place = chosen_device(device)
    kind = chosen_dtype(dtype, place)
    folder = resolve_model(name)
    if is_vla(folder):
        raise ConfigError(
            f"{folder} is a VLA policy: play it as vla:{name}, and train it by agentrl train bc, ppo, steppo or grpo"
        )
    check_as_written(folder)
    try:
        with quiet():
            check_config(folder)
            config = AutoConfig.from_pretrained(folder, **ONLY_DATA)
            tokenizer = AutoTokenizer.from_pretrained(folder, **ONLY_DATA)
            auto: Any = AutoModelForImageTextToText if hasattr(config, "vision_config") else AutoModelForCausalLM
            with no_larger_than_weights(folder):
                model = auto.from_pretrained(folder, use_safetensors=True, dtype="auto", **ONLY_DATA)
            model = model.to(kind).to(place).eval()
    except Exception as error:  # a damaged folder fails in as many ways as there are file formats
        raise ConfigError(f"the model in {folder} cannot be loaded: {type(error).__name__}: {error}") from error
    processor = None
    if getattr(config, "image_token_id", None) is not None:
        from transformers import AutoImageProcessor

        processor = AutoImageProcessor.from_pretrained(folder, backend="pil", **ONLY_DATA)
        if not hasattr(processor, "merge_size") or not hasattr(model.model, "get_rope_index"):
            raise ConfigError(
                f"the image processor of {type(model).__name__} is not supported; use a model of the Qwen-VL family"
            )
    return replace(LoadedModel.from_live(model, tokenizer, processor), folder=folder)


def check_config(folder: Path) -> None:
    """`ConfigError` for a configuration that names code or weights elsewhere, or more layers than there are weights;
    before transformers reads it, which already makes a list of them."""
    if (folder / "adapter_config.json").exists():
        raise ConfigError(f"{folder} holds an adapter, which names another model; merge the two first")
    most = _most_tensors(folder)
    try:
        inside = [("", json.loads(read_regular(folder / "config.json")))]
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{folder / 'config.json'} cannot be read: {error}") from error
    while inside:
        name, value = inside.pop()
        inside += value.items() if isinstance(value, dict) else ()
        if LAYERS.search(name) and isinstance(value, int) and value > most:
            raise ConfigError(f"{name} must be at most {most}, for so many weights; got {value}")
        if name.endswith("attn_implementation") and "/" in str(value):
            raise ConfigError(f"{name} names a kernel to fetch ({value!s:.80}); remove it")


def _most_tensors(folder: Path) -> int:
    """How many parameters a model may have with these files: models split some tensors and make a few of their own."""
    from safetensors import safe_open

    return 64 + 4 * sum(len(list(safe_open(file, "pt").keys())) for file in folder.glob("*.safetensors"))


@contextmanager
def no_larger_than_weights(folder: Path) -> Iterator[None]:
    """Inside, building a model stops with a `ConfigError` once it is larger than the files of its weights can be.

    transformers lays a model out without memory first, which is when its parameters are counted; what the files lack
    would be made up afterwards. No format has less than half a byte for a number.
    """
    from torch.nn.modules.module import register_module_parameter_registration_hook

    numbers = 2 * sum(file.stat().st_size for file in folder.glob("*.safetensors"))
    tensors, mine = _most_tensors(folder), threading.get_ident()

    def count(module: Any, name: str, parameter: Any) -> None:
        nonlocal numbers, tensors
        if parameter is not None and parameter.is_meta and threading.get_ident() == mine:
            numbers, tensors = numbers - parameter.numel(), tensors - 1
            if numbers < 0 or tensors < 0:
                raise ConfigError("config.json describes a larger model than the weights beside it")

    hook = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        hook.remove()


def check_as_written(folder: Path) -> None:
    """`ConfigError` for the policy of a checkpoint that has changed since; other folders come without hashes."""
    folder = folder.resolve()
    if folder.name != "policy" or not (folder.parent / MANIFEST).is_file():
        return
    files = [folder.parent / MANIFEST, *sorted(folder.iterdir())]
    _check_once(folder, tuple((str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files))


@functools.lru_cache(maxsize=16)  # a learner loads the same folder up to three times
def _check_once(folder: Path, looks: tuple[tuple[str, int, int], ...]) -> None:
    try:
        check_manifest(folder.parent, under=f"{folder.name}/")
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"the model in {folder} is damaged: {error}; take another checkpoint (to use one that was changed "
            "on purpose, copy its folder to another place)"
        ) from error


def chosen_device(device: str) -> str:
    """The device's name; `ConfigError` where it cannot be used."""
    import torch

    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise ConfigError(f"device {device!r} cannot be used here ({error}); choose device='cpu' or 'auto'") from error
    return str(device)


def chosen_dtype(dtype: str, device: str) -> Any:
    """The torch dtype: bfloat16 on a GPU and float32 elsewhere unless one is chosen."""
    import torch

    if dtype not in DTYPES:
        raise ConfigError(f"dtype must be one of {', '.join(DTYPES)}; got {dtype!r}")
    if dtype == "auto":
        return torch.bfloat16 if device.startswith("cuda") else torch.float32
    return getattr(torch, dtype)


def tokenizer_hash(tokenizer: Any) -> str:
    """Names the tokenizer on trajectories: equal hash, equal tokens."""
    return hashlib.sha256(tokenizer.backend_tokenizer.to_str().encode()).hexdigest()[:16]


# ---------------------------------------------------------------------- folders in the cache


def cached_folder(name: str, build: Callable[[Path], None]) -> Path:
    """The folder stored under `name`; `build(empty folder)` fills it when it is missing or damaged."""
    target = cache_dir() / "models" / name
    if is_whole(target):
        return target
    draft = target.with_name(f".{name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        draft.mkdir(parents=True)
        build(draft)
        (draft / HASHES).write_text(json.dumps(hashes(draft), indent=1))
        _put_in_place(draft, target)
    except OSError as error:
        raise ConfigError(
            f"cannot write the model {name}: {error}; point AGENTRL_CACHE to a folder with room"
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def is_whole(folder: Path) -> bool:
    """Is everything there that was written, as it was written?"""
    try:
        wanted = json.loads((folder / HASHES).read_text())
        if wanted and wanted == hashes(folder):
            return True
    except FileNotFoundError:
        if not folder.exists():
            return False
    except (OSError, ValueError):
        pass
    log.warning("%s is damaged; building it again", folder)
    return False


def hashes(folder: Path) -> dict[str, str]:
    """The SHA-256 of every file but the manifest."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name != HASHES:
            with open(path, "rb") as file:
                found[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _put_in_place(draft: Path, target: Path) -> None:
    """A folder cannot be replaced in one go: a damaged one steps aside first."""
    for _ in range(3):
        try:
            os.rename(draft, target)
            return
        except OSError:
            if not target.exists():
                raise
        if is_whole(target):  # another process was quicker
            return
        aside = draft.with_name(draft.name + ".old")
        os.rename(target, aside)
        shutil.rmtree(aside, ignore_errors=True)
    raise ConfigError(f"{target} is being changed by another process; delete it and try again")
