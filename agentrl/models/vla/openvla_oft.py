"""OpenVLA-OFT: the layout of its published policies, read and computed by classes of our own.

Two vision transformers, DINOv2 with registers and SigLIP, look at every picture; a projector makes a token of each pair
of their patches. A Llama reads

    BOS, patches of all pictures, the robot's state, prompt, a zero for each number of the chunk, end of text

in one pass, and *every token sees every other one*, those behind it too: upstream's fork of transformers gives all rows
of the mask of `scaled_dot_product_attention` what its last row has. Only padding is not seen. Outputs are read one
place to the left, as a language model's are: from the end of the prompt to the last zero but one. Those of an action
together go through a head that was trained by L1 regression. Without such a head each is a token, the likeliest of the
whole vocabulary, whose last 256 ids stand for numbers from -1 to 1.

Names of modules are those of the layout. Tokens and pictures of the right size are the caller's: upstream compresses
pictures of LIBERO as JPEG, resizes them to 224 x 224 with TensorFlow's Lanczos filter, and enlarges the middle 90 % of
their area. Random weights were compared with upstream's own classes (benchmarks/vla_layouts.py); published ones, of 7
billion numbers, were not tried. FiLM and diffusion are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import torch
from torch import Tensor, nn
from torch.nn.functional import gelu, relu, scaled_dot_product_attention

from agentrl.core.errors import ConfigError
from agentrl.models.vla.llama import Layer, Llama

EMPTY, STOP = 29871, 2  # tokens of Llama 2: the empty piece that ends every prompt, and the end of text
HEADS = 16  # of attention, in both vision transformers
HEAD_BLOCKS = 2
Colours = tuple[float, float, float]


class Eye(msgspec.Struct, frozen=True, kw_only=True):
    """The sizes of a vision transformer."""

    width: int
    inside: int
    patch: int
    places: int  # patches of a picture
    blocks: int  # that are computed: all but the last
    registers: int = 0  # with them come a class token and scales of the layers, as in DINOv2


class OFTSpec(msgspec.Struct, frozen=True, kw_only=True):
    """What shapes the network."""

    dino: Eye
    siglip: Eye
    text: Llama
    layers: int
    pixel_mean: tuple[Colours, Colours]  # for either vision transformer
    pixel_std: tuple[Colours, Colours]
    chunk: int = 8
    action_numbers: int = 7
    state_numbers: int = 0  # 0: it does not read the robot's state
    regression: bool = True  # else tokens
    action_bins: int = 256
    spare_ids: int = 64  # behind the vocabulary, which is filled up to a multiple of it

    @property
    def side(self) -> int:
        """Pixels of a picture's side."""
        return round(self.dino.places**0.5) * self.dino.patch


# ---------------------------------------------------------------------- pictures


class LayerScale(nn.Module):
    """A factor for each feature."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scale_factor = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """[..., width]."""
        return x * self.scale_factor


class Block(nn.Module):
    """A layer of a vision transformer."""

    def __init__(self, eye: Eye) -> None:
        super().__init__()
        width = eye.width
        self.norm1, self.norm2 = nn.LayerNorm(width, 1e-6), nn.LayerNorm(width, 1e-6)
        self.attn = nn.ModuleDict({"qkv": nn.Linear(width, 3 * width), "proj": nn.Linear(width, width)})
        self.mlp = nn.ModuleDict({"fc1": nn.Linear(width, eye.inside), "fc2": nn.Linear(eye.inside, width)})
        self.ls1, self.ls2 = (LayerScale(width) if eye.registers else nn.Identity() for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        """[batch, tokens, width]."""
        parts = self.attn["qkv"](self.norm1(x)).unflatten(2, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        x = x + self.ls1(self.attn["proj"](scaled_dot_product_attention(*parts).transpose(1, 2).flatten(2)))
        return x + self.ls2(self.mlp["fc2"](gelu(self.mlp["fc1"](self.norm2(x)))))


class Featurizer(nn.Module):
    """A vision transformer as timm names it, without its last block, whose output is not used."""

    def __init__(self, eye: Eye) -> None:
        super().__init__()
        self.patch_embed = nn.ModuleDict({"proj": nn.Conv2d(3, eye.width, eye.patch, stride=eye.patch)})
        self.pos_embed = nn.Parameter(torch.randn(1, eye.places, eye.width))
        self.before = ("cls_token", "reg_token") if eye.registers else ()
        for name, count in zip(self.before, (1, eye.registers), strict=False):
            self.register_parameter(name, nn.Parameter(torch.randn(1, count, eye.width)))
        self.blocks = nn.ModuleList(Block(eye) for _ in range(eye.blocks))

    def forward(self, pixels: Tensor) -> Tensor:
        """[batch, places, width] from [batch, 3, side, side]."""
        x = self.patch_embed["proj"](pixels).flatten(2).transpose(1, 2) + self.pos_embed
        count = x.shape[1]
        x = torch.cat([*(getattr(self, name).expand(len(x), -1, -1) for name in self.before), x], 1)
        for block in self.blocks:
            x = block(x)
        return x[:, -count:]


# ---------------------------------------------------------------------- the network


class Projector(nn.Module):
    """Linear layers fc1, fc2, ... with GELU between them."""

    def __init__(self, *widths: int) -> None:
        super().__init__()
        self.names = tuple(f"fc{number}" for number in range(1, len(widths)))
        for name, before, after in zip(self.names, widths, widths[1:], strict=False):
            self.add_module(name, nn.Linear(before, after))

    def forward(self, x: Tensor) -> Tensor:
        """[..., the last width]."""
        for name in self.names:
            x = getattr(self, name)(x if name == "fc1" else gelu(x))
        return x


class ActionHead(nn.Module):
    """An action's numbers from the outputs of all its places."""

    def __init__(self, spec: OFTSpec) -> None:
        super().__init__()
        width = spec.text.hidden_size
        given = width * spec.action_numbers
        blocks = (nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.ReLU()) for _ in range(HEAD_BLOCKS))
        self.model = nn.ModuleDict(
            {
                "layer_norm1": nn.LayerNorm(given),
                "fc1": nn.Linear(given, width),
                "mlp_resnet_blocks": nn.ModuleList(nn.ModuleDict({"ffn": block}) for block in blocks),
                "layer_norm2": nn.LayerNorm(width),
                "fc2": nn.Linear(width, spec.action_numbers),
            }
        )

    def forward(self, x: Tensor) -> Tensor:
        """[batch, chunk, numbers] from [batch, chunk, numbers * width]."""
        parts: Any = self.model
        x = relu(parts["fc1"](parts["layer_norm1"](x)))
        for block in parts["mlp_resnet_blocks"]:
            x = x + block["ffn"](x)
        return parts["fc2"](parts["layer_norm2"](x))


class OpenVLAOFT(nn.Module):
    """Upstream's `OpenVLAForActionPrediction` with its action head and its projector of the robot's state."""

    def __init__(self, spec: OFTSpec) -> None:
        super().__init__()
        self.spec, text = spec, spec.text
        eyes, width = spec.dino.width + spec.siglip.width, text.hidden_size
        self.vision_backbone = nn.ModuleDict(
            {"featurizer": Featurizer(spec.dino), "fused_featurizer": Featurizer(spec.siglip)}
        )
        self.projector = Projector(eyes, 4 * eyes, width, width)
        model = {
            "embed_tokens": nn.Embedding(text.vocab_size, width),
            "layers": nn.ModuleList(Layer(text) for _ in range(spec.layers)),
            "norm": nn.RMSNorm(width, text.rms_norm_eps),
        }
        self.language_model: Any = nn.ModuleDict(
            {"model": nn.ModuleDict(model), "lm_head": nn.Linear(width, text.vocab_size, bias=False)}
        )
        self.proprio_projector = Projector(spec.state_numbers, width, width) if spec.state_numbers else None
        self.action_head = ActionHead(spec) if spec.regression else None

    def patches(self, picture: Tensor) -> Tensor:
        """Tokens of a picture, uint8 [batch, side, side, 3]."""
        side, x = self.spec.side, picture.permute(0, 3, 1, 2).float() / 255
        if x.shape[1:] != (3, side, side):
            raise ConfigError(f"a picture must be of {side} x {side} pixels and 3 colours; got {tuple(picture.shape)}")
        found = []
        for eye, mean, std in zip(
            self.vision_backbone.values(), self.spec.pixel_mean, self.spec.pixel_std, strict=True
        ):
            middle, spread = (x.new_tensor(numbers)[:, None, None] for numbers in (mean, std))
            found.append(eye(((x - middle) / spread).to(self.language_model["lm_head"].weight.dtype)))
        return self.projector(torch.cat(found, 2))

    def outputs(self, pictures: Sequence[Tensor], prompts: Sequence[Sequence[int]], state: Tensor | None) -> Tensor:
        """What a chunk is read from, [batch, chunk * numbers, width]."""
        model, count = self.language_model["model"], self.spec.chunk * self.spec.action_numbers
        if (state is None) != (self.proprio_projector is None):
            wanted = "must" if self.proprio_projector is not None else "must not"
            raise ConfigError(f"the robot's state {wanted} be given to this policy")
        given = [self.patches(picture) for picture in pictures]
        if state is not None and self.proprio_projector is not None:
            given.append(self.proprio_projector(state.to(given[0]))[:, None])
        before = torch.cat(given, 1)
        words, there = prompt_table(prompts, before.device)
        told = model["embed_tokens"](words)
        stop = model["embed_tokens"](words.new_full((len(words), 1), STOP))
        zeros = torch.zeros_like(stop).expand(-1, count, -1)
        x = torch.cat([told[:, :1], before, told[:, 1:], zeros, stop], 1)
        seen = there.new_ones(x.shape[:2])
        seen[:, 1 + before.shape[1] : -count - 1] = there[:, 1:]
        places = seen.long().cumsum(1) - 1
        for layer in model["layers"]:
            x, _, _ = layer(x, places, seen[:, None])
        return model["norm"](x[:, -count - 2 : -2])

    @torch.no_grad()
    def chunk(
        self, pictures: Sequence[Tensor], prompts: Sequence[Sequence[int]], state: Tensor | None = None
    ) -> Tensor:
        """The normalised chunk, [batch, chunk, numbers]: pictures as in `patches`, tokens of prompts (with BOS, of
        "In: What action should the robot take to TASK?\\nOut:"), the normalised state [batch, numbers]."""
        spec, x = self.spec, self.outputs(pictures, prompts, state)
        if self.action_head is not None:
            return self.action_head(x.unflatten(1, (spec.chunk, -1)).flatten(2)).float()
        return self.numbers(self.language_model["lm_head"](x).argmax(2)).unflatten(1, (spec.chunk, -1))

    def numbers(self, ids: Tensor) -> Tensor:
        """What tokens stand for, float64: the middles of the 255 bins between upstream's 256 numbers, the last id's
        first; tokens that are none of actions count as the nearest."""
        bins = self.spec.action_bins - 1
        found = (self.spec.text.vocab_size - self.spec.spare_ids - 1 - ids).clamp(0, bins - 1)
        return (2 * found + 1).double() / bins - 1


def prompt_table(prompts: Sequence[Sequence[int]], device: Any) -> tuple[Tensor, Tensor]:
    """Tokens [batch, length] and where they are: each row ends with the empty piece, and padding follows BOS, so that
    all rows end in the same column."""
    rows = [[*row, EMPTY] if row[-1] != EMPTY else [*row] for row in prompts]
    width = max(map(len, rows))
    words, there = torch.zeros(len(rows), width, dtype=torch.long), torch.ones(len(rows), width, dtype=torch.bool)
    for number, row in enumerate(rows):
        behind = width - len(row) + 1
        words[number, 0], words[number, behind:] = row[0], torch.tensor(row[1:])
        there[number, 1:behind] = False
    return words.to(device), there.to(device)


class Range(NamedTuple):
    """What is -1 and what is 1 of each number; where `mask` is false, numbers are as they are."""

    low: Tensor
    high: Tensor
    mask: Tensor

    def back(self, scaled: Tensor) -> Tensor:
        """The robot's numbers."""
        return torch.where(self.mask, (scaled + 1) / 2 * (self.high - self.low + 1e-8) + self.low, scaled)

    def scaled(self, numbers: Tensor) -> Tensor:
        """Numbers from -1 to 1; what lies outside is clipped."""
        found = 2 * (numbers - self.low) / (self.high - self.low + 1e-8) - 1
        return torch.where(self.mask, found, numbers).clamp(-1, 1)
