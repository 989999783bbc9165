"""Decoding steps of Llama-like models by the kernels of `triton_kernels`: five a layer where modules need about forty.

The kernels read the model's own weights where they lie. Nothing is fused ahead of time and nothing copied, so a trainer
that changes weights in place changes what the steps compute, with nothing to refresh.
"""

from __future__ import annotations

import importlib.util
import logging
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from agentrl.models.float32_head import Float32Head
from agentrl.models.sampling import BLOCK, Sampling

log = logging.getLogger(__name__)

KINDS = ("llama", "qwen2", "qwen3")
ROTATIONS = ("default", "linear", "llama3", "yarn")  # others depend on the length of the text
HEAD_SIZES = (16, 32, 64, 128, 256)
SPLITS, FEW, LONG = 4, 256, 512  # keys are read in so many pieces where heads of rows are few and keys many
QUERIES = 16  # of a program of the attention: the least that a matrix product takes


class Tiles(NamedTuple):
    """The block of one program: rows, columns, how much of the inner dimension at a time; and how it is run."""

    rows: int
    columns: int
    inner: int
    warps: int = 4
    stages: int = 3

    @property
    def launch(self) -> dict[str, int]:
        """Arguments of its launch."""
        return {"num_warps": self.warps, "num_stages": self.stages}


class StepTiles(NamedTuple):
    """Of each kernel of a step."""

    qkv: Tiles
    attention: Tiles  # rows: read together; columns: keys at a time
    out: Tiles
    up: Tiles
    down: Tiles
    vocabulary: Tiles


# By how many rows there are, at most.
TILES = {
    16: StepTiles(
        qkv=Tiles(16, 0, 64),
        attention=Tiles(0, 64, 0),
        out=Tiles(16, 16, 0),
        up=Tiles(16, 32, 64),
        down=Tiles(16, 16, 128),
        vocabulary=Tiles(16, 128, 64),
    ),
    256: StepTiles(
        qkv=Tiles(32, 0, 64),
        attention=Tiles(0, 64, 0),
        out=Tiles(32, 32, 0),
        up=Tiles(64, 64, 64),
        down=Tiles(32, 32, 128),
        vocabulary=Tiles(128, 128, 64, 8),
    ),
    1 << 30: StepTiles(
        qkv=Tiles(64, 0, 64),
        attention=Tiles(0, 64, 0),
        out=Tiles(64, 64, 0),
        up=Tiles(128, 64, 64, 8),
        down=Tiles(64, 64, 64),
        vocabulary=Tiles(128, 128, 64, 8),
    ),
}


def why_unsuited(model: Any) -> str | None:
    """Why the kernels cannot compute this model; None: they can."""
    config = model.config
    if config.model_type not in KINDS:
        return f"model_type must be one of {', '.join(KINDS)}; got {config.model_type}"
    rotation = config.rope_parameters
    if rotation["rope_type"] not in ROTATIONS or rotation.get("partial_rotary_factor", 1.0) != 1.0:
        return f"rope_type must be one of {', '.join(ROTATIONS)}, for whole heads; got {rotation}"
    attention, mlp, head = model.model.layers[0].self_attn, model.model.layers[0].mlp, model.get_output_embeddings()
    if attention.head_dim not in HEAD_SIZES:
        return f"head_dim must be one of {HEAD_SIZES}; got {attention.head_dim}"
    if attention.num_key_value_groups > QUERIES:
        return f"a key head must have at most {QUERIES} heads of queries; got {attention.num_key_value_groups}"
    if config.hidden_act != "silu":
        return f"hidden_act must be silu; got {config.hidden_act}"
    if any(linear.bias is not None for linear in (attention.o_proj, mlp.gate_proj, mlp.down_proj, head)):
        return "only queries, keys and values may have biases"
    plain = {nn.Linear, Float32Head}
    kinds = {type(part) for name, part in model.named_modules() if name.endswith(("_proj", "lm_head"))}
    if not kinds <= plain:
        return f"its linear layers must be plain; got {', '.join(sorted(kind.__name__ for kind in kinds - plain))}"
    if {weight.dtype for weight in model.parameters()} != {model.dtype} or getattr(head, "rounded", 0) not in (
        0,
        model.dtype,
    ):
        return "all weights must have one type"
    return None


def fused_steps(model: Any) -> FusedSteps | None:
    """For a model that generates on a GPU in a narrow type; None where the kernels do not apply."""
    if model.device.type != "cuda" or model.dtype == torch.float32 or importlib.util.find_spec("triton") is None:
        return None
    if reason := why_unsuited(model):
        log.info("generating by the model's own modules: %s", reason)
        return None
    from agentrl.models import triton_kernels

    return FusedSteps(model, triton_kernels)


class Stream(NamedTuple):
    """The residual stream in float32, and the sums of squares of pieces of each row."""

    states: Tensor
    squares: Tensor


class Logits(NamedTuple):
    """Of each row, in float32; and for blocks of tokens the highest over the temperature, and the sum below it."""

    logits: Tensor
    tops: Tensor
    sums: Tensor


class FusedSteps:
    """Steps of one model. Lanes are those of `decoding`; their tensors are changed in place."""

    def __init__(self, model: Any, kernels: Any) -> None:
        self.model, self.kernels = model, kernels
        first = model.model.layers[0].self_attn
        self.head_size, self.group = first.head_dim, first.num_key_value_groups
        self.heads = first.q_proj.weight.shape[0] // self.head_size
        self.kv_heads, self.scale = self.heads // self.group, first.scaling
        positions = torch.arange(model.config.max_position_embeddings, device=model.device)[None]
        self.cos, self.sin = (table[0] for table in model.model.rotary_emb(model.model.norm.weight, positions))
        self.tiles = TILES
        overlap = model.device.type == "cuda" and torch.cuda.get_device_capability(model.device) >= (9, 0)
        self.overlap = {"PDL": True, "launch_pdl": True} if overlap else {"PDL": False}

    def logits(self, lanes: Any, temperature: float) -> Logits:
        """Read each lane's token, write its keys and values, and say what may come next."""
        tiles = next(found for most, found in self.tiles.items() if lanes.rows <= most)
        stream = self._embed(lanes)
        for index, layer in enumerate(self.model.model.layers):
            stream = self._attend(lanes, index, layer.input_layernorm, layer.self_attn, stream, tiles)
            stream = self._feed_forward(layer.post_attention_layernorm, layer.mlp, stream, tiles)
        return self._vocabulary(stream.states, temperature, tiles.vocabulary)

    def draw(self, lanes: Any, found: Logits, how: Sampling, stops: Tensor) -> None:
        """Draw a token for each lane, write it down and move on."""
        (rows, blocks), steps = found.tops.shape, lanes.tokens.shape[1]
        done, going = lanes.done.view(torch.uint8), lanes.going.view(torch.uint8)
        self.kernels.draw[(rows,)](
            *found, lanes.noise, stops, lanes.limits, lanes.step, lanes.token, lanes.tokens, lanes.logprobs,
            done, lanes.position, found.logits.shape[1], blocks, steps, len(stops), how.temperature,
            GREEDY=how.greedy, BLOCKS=_power_of_two(blocks), BN=BLOCK, STOPS=_power_of_two(len(stops)), **self.overlap,
        )  # fmt: skip
        self.kernels.advance[(1,)](done, going, lanes.slot, lanes.step, rows, BLOCK=1024, **self.overlap)

    def _embed(self, lanes: Any) -> Stream:
        table = self.model.model.embed_tokens.weight
        stream = Stream(self._float32(lanes.rows, table.shape[1]), self._float32(lanes.rows, 1))
        shape = {"BLOCK": _power_of_two(table.shape[1]), **self.overlap}
        self.kernels.embed[(lanes.rows,)](lanes.token, table, *stream, table.shape[1], **shape)
        return stream

    def _attend(self, lanes: Any, index: int, norm: Any, layer: Any, stream: Stream, tiles: StepTiles) -> Stream:
        (rows, width), pieces = stream.states.shape, stream.squares.shape[1]
        room, size = lanes.key_values, self.head_size
        (keys, values), (prefix_keys, prefix_values) = room.own[index], room.shared[index]
        linear = (layer.q_proj, layer.k_proj, layer.v_proj)
        weights = [part.weight for part in linear]
        biases = [part.weight if part.bias is None else part.bias for part in linear]
        norms = [getattr(layer, name, norm).weight for name in ("q_norm", "k_norm")]
        queries = keys.new_empty(rows, self.heads, size)
        qkv, reading, out = tiles.qkv, tiles.attention, tiles.out
        self.kernels.project_qkv[(_blocks(rows, qkv.rows), self.heads + 2 * self.kv_heads)](
            *stream, norm.weight, *weights, *biases, *norms, self.cos, self.sin, lanes.position, lanes.slot,
            queries, keys, values, rows, width, pieces, self.heads, self.kv_heads, keys.stride(0), keys.stride(1),
            norm.variance_epsilon, HAS_BIAS=layer.q_proj.bias is not None, HAS_NORM=hasattr(layer, "q_norm"),
            D=size, PIECES=_power_of_two(pieces), BM=qkv.rows, BK=qkv.inner, **qkv.launch, **self.overlap,
        )  # fmt: skip
        few = rows * self.kv_heads < FEW and room.prefix_capacity + room.capacity > LONG
        splits, together = SPLITS if few else 1, reading.rows or QUERIES // self.group
        sums = self._float32(2 * splits, rows, self.heads)
        parts = self._float32(*sums.shape, size)
        self.kernels.attend[(_blocks(rows, together), self.kv_heads, splits * (1 + together))](
            queries, prefix_keys, prefix_values, keys, values, lanes.shared, lanes.first, lanes.slot, parts, sums,
            rows, self.kv_heads, self.group, prefix_keys.stride(0), keys.stride(0), keys.stride(1), self.scale,
            SPLITS=splits, TOGETHER=together, D=size, BM=QUERIES, BN=reading.columns, **reading.launch, **self.overlap,
        )  # fmt: skip
        stream = Stream(stream.states, self._float32(rows, _blocks(width, out.columns)))
        self.kernels.add_attention[(_blocks(rows, out.rows), _blocks(width, out.columns))](
            parts, sums, layer.o_proj.weight, *stream, rows, width, self.heads,
            PARTS=2 * splits, D=size, BM=out.rows, BN=out.columns, **out.launch, **self.overlap,
        )  # fmt: skip
        return stream

    def _feed_forward(self, norm: Any, layer: Any, stream: Stream, tiles: StepTiles) -> Stream:
        (rows, width), pieces, up, down = stream.states.shape, stream.squares.shape[1], tiles.up, tiles.down
        inner_width = layer.up_proj.weight.shape[0]
        inner = norm.weight.new_empty(rows, inner_width)
        self.kernels.gate_up[(_blocks(rows, up.rows), _blocks(inner_width, up.columns))](
            *stream, norm.weight, layer.gate_proj.weight, layer.up_proj.weight, inner,
            rows, width, pieces, inner_width, norm.variance_epsilon,
            PIECES=_power_of_two(pieces), BM=up.rows, BN=up.columns, BK=up.inner, **up.launch, **self.overlap,
        )  # fmt: skip
        stream = Stream(stream.states, self._float32(rows, _blocks(width, down.columns)))
        self.kernels.add_product[(_blocks(rows, down.rows), _blocks(width, down.columns))](
            inner, layer.down_proj.weight, *stream, rows, inner_width, width,
            BM=down.rows, BN=down.columns, BK=down.inner, **down.launch, **self.overlap,
        )  # fmt: skip
        return stream

    def _vocabulary(self, states: Tensor, temperature: float, tiles: Tiles) -> Logits:
        (rows, width), norm, head = states.shape, self.model.model.norm, self.model.get_output_embeddings()
        vocabulary, blocks = head.weight.shape[0], _blocks(head.weight.shape[0], BLOCK)
        last, shape = head.weight.new_empty(rows, width), {"BLOCK": _power_of_two(width), **self.overlap}
        self.kernels.normalise[(rows,)](states, norm.weight, last, width, norm.variance_epsilon, **shape)
        found = Logits(*(self._float32(rows, size) for size in (vocabulary, blocks, blocks)))
        self.kernels.project_vocabulary[(_blocks(rows, tiles.rows), blocks)](
            last, head.weight, *found, rows, width, vocabulary, blocks, temperature,
            BM=tiles.rows, BN=BLOCK, BK=tiles.inner, **tiles.launch, **self.overlap,
        )  # fmt: skip
        return found

    def _float32(self, *shape: int) -> Tensor:
        return torch.empty(shape, device=self.model.device)


def _blocks(count: int, size: int) -> int:
    return -(-count // size)


def _power_of_two(least: int) -> int:
    return 1 << max(0, least - 1).bit_length()
