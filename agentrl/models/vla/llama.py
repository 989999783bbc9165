"""The layers of a Llama, named as its published weights are: what the layouts of published policies share."""

from __future__ import annotations

import msgspec
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention, silu


class Llama(msgspec.Struct, frozen=True, kw_only=True):
    """The sizes of a Llama, by the names of its configuration."""

    hidden_size: int
    intermediate_size: int
    num_attention_heads: int
    num_key_value_heads: int
    vocab_size: int
    rms_norm_eps: float = 1e-5
    head_dim: int | None = None

    @property
    def width_of_head(self) -> int:
        """Numbers of an attention head."""
        return self.head_dim or self.hidden_size // self.num_attention_heads


class Attention(nn.Module):
    """The projections of a layer; who looks at whom is decided outside."""

    def __init__(self, spec: Llama, seen: int | None = None) -> None:
        super().__init__()
        self.head_dim = spec.width_of_head
        own, keys = spec.num_attention_heads * self.head_dim, spec.num_key_value_heads * self.head_dim
        self.q_proj = nn.Linear(spec.hidden_size, own, bias=False)
        self.k_proj = nn.Linear(seen or spec.hidden_size, keys, bias=False)
        self.v_proj = nn.Linear(seen or spec.hidden_size, keys, bias=False)
        self.o_proj = nn.Linear(own, spec.hidden_size, bias=False)

    def heads(self, projection: nn.Linear, x: Tensor) -> Tensor:
        """[batch, length, heads, head_dim]."""
        return projection(x).unflatten(2, (-1, self.head_dim))


class MLP(nn.Module):
    """SwiGLU."""

    def __init__(self, spec: Llama) -> None:
        super().__init__()
        self.gate_proj, self.up_proj = (
            nn.Linear(spec.hidden_size, spec.intermediate_size, bias=False) for _ in range(2)
        )
        self.down_proj = nn.Linear(spec.intermediate_size, spec.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """[..., width]."""
        return self.down_proj(silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """A layer; `seen` is the width of what a cross-attending one looks at."""

    def __init__(self, spec: Llama, seen: int | None = None) -> None:
        super().__init__()
        self.self_attn = Attention(spec, seen)
        self.mlp = MLP(spec)
        self.input_layernorm = nn.RMSNorm(spec.hidden_size, spec.rms_norm_eps)
        self.post_attention_layernorm = nn.RMSNorm(spec.hidden_size, spec.rms_norm_eps)

    def forward(self, x: Tensor, places: Tensor, sees: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Output, keys and values of [batch, length, width] that looks at itself, with its places in the sequence."""
        normed, attention = self.input_layernorm(x), self.self_attn
        queries, keys = (
            rotated(attention.heads(proj, normed), places) for proj in (attention.q_proj, attention.k_proj)
        )
        values = attention.heads(attention.v_proj, normed)
        return self.after(x, attend(queries, keys, values, sees)), keys, values

    def after(self, x: Tensor, attended: Tensor) -> Tensor:
        """What follows the attention [batch, length, heads * head_dim]."""
        x = x + self.self_attn.o_proj(attended)
        return x + self.mlp(self.post_attention_layernorm(x))


def attend(queries: Tensor, keys: Tensor, values: Tensor, sees: Tensor) -> Tensor:
    """[batch, length, heads * head_dim]; `sees` [batch, queries, keys], or 1 for all queries."""
    groups = queries.shape[2] // keys.shape[2]
    k, v = (x.repeat_interleave(groups, 2).transpose(1, 2) for x in (keys, values))
    found = scaled_dot_product_attention(queries.transpose(1, 2), k, v, attn_mask=sees[:, None])
    return found.transpose(1, 2).flatten(2)


def rotated(x: Tensor, places: Tensor, longest: float = 10_000.0) -> Tensor:
    """Rotary positions of [batch, length, heads, head_dim]."""
    half = x.shape[-1] // 2
    scale = longest ** (torch.arange(half, device=x.device, dtype=torch.float32) / half)
    angle = (places[..., None].float() / scale)[:, :, None]
    first, second = x.float().split(half, -1)
    sin, cos = angle.sin(), angle.cos()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1).to(x.dtype)
