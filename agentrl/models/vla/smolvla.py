"""lerobot's SmolVLA: the same layout of weights, so that its `model.safetensors` can be read.

A SigLIP encoder looks at pictures, a connector makes fewer and wider tokens of their patches, and the lower layers of
a Llama read pictures, instruction and state. Beside them stands an *expert*, a narrower Llama: in each denoising step
its noisy actions look at the keys and values that the Llama computed once, in every second layer also at their own.

Names of modules are those of the layout. `SmolVLA` gives the velocity of a noisy chunk and the chunk that noise flows
to; tokens, normalised state and pictures from -1 to 1 are the caller's. Random weights were compared with lerobot's own
class (tests/models/vla); published ones were not tried.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import msgspec
import torch
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention, silu

from agentrl.core.errors import ConfigError
from agentrl.core.files import read_regular
from agentrl.models.vla.llama import Layer, Llama, attend, rotated

PREFIX = "model."  # of the names in lerobot's file, whose policy holds the network under this name
# Options that change the layout, and the values that are read (the first is lerobot's default). With fewer layers of
# the expert than of the language model lerobot 0.4.4 cannot compute either.
SUPPORTED = {
    "attention_mode": ("cross_attn",),
    "add_image_special_tokens": (False,),
    "prefix_length": (-1, 0),
    "num_expert_layers": (-1, 0),
}
UNUSED = ("model.vlm_with_expert.vlm.lm_head.", "model.vlm_with_expert.lm_expert.embed_tokens.")


class Tower(msgspec.Struct, frozen=True, kw_only=True):
    """The pictures' encoder, by the names of its configuration."""

    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    image_size: int
    patch_size: int
    num_channels: int = 3
    layer_norm_eps: float = 1e-6


class SmolVLASpec(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of lerobot's `config.json` that shape the network, and those of the vision-language model's."""

    vision: Tower
    text: Llama
    scale_factor: int = 4  # of the connector
    chunk_size: int = 50
    max_state_dim: int = 32
    max_action_dim: int = 32
    num_steps: int = 10
    num_vlm_layers: int = 16
    self_attn_every_n_layers: int = 2
    expert_width_multiplier: float = 0.75
    min_period: float = 4e-3
    max_period: float = 4.0

    @property
    def expert(self) -> Llama:
        """The narrower Llama."""
        width = int(self.text.hidden_size * self.expert_width_multiplier)
        inside = int(4 * int(2 * width / 3))
        return msgspec.structs.replace(
            self.text,
            hidden_size=width,
            intermediate_size=256 * math.ceil(inside / 256),
            head_dim=self.text.width_of_head,
        )


# ---------------------------------------------------------------------- pictures


class VisionAttention(nn.Module):
    """Patches look at each other."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        """[batch, patches, width]."""
        q, k, v = (
            proj(x).unflatten(2, (self.heads, -1)).transpose(1, 2) for proj in (self.q_proj, self.k_proj, self.v_proj)
        )
        return self.out_proj(scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2))


class VisionMLP(nn.Module):
    """Two layers."""

    def __init__(self, width: int, inside: int) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, inside), nn.Linear(inside, width)

    def forward(self, x: Tensor) -> Tensor:
        """With the approximation of GELU that SigLIP uses."""
        return self.fc2(nn.functional.gelu(self.fc1(x), approximate="tanh"))


class VisionLayer(nn.Module):
    """One layer of the encoder."""

    def __init__(self, tower: Tower) -> None:
        super().__init__()
        width, eps = tower.hidden_size, tower.layer_norm_eps
        self.self_attn = VisionAttention(width, tower.num_attention_heads)
        self.layer_norm1, self.layer_norm2 = nn.LayerNorm(width, eps), nn.LayerNorm(width, eps)
        self.mlp = VisionMLP(width, tower.intermediate_size)

    def forward(self, x: Tensor) -> Tensor:
        """[batch, patches, width]."""
        x = x + self.self_attn(self.layer_norm1(x))
        return x + self.mlp(self.layer_norm2(x))


class VisionModel(nn.Module):
    """Whole pictures of `image_size`."""

    def __init__(self, tower: Tower) -> None:
        super().__init__()
        width, patch = tower.hidden_size, tower.patch_size
        self.embeddings = nn.ModuleDict(
            {
                "patch_embedding": nn.Conv2d(tower.num_channels, width, patch, stride=patch),
                "position_embedding": nn.Embedding((tower.image_size // patch) ** 2, width),
            }
        )
        self.encoder = nn.ModuleDict(
            {"layers": nn.ModuleList(VisionLayer(tower) for _ in range(tower.num_hidden_layers))}
        )
        self.post_layernorm = nn.LayerNorm(width, tower.layer_norm_eps)

    def forward(self, pixels: Tensor) -> Tensor:
        """[batch, patches, width] from [batch, 3, height, width] between -1 and 1."""
        x = self.embeddings["patch_embedding"](pixels).flatten(2).transpose(1, 2)
        x = x + self.embeddings["position_embedding"].weight
        for layer in self.encoder["layers"]:  # pyright: ignore[reportGeneralTypeIssues]
            x = layer(x)
        return self.post_layernorm(x)


def shuffled(patches: Tensor, factor: int) -> Tensor:
    """Squares of factor x factor patches as one wide token each."""
    rows, count, width = patches.shape
    side = math.isqrt(count)
    x = patches.view(rows, side // factor, factor, side // factor, factor, width)
    return x.permute(0, 1, 3, 2, 4, 5).reshape(rows, count // factor**2, width * factor**2)


# ---------------------------------------------------------------------- the network


class SmolVLA(nn.Module):
    """The network of lerobot's `SmolVLAPolicy`."""

    def __init__(self, spec: SmolVLASpec) -> None:
        super().__init__()
        self.spec, text, expert = spec, spec.text, spec.expert
        keys = text.num_key_value_heads * text.width_of_head
        layers = [
            Layer(expert, None if self.looks_at_itself(number) else keys) for number in range(spec.num_vlm_layers)
        ]
        wide = spec.vision.hidden_size * spec.scale_factor**2
        projection = nn.ModuleDict({"proj": nn.Linear(wide, text.hidden_size, bias=False)})
        self.vlm_with_expert = nn.ModuleDict(
            {
                "vlm": nn.ModuleDict(
                    {
                        "model": nn.ModuleDict(
                            {
                                "vision_model": VisionModel(spec.vision),
                                "connector": nn.ModuleDict({"modality_projection": projection}),
                                "text_model": nn.ModuleDict(
                                    {
                                        "embed_tokens": nn.Embedding(text.vocab_size, text.hidden_size),
                                        "layers": nn.ModuleList(Layer(text) for _ in range(spec.num_vlm_layers)),
                                        "norm": nn.RMSNorm(text.hidden_size, text.rms_norm_eps),
                                    }
                                ),
                            }
                        )
                    }
                ),
                "lm_expert": nn.ModuleDict(
                    {"layers": nn.ModuleList(layers), "norm": nn.RMSNorm(expert.hidden_size, text.rms_norm_eps)}
                ),
            }
        )
        self.state_proj = nn.Linear(spec.max_state_dim, text.hidden_size)
        self.action_in_proj = nn.Linear(spec.max_action_dim, expert.hidden_size)
        self.action_out_proj = nn.Linear(expert.hidden_size, spec.max_action_dim)
        self.action_time_mlp_in = nn.Linear(2 * expert.hidden_size, expert.hidden_size)
        self.action_time_mlp_out = nn.Linear(expert.hidden_size, expert.hidden_size)

    def looks_at_itself(self, layer: int) -> bool:
        """Do the expert's actions look at each other in this layer, or at the observation alone?"""
        every = self.spec.self_attn_every_n_layers
        return every > 0 and layer % every == 0

    @property
    def parts(self) -> tuple[Any, Any]:
        """The vision-language model and the expert."""
        held: Any = self.vlm_with_expert
        return held["vlm"]["model"], held["lm_expert"]

    # ------------------------------------------------------------------ the observation

    def prefix(self, pictures: list[Tensor], words: Tensor, mask: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """The embedded observation, and where there is one: pictures [batch, 3, size, size] from -1 to 1, tokens and
        their mask [batch, length], state [batch, max_state_dim]."""
        model, _ = self.parts
        given = []
        for picture in pictures:
            seen = shuffled(model["vision_model"](picture), self.spec.scale_factor)
            found = model["connector"]["modality_projection"]["proj"](seen)
            given.append(found * found.shape[-1] ** 0.5)
        told = model["text_model"]["embed_tokens"](words)
        given += [told * math.sqrt(told.shape[-1]), self.state_proj(state)[:, None]]
        x = torch.cat(given, 1)
        there = mask.new_ones(x.shape[:2])
        there[:, -1 - mask.shape[1] : -1] = mask
        return x, there

    def memory(self, x: Tensor, there: Tensor) -> list[tuple[Tensor, Tensor]]:
        """Keys and values of every layer of the vision-language model."""
        model, _ = self.parts
        places = there.long().cumsum(1) - 1
        # Pictures and words see each other and not the state, which sees all.
        block = torch.zeros_like(there, dtype=torch.long)
        block[:, -1] = 1
        sees = (block[:, None] <= block[:, :, None]) & there[:, None] & there[:, :, None]
        sees = sees | ~sees.any(2, keepdim=True)  # padding sees anything: a softmax over nothing has no value
        found = []
        for layer in model["text_model"]["layers"]:
            x, keys, values = layer(x, places, sees)
            found.append((keys, values))
        return found

    # ------------------------------------------------------------------ the flow

    def velocity(self, noisy: Tensor, time: Tensor, memory: list[tuple[Tensor, Tensor]], there: Tensor) -> Tensor:
        """Of chunks [batch, chunk_size, max_action_dim] at times [batch]."""
        _, expert = self.parts
        x = self.action_in_proj(noisy)
        waves = time_waves(time, x.shape[-1], self.spec.min_period, self.spec.max_period).to(x.dtype)
        x = torch.cat([x, waves[:, None].expand_as(x)], 2)
        x = self.action_time_mlp_out(silu(self.action_time_mlp_in(x)))
        rows, count = x.shape[:2]
        steps = torch.arange(count, device=x.device).expand(rows, -1)
        places = there.sum(1, keepdim=True) + steps
        outside = there[:, None].expand(-1, count, -1)
        both = torch.cat([outside, (steps[:, None] <= steps[:, :, None])], 2)  # actions see those before them
        for number, (layer, (keys, values)) in enumerate(zip(expert["layers"], memory, strict=True)):
            normed, attention = layer.input_layernorm(x), layer.self_attn
            queries = attention.heads(attention.q_proj, normed)
            if self.looks_at_itself(number):
                own = rotated(attention.heads(attention.k_proj, normed), places)
                keys = torch.cat([keys, own], 1)
                values = torch.cat([values, attention.heads(attention.v_proj, normed)], 1)
                attended = attend(rotated(queries, places), keys, values, both)
            else:
                keys, values = (
                    attention.heads(proj, seen.flatten(2))
                    for proj, seen in ((attention.k_proj, keys), (attention.v_proj, values))
                )
                attended = attend(rotated(queries, steps), keys, values, outside)
            x = layer.after(x, attended)
        return self.action_out_proj(expert["norm"](x))

    @torch.no_grad()
    def sample(self, pictures: list[Tensor], words: Tensor, mask: Tensor, state: Tensor, noise: Tensor) -> Tensor:
        """The chunk that `noise` flows to, [batch, chunk_size, max_action_dim], normalised as in training."""
        x, there = self.prefix(pictures, words, mask, state)
        memory, steps = self.memory(x, there), self.spec.num_steps
        for number in range(steps):
            time = torch.full((len(noise),), 1 - number / steps, device=noise.device)
            noise = noise - self.velocity(noise, time, memory, there) / steps
        return noise


def time_waves(time: Tensor, width: int, shortest: float, longest: float) -> Tensor:
    """Sines and cosines of a time at periods between two lengths, [batch, width]."""
    share = torch.linspace(0.0, 1.0, width // 2, dtype=torch.float64, device=time.device)
    angle = 2 * math.pi / (shortest * (longest / shortest) ** share) * time[:, None].double()
    return torch.cat([angle.sin(), angle.cos()], 1)


# ---------------------------------------------------------------------- files


def load_smolvla(folder: str | Path, vlm_config: str | Path) -> SmolVLA:
    """The network of a folder that lerobot wrote (`config.json`, `model.safetensors`); `vlm_config` is the
    `config.json` of its vision-language model, which that folder only names. `ConfigError` where they do not fit."""
    place = Path(folder)
    try:
        told = json.loads(read_regular(place / "config.json"))
        sizes = json.loads(read_regular(Path(vlm_config)))
        if told.get("type") != "smolvla":
            raise ValueError(f"it is a policy of the type {told.get('type')!r}")
        for name, wanted in SUPPORTED.items():
            if told.get(name, wanted[0]) not in wanted:
                raise ValueError(f"{name} must be {wanted[0]!r}; got {told[name]!r}")
        own = {name: told[name] for name in SmolVLASpec.__struct_fields__ if name in told}
        parts = {"vision": sizes["vision_config"], "text": sizes["text_config"]}
        spec = msgspec.convert({**own, **parts, "scale_factor": sizes.get("scale_factor", 4)}, SmolVLASpec)
        network = SmolVLA(spec)
        weights = {
            name: part for name, part in load_file(place / "model.safetensors").items() if name.startswith(PREFIX)
        }
        kept = {name.removeprefix(PREFIX): part for name, part in weights.items() if not name.startswith(UNUSED)}
        network.load_state_dict({name: part.float() for name, part in kept.items()})
    except (OSError, KeyError, ValueError, RuntimeError, AttributeError) as error:
        raise ConfigError(f"{place} holds no SmolVLA policy that fits {vlm_config}: {error}") from error
    return network.eval()
