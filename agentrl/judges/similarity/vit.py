"""The vision transformer that DINO, DINOv2, CLIP, OpenCLIP and SynCLR share, for inference.

Its parameters are named as in the published checkpoints of DreamSim's backbones, and its sizes are read off them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

HEAD = 64  # the width of an attention head in all of these models


class QuickGELU(nn.Module):
    """CLIP's own approximation of GELU."""

    def forward(self, x: Tensor) -> Tensor:
        """Element by element."""
        return x * torch.sigmoid(1.702 * x)


class Attention(nn.Module):
    """Every token looks at all tokens."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.heads = width // HEAD
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, tokens: Tensor) -> Tensor:
        """[n, tokens, width] -> the same."""
        n, count, width = tokens.shape
        query, key, value = self.qkv(tokens).view(n, count, 3, self.heads, HEAD).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(query, key, value)
        return self.proj(seen.transpose(1, 2).reshape(n, count, width))


class Perceptron(nn.Module):
    """Each token by itself."""

    def __init__(self, width: int, hidden: int, quick_gelu: bool) -> None:
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.act = QuickGELU() if quick_gelu else nn.GELU()

    def forward(self, tokens: Tensor) -> Tensor:
        """[n, tokens, width] -> the same."""
        return self.fc2(self.act(self.fc1(tokens)))


class Scale(nn.Module):
    """DINOv2's learned factor on what a layer adds."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))

    def forward(self, tokens: Tensor) -> Tensor:
        """Channel by channel."""
        return tokens * self.gamma


class Block(nn.Module):
    """One layer: attention, then the perceptron, each added to what was there."""

    def __init__(self, width: int, hidden: int, quick_gelu: bool, scaled: bool, epsilon: float) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width, epsilon), nn.LayerNorm(width, epsilon)
        self.attn, self.mlp = Attention(width), Perceptron(width, hidden, quick_gelu)
        self.ls1, self.ls2 = (Scale(width) if scaled else nn.Identity() for _ in range(2))

    def forward(self, tokens: Tensor) -> Tensor:
        """[n, tokens, width] -> the same."""
        tokens = tokens + self.ls1(self.attn(self.norm1(tokens)))
        return tokens + self.ls2(self.mlp(self.norm2(tokens)))


class VisionTransformer(nn.Module):
    """Pictures cut into patches; a class token stands before them."""

    def __init__(self, state: Mapping[str, Tensor], *, quick_gelu: bool = False, epsilon: float = 1e-6) -> None:
        super().__init__()
        width, channels, patch, _ = state["patch_embed.proj.weight"].shape
        if width % HEAD:
            raise ValueError(f"the width must be a multiple of {HEAD}; got {width}")
        depth = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("blocks."))
        hidden, scaled = state["blocks.0.mlp.fc1.weight"].shape[0], "blocks.0.ls1.gamma" in state
        self.patch_embed = nn.ModuleDict({"proj": nn.Conv2d(channels, width, patch, stride=patch)})
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.zeros(state["pos_embed"].shape))
        # CLIP normalises before the first block; the checkpoints keep that under this name.
        self.pos_drop = nn.LayerNorm(width, epsilon) if "pos_drop.weight" in state else nn.Identity()
        self.blocks = nn.ModuleList(Block(width, hidden, quick_gelu, scaled, epsilon) for _ in range(depth))
        self.norm = nn.LayerNorm(width, epsilon)
        self.load_state_dict({name: tensor for name, tensor in state.items() if name != "mask_token"})

    def forward(self, pixels: Tensor) -> Tensor:
        """[n, 3, height, width] -> the last block's tokens, not normalised: [n, 1 + patches, width]."""
        patches = self.patch_embed["proj"](pixels)
        tokens = torch.cat([self.cls_token.expand(len(pixels), -1, -1), patches.flatten(2).transpose(1, 2)], dim=1)
        tokens = self.pos_drop(tokens + self._positions(patches.shape[2], patches.shape[3]))
        for block in self.blocks:
            tokens = block(tokens)
        return tokens

    def _positions(self, rows: int, columns: int) -> Tensor:
        """The learned positions; stretched over another grid when the picture's is not the one of training."""
        first, others = self.pos_embed[:, :1], self.pos_embed[:, 1:]
        side = math.isqrt(others.shape[1])
        if rows == columns == side:
            return self.pos_embed
        grid = others.reshape(1, side, side, -1).permute(0, 3, 1, 2)
        # A tenth too many, rounded down again: how DINO and DINOv2 guard against rounding. It moves the values a
        # little, so the same must be done here.
        factor = ((rows + 0.1) / side, (columns + 0.1) / side)
        grid = functional.interpolate(grid, scale_factor=factor, mode="bicubic")
        return torch.cat([first, grid.permute(0, 2, 3, 1).flatten(1, 2)], dim=1)
