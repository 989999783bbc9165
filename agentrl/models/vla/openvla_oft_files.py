"""Folders of OpenVLA-OFT: what upstream's training writes, read into `OpenVLAOFT`; nothing of a folder is run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors.torch import load_file
from torch import Tensor

from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.files import open_regular, read_regular, strange_file
from agentrl.models.vla.llama import Llama
from agentrl.models.vla.openvla_oft import Colours, Eye, OFTSpec, OpenVLAOFT, Range

SUPPORTED = {
    "model_type": ("openvla",),
    "vision_backbone_id": ("dinosiglip-vit-so-224px", "dinosiglip-vit-so-384px"),
    "image_resize_strategy": ("resize-naive",),
}
# transformers' defaults, which published configurations leave out
LLAMA = {"hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32}
LLAMA |= {"vocab_size": 32000, "rms_norm_eps": 1e-6}
LLAMA_SUPPORTED = {
    "model_type": ("llama",),
    "hidden_act": ("silu",),
    "rope_theta": (10_000.0,),
    "rope_scaling": (None,),
    "attention_bias": (False,),
    "tie_word_embeddings": (False,),
}


@dataclass
class LoadedOFT:
    """A policy in memory."""

    network: OpenVLAOFT
    action: Range
    state: Range | None

    def act(self, pictures: Sequence[Tensor], prompts: Sequence[Sequence[int]], state: Tensor | None = None) -> Tensor:
        """The chunk in the robot's units, float64 [batch, chunk, numbers]; the state is in its units, too."""
        given = self.state.scaled(state.double().cpu()) if state is not None and self.state is not None else state
        return self.action.back(self.network.chunk(pictures, prompts, given).double().cpu())


def load_openvla_oft(
    folder: str | Path,
    *,
    dataset: str | None = None,
    chunk: int = 8,
    bounds: tuple[str, str] = ("q01", "q99"),
    dtype: torch.dtype = torch.bfloat16,
) -> LoadedOFT:
    """The policy of a folder: `config.json`, `preprocessor_config.json`, `dataset_statistics.json`, safetensors in one
    file or several, and `action_head--*_checkpoint.pt` and `proprio_projector--*_checkpoint.pt` where it has them.

    The folder does not say how many actions a chunk has (upstream: 8 in LIBERO, 5 for Bridge, 25 for ALOHA), nor which
    statistics are -1 and 1 (for ALOHA `("min", "max")`). `dataset` chooses among several. `ConfigError` where it is not
    such a folder.
    """
    place, chunk = Path(folder), whole_number("chunk", chunk, at_least=1)
    try:
        if strange := strange_file(place):
            raise ValueError(f"{strange.name} is neither a file nor a folder")
        for name, what in (("vision_backbone--", "FiLM"), ("noisy_action_projector--", "diffusion")):
            if _checkpoint(place, name):
                raise ValueError(f"it was trained with {what}, which is not supported")
        action, state = _ranges(_read(place / "dataset_statistics.json"), dataset, bounds)
        weights, told = _weights(place), _read(place / "config.json")
        spec = read_spec(told, _read(place / "preprocessor_config.json"), weights, chunk, len(action.low))
        if spec.state_numbers and (state is None or len(state.low) != spec.state_numbers):
            raise ValueError(f"dataset_statistics.json must have {spec.state_numbers} numbers of the robot's state")
        network = empty_network(spec, weights)
        network.load_state_dict({name: part.to(dtype) for name, part in weights.items()}, assign=True)
    except Exception as error:  # a damaged folder fails in as many ways as there are file formats
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error).partition("\n")[0]
        raise ConfigError(f"{place} holds no OpenVLA-OFT policy that can be read: {why}") from error
    return LoadedOFT(network.eval(), action, state)


def empty_network(spec: OFTSpec, weights: Mapping[str, Tensor]) -> OpenVLAOFT:
    """A network without memory that takes these weights; `ValueError` where names or shapes differ."""
    with torch.device("meta"):
        network = OpenVLAOFT(spec)
    wanted = network.state_dict()
    for what, names in (("lack", wanted.keys() - weights.keys()), ("have a foreign", weights.keys() - wanted.keys())):
        if names:
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            raise ValueError(f"its weights {what} {min(names)}{more}")
    for name, part in wanted.items():
        if part.shape != weights[name].shape:
            raise ValueError(f"{name} must be of the shape {tuple(part.shape)}; got {tuple(weights[name].shape)}")
    return network


def read_spec(
    told: dict[str, Any], pixels: dict[str, Any], weights: Mapping[str, Tensor], chunk: int, numbers: int
) -> OFTSpec:
    """From `config.json`, `preprocessor_config.json` and the weights that are used: sizes of the Llama are told, those
    of all else are the weights'."""
    text = {**LLAMA, **told["text_config"]}
    strategy = {"image_resize_strategy": pixels["image_resize_strategy"]}
    for part, supported in ((told, SUPPORTED), (strategy, SUPPORTED), (text, LLAMA_SUPPORTED)):
        for name, values in supported.items():
            if part.get(name, values[0]) not in values:
                raise ValueError(f"{name} must be {' or '.join(map(repr, values))}; got {part[name]!r}")
    layers = _depth(weights, "language_model.model.layers.")
    if layers != text["num_hidden_layers"]:
        raise ValueError(f"num_hidden_layers must be {layers}, as in the weights; got {text['num_hidden_layers']!r}")
    dino, siglip = (_eye(weights, f"vision_backbone.{name}.") for name in ("featurizer", "fused_featurizer"))
    if (dino.patch, dino.places) != (siglip.patch, siglip.places):
        raise ValueError("both vision transformers must divide pictures alike")
    head, state = (weights.get(name) for name in ("action_head.model.fc2.weight", "proprio_projector.fc1.weight"))
    if head is None and any(name.startswith("action_head.") for name in weights):
        raise ValueError("its action head must be one of L1 regression")
    mean, std = (msgspec.convert(pixels[name], tuple[Colours, Colours]) for name in ("means", "stds"))
    return OFTSpec(
        dino=dino,
        siglip=siglip,
        text=msgspec.convert({"num_key_value_heads": text["num_attention_heads"], **text}, Llama),
        layers=layers,
        pixel_mean=mean,
        pixel_std=std,
        chunk=chunk,
        action_numbers=numbers,
        state_numbers=0 if state is None else state.shape[1],
        regression=head is not None,
        action_bins=told.get("n_action_bins", 256),
        spare_ids=told.get("pad_to_multiple_of", 64),
    )


def used(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Of upstream's weights those that are computed with: nothing behind the last block but one of either eye."""
    found = dict(weights)
    for eye in ("vision_backbone.featurizer.", "vision_backbone.fused_featurizer."):
        last = f"{eye}blocks.{_depth(found, f'{eye}blocks.') - 1}."
        unused = (last, f"{eye}norm.", f"{eye}attn_pool.")
        found = {name: part for name, part in found.items() if not name.startswith(unused)}
    return found


def _eye(weights: Mapping[str, Tensor], prefix: str) -> Eye:
    registers = weights.get(f"{prefix}reg_token")
    proj = weights[f"{prefix}patch_embed.proj.weight"]
    return Eye(
        width=proj.shape[0],
        inside=weights[f"{prefix}blocks.0.mlp.fc1.weight"].shape[0],
        patch=proj.shape[-1],
        places=weights[f"{prefix}pos_embed"].shape[1],
        blocks=_depth(weights, f"{prefix}blocks."),
        registers=0 if registers is None else registers.shape[1],
    )


def _depth(weights: Mapping[str, Tensor], prefix: str) -> int:
    """How many numbered parts there are."""
    return len({name[len(prefix) :].split(".")[0] for name in weights if name.startswith(prefix)})


def _read(path: Path) -> dict[str, Any]:
    return json.loads(read_regular(path))


def _checkpoint(place: Path, name: str) -> Path | None:
    """The one file of a part that is kept beside the safetensors."""
    found = sorted(place.glob(f"{name}*checkpoint.pt"))
    if len(found) > 1:
        raise ValueError(f"it must hold one file {name}*checkpoint.pt; got {len(found)}")
    return found[0] if found else None


def _ranges(told: dict[str, Any], dataset: str | None, bounds: tuple[str, str]) -> tuple[Range, Range | None]:
    """Of actions and, where there is one, of the robot's state."""
    if (dataset is None and len(told) != 1) or (dataset is not None and dataset not in told):
        raise ValueError(f"dataset must be one of {', '.join(sorted(told))}; got {dataset!r}")
    chosen = told[dataset or next(iter(told))]
    found = []
    for part in (chosen["action"], chosen.get("proprio")):
        if part is None:
            return found[0], None
        low, high = (torch.tensor(part[name], dtype=torch.float64) for name in bounds)
        found.append(Range(low, high, torch.tensor(part.get("mask", [True] * len(low)), dtype=torch.bool)))
        if any(numbers.shape != (len(low),) for numbers in found[-1]):
            raise ValueError(f"{bounds[0]}, {bounds[1]} and mask in dataset_statistics.json must be of one length")
    return found[0], found[1]


def _weights(place: Path) -> dict[str, Tensor]:
    """All that are used, by their names in `OpenVLAOFT`."""
    files = {"model.safetensors"}
    if (place / "model.safetensors.index.json").is_file():
        files = set(_read(place / "model.safetensors.index.json")["weight_map"].values())
    found: dict[str, Tensor] = {}
    for name in sorted(files):
        if Path(name).name != name:
            raise ValueError(f"a file of weights must lie in the folder; got {name!r}")
        found |= load_file(place / name)
    found = used(found)
    for part in ("action_head", "proprio_projector"):
        if path := _checkpoint(place, f"{part}--"):
            with open_regular(path) as file:
                read = torch.load(file, map_location="cpu", weights_only=True)
            found |= {f"{part}.{name.removeprefix('module.')}": tensor for name, tensor in read.items()}
    return found
