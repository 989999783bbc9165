"""VLA policies in folders, the tiny ones, and the way from a language model to one.

A folder holds `config.json` (a `VLASpec`), `model.safetensors` and the tokenizer. Three kinds are read: a policy that
was trained; `tiny-vla` and `small-vla`, which know no robot yet; and any language model of a kind in
`body.TRANSFORMERS`, to whose tokenizer the action tokens are added. `LoadedVLA.fit` makes a policy of the last two.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors.torch import load_file

from agentrl.core.errors import ConfigError, EngineFault
from agentrl.models import resolve_model
from agentrl.models.loading import (
    ONLY_DATA,
    cached_folder,
    check_as_written,
    check_config,
    chosen_device,
    no_larger_than_weights,
    quiet,
    tokenizer_hash,
)
from agentrl.models.tokenizer import TEXT_SPECIALS, tiny_tokenizer
from agentrl.models.vla.actions import BINS
from agentrl.models.vla.body import TRANSFORMERS, make_language
from agentrl.models.vla.flow import FlowVLA
from agentrl.models.vla.policy_net import VLA
from agentrl.models.vla.spec import CONFIG, WEIGHTS, VLASpec, is_vla, read_spec
from agentrl.models.vla.tokens import ACTION_TOKENS, TokenVLA, smooth_embeddings

SEED = 20_261_118  # of first weights
LONGEST = 256  # tokens of an instruction; what is longer is cut
LANGUAGE = "body.language."


@dataclass
class LoadedVLA:
    """A VLA policy in memory, shared by policies and trainers."""

    folder: Path
    spec: VLASpec
    tokenizer: Any
    language: Any  # the transformer, a part of the model where there is one
    model: Any = None  # the `VLA`; None until it is fitted to a robot
    _ids: dict[str, list[int]] = field(default_factory=dict, repr=False)

    @property
    def first_action(self) -> int:
        """The id of `<action_0>`."""
        return int(self.tokenizer.convert_tokens_to_ids(ACTION_TOKENS[0]))

    @property
    def hash(self) -> str:
        """Names the tokenizer on trajectories."""
        return tokenizer_hash(self.tokenizer)

    def encode(self, instruction: str) -> list[int]:
        """The tokens of an instruction; action tokens that stand in it are plain text."""
        if instruction not in self._ids:
            if len(self._ids) > 4096:
                self._ids.clear()
            clean = instruction.encode("utf-8", "replace").decode()
            given = self.tokenizer(clean, add_special_tokens=False, split_special_tokens=True)["input_ids"][:LONGEST]
            if any(self.first_action <= token < self.first_action + BINS for token in given):
                raise EngineFault("this tokenizer reads action tokens in plain text; it cannot be used safely")
            self._ids[instruction] = given
        return self._ids[instruction]

    def batch_ids(self, rows: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """Token ids of instructions as a table, and where they are; as wide as a multiple of 8, so that few shapes
        occur."""
        width = max(8, -(-max(map(len, rows), default=1) // 8) * 8)
        lengths = torch.tensor([len(row) for row in rows], dtype=torch.long)
        mask = torch.arange(width) < lengths[:, None]
        ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], dtype=torch.long)
        return ids.view(len(rows), width), mask

    def fit(self, spec: VLASpec, seed: int) -> LoadedVLA:
        """A policy with the transformer's weights and first weights of everything else."""
        device = self.language.get_input_embeddings().weight.device
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = build(spec, self.language, self.first_action).to(device)
        return replace(self, spec=spec, model=model.eval())


def build(spec: VLASpec, language: Any, first_action: int) -> VLA:
    """The network of a spec around a transformer."""
    return TokenVLA(spec, language, first_action) if spec.family == "tokens" else FlowVLA(spec, language)


def load_vla(name: str | Path, device: str = "auto") -> LoadedVLA:
    """From a name or folder; nothing is downloaded and no code of the folder is run."""
    from transformers import PreTrainedTokenizerFast

    folder, place = resolve_model(name), chosen_device(device)
    check_as_written(folder)
    try:
        with quiet():
            if not is_vla(folder):
                return _around(folder, place)
            tokenizer = PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
            spec = read_spec(folder)
            check_action_tokens(tokenizer)
            with no_larger_than_weights(folder), torch.device("meta"):
                _network(spec, tokenizer)
            network, weights = _network(spec, tokenizer), load_file(folder / WEIGHTS)
            if isinstance(network, VLA):
                network.load_state_dict(weights)
            else:
                network.load_state_dict({name.removeprefix(LANGUAGE): part for name, part in weights.items()})
            if not all(bool(part.isfinite().all()) for part in weights.values()):
                raise ValueError("its weights hold NaN or infinity")
    except ConfigError:
        raise
    except Exception as error:  # a damaged folder fails in as many ways as there are file formats
        raise ConfigError(f"the VLA policy in {folder} cannot be loaded: {type(error).__name__}: {error}") from error
    network = network.to(place).eval()
    if isinstance(network, VLA):
        return LoadedVLA(folder, spec, tokenizer, network.body.language, network)
    return LoadedVLA(folder, spec, tokenizer, network)


def _network(spec: VLASpec, tokenizer: Any) -> Any:
    """The whole network, or the transformer alone where the spec knows no robot."""
    language = make_language(spec.body)
    first = tokenizer.convert_tokens_to_ids(ACTION_TOKENS[0])
    return build(spec, language, first) if spec.fits_a_robot else language


def _around(folder: Path, place: str) -> LoadedVLA:
    """An ordinary language model with action tokens in its tokenizer and embeddings."""
    from transformers import AutoConfig, AutoModel, AutoTokenizer

    check_config(folder)
    config = AutoConfig.from_pretrained(folder, **ONLY_DATA)
    if config.model_type not in TRANSFORMERS:
        raise ConfigError(
            f"a VLA policy is made around {', '.join(TRANSFORMERS)}; {folder} is a model of {config.model_type}"
        )
    with no_larger_than_weights(folder):
        language = AutoModel.from_pretrained(folder, use_safetensors=True, dtype=torch.float32, **ONLY_DATA)
    tokenizer = AutoTokenizer.from_pretrained(folder, **ONLY_DATA)
    add_action_tokens(tokenizer)
    rows = len(tokenizer) - BINS
    language.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    table = language.get_input_embeddings().weight
    smooth_embeddings(table[rows:], float(table[:rows].detach().std()))
    language.config.use_cache = False
    return LoadedVLA(folder, VLASpec(body=body_of(language)), tokenizer, language.to(place).eval())


def add_action_tokens(tokenizer: Any) -> None:
    """Put the 256 tokens behind all others."""
    from tokenizers import AddedToken

    tokenizer.add_tokens([AddedToken(name, special=True, normalized=False) for name in ACTION_TOKENS])
    check_action_tokens(tokenizer)


def check_action_tokens(tokenizer: Any) -> None:
    """`ConfigError` unless a tokenizer has the 256 tokens, one after the other."""
    first = tokenizer.convert_tokens_to_ids(ACTION_TOKENS[0])
    if tokenizer.convert_tokens_to_ids(list(ACTION_TOKENS)) != list(range(first or 0, (first or 0) + BINS)):
        raise ConfigError(f"the tokenizer must have the tokens {ACTION_TOKENS[0]} to {ACTION_TOKENS[-1]} in a row")


def body_of(language: Any) -> dict[str, Any]:
    """A transformer's configuration for a spec."""
    told = json.loads(json.dumps(language.config.to_diff_dict()))
    left_out = ("architectures", "dtype", "torch_dtype", "transformers_version", "_name_or_path")
    return {"model_type": language.config.model_type} | {n: v for n, v in told.items() if n not in left_out}


# ---------------------------------------------------------------------- built in


def tiny_vla() -> Path:
    """About 0.8 million weights: trains on a processor."""
    return _built_in("tiny-vla", width=128, layers=3, head_width=96)


def small_vla() -> Path:
    """About 10 million weights, for a GPU."""
    return _built_in("small-vla", width=320, layers=6, head_width=256)


def _built_in(name: str, *, width: int, layers: int, head_width: int) -> Path:
    tokenizer, config = tiny_parts(width, layers)
    told = json.dumps([SEED, config.to_diff_dict(), tokenizer.backend_tokenizer.to_str(), head_width], sort_keys=True)
    folder = f"{name}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"
    return cached_folder(folder, lambda empty: write_vla(empty, tokenizer, config, head_width))


def tiny_parts(width: int, layers: int) -> tuple[Any, Any]:
    """The tokenizer of the tiny models, and the configuration of a transformer of this size."""
    from transformers import Qwen3Config

    tokenizer = tiny_tokenizer(TEXT_SPECIALS, "tiny_vla_vocabulary.json")
    add_action_tokens(tokenizer)
    heads: dict[str, Any] = {"num_attention_heads": width // 32, "num_key_value_heads": width // 32, "head_dim": 32}
    return tokenizer, Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=3 * width,
        num_hidden_layers=layers,
        max_position_embeddings=4096,
        initializer_range=0.05,
        use_cache=False,
        **heads,
    )


def write_vla(folder: Path, tokenizer: Any, config: Any, head_width: int) -> None:
    """Fresh weights from the fixed seed, and all the files that a folder holds; it knows no robot yet."""
    from safetensors.torch import save_file

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(SEED)
        language = make_language({"model_type": config.model_type, **config.to_diff_dict()})
    table: Any = language.get_input_embeddings()  # pyright: ignore[reportCallIssue]
    smooth_embeddings(table.weight[-BINS:], config.initializer_range)
    save_file({LANGUAGE + name: part.contiguous() for name, part in language.state_dict().items()}, folder / WEIGHTS)
    spec = VLASpec(body=body_of(language), head_width=head_width)
    (folder / CONFIG).write_bytes(msgspec.json.format(msgspec.json.encode(spec), indent=1))
    tokenizer.save_pretrained(folder)
