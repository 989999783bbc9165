"""Decoding steps of Llama-like models by the kernels of `triton_kernels`: six a layer where modules need about forty.
Prompts are read by the same kernels, with all of their tokens below each other.

The kernels read the model's own weights where they lie. Nothing is fused ahead of time and nothing copied, so a trainer
that changes weights in place changes what the steps compute, with nothing to refresh.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from agentrl.models.attention import KeyValues, Pair
from agentrl.models.float32_head import Float32Head
from agentrl.models.sampling import BLOCK, Sampling

log = logging.getLogger(__name__)

KINDS = ("llama", "qwen2", "qwen3")
ROTATIONS = ("default", "linear", "llama3", "yarn")  # others depend on the length of the text
HEAD_SIZES = (16, 32, 64, 128)
GPUS = ((8, 0), (9, 0), (10, 0), (10, 3))  # compute capabilities with the shared memory that tiles need
QUERIES = 16  # of a program that reads own keys: the least that a matrix product takes


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
    prefix: Tiles  # rows: queries; columns: keys at a time
    own: Tiles  # columns: keys at a time
    prompt: Tiles  # the attention of whole prompts: queries, keys at a time
    out: Tiles
    up: Tiles
    down: Tiles
    vocabulary: Tiles


# By how many rows there are, at most; chosen by `scripts/decoder_check.py --tiles` on an H200.
TILES = {
    16: StepTiles(
        qkv=Tiles(16, 0, 64, stages=4),
        prefix=Tiles(16, 64, 0, warps=2),
        own=Tiles(0, 32, 0, warps=1, stages=4),
        prompt=Tiles(64, 32, 0),
        out=Tiles(16, 32, 64, stages=4),
        up=Tiles(16, 64, 64, stages=4),
        down=Tiles(16, 32, 128, stages=4),
        vocabulary=Tiles(16, 128, 64),
    ),
    256: StepTiles(
        qkv=Tiles(64, 0, 64, stages=5),
        prefix=Tiles(64, 64, 0),
        own=Tiles(0, 32, 0, warps=1, stages=4),
        prompt=Tiles(64, 32, 0),
        out=Tiles(64, 32, 128, stages=4),
        up=Tiles(64, 64, 64, stages=4),
        down=Tiles(64, 32, 128, stages=5),
        vocabulary=Tiles(128, 128, 64, warps=8),
    ),
    2048: StepTiles(
        qkv=Tiles(64, 0, 64, stages=4),
        prefix=Tiles(64, 64, 0),
        own=Tiles(0, 32, 0, warps=1, stages=4),
        prompt=Tiles(64, 32, 0),
        out=Tiles(64, 64, 64, stages=4),
        up=Tiles(64, 64, 64),
        down=Tiles(64, 64, 128),
        vocabulary=Tiles(128, 128, 64, warps=8),
    ),
    1 << 30: StepTiles(  # prompts
        qkv=Tiles(128, 0, 64, warps=8),
        prefix=Tiles(64, 64, 0),
        own=Tiles(0, 32, 0, warps=1, stages=4),
        prompt=Tiles(64, 32, 0),
        out=Tiles(128, 64, 64, warps=8),
        up=Tiles(128, 64, 64, warps=8),
        down=Tiles(128, 64, 64, warps=8),
        vocabulary=Tiles(128, 128, 64, warps=8),
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
    kinds = {weight.dtype for weight in model.parameters()} | {getattr(head, "rounded", model.dtype)}
    if len(kinds) > 1:
        return f"all weights must have one type; got {', '.join(sorted(map(str, kinds)))}"
    if head.weight.numel() >= 1 << 31:
        return f"the output layer must have less than 2**31 weights; got {head.weight.numel()}"
    return None


def fused_steps(model: Any) -> FusedSteps | None:
    """For a model that generates on a GPU in a narrow type; None where the kernels do not apply."""
    if model.device.type != "cuda" or model.dtype == torch.float32 or importlib.util.find_spec("triton") is None:
        return None
    reason = why_unsuited(model)
    if (found := torch.cuda.get_device_capability(model.device)) not in GPUS:
        reason = f"the GPU's compute capability must be one of {GPUS}; got {found}"
    if reason:
        log.info("generating by the model's own modules: %s", reason)
        return None
    from agentrl.models import triton_kernels

    return FusedSteps(model, triton_kernels)


class Tokens(NamedTuple):
    """What is read at once: `count` tokens of each lane, all below each other, and the slot of each lane's first."""

    ids: Tensor
    positions: Tensor
    slot: Tensor
    count: int


class Stream(NamedTuple):
    """The residual stream in float32, the same times the weight of the next norm, and sums of squares of its pieces."""

    states: Tensor
    scaled: Tensor
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
        self.counting = torch.arange(model.config.max_position_embeddings, device=model.device)
        tables = model.model.rotary_emb(model.model.norm.weight, self.counting[None])
        self.cos, self.sin = (table[0] for table in tables)
        self.tiles = TILES

    def logits(self, lanes: Any, temperature: float) -> Logits:
        """Read each lane's token, write its keys and values, and say what may come next."""
        given = Tokens(lanes.token, lanes.position, lanes.slot, 1)
        stream = self._layers(given, lanes.key_values.own, partial(self._attend_one, lanes))
        return self._vocabulary(stream, temperature)

    def can_read(self, ids: Tensor) -> bool:
        """Are these prompts few enough for the kernels, which count in 32 bits?"""
        config = self.model.config
        return ids.numel() * max(config.intermediate_size, config.hidden_size, self.heads * self.head_size) < 1 << 31

    def read(self, lanes: Any, prefix: Tensor, ids: Tensor, positions: Tensor) -> Tensor:
        """Read the prefix and the prompts [lanes, tokens], padded on the left, and write their keys and values; the
        logits of what may come after them."""
        room, start, (rows, count) = lanes.key_values, self.counting[:1], ids.shape
        like = self.model.model.norm.weight.new_empty(1, self.kv_heads, 1, self.head_size)
        for layer in range(len(self.model.model.layers)):
            room.make_room(layer, like, like)
        if length := len(prefix):
            own = [(keys[None], values[None]) for keys, values in room.shared]
            given = Tokens(prefix, self.counting[:length], start, length)
            self._layers(given, own, partial(self._attend_many, own, None, start, given))
        given = Tokens(ids.flatten(), positions.flatten(), start, count)
        shared = (room, lanes.shared) if room.prefix_capacity else None
        stream = self._layers(given, room.own, partial(self._attend_many, room.own, shared, lanes.first, given))
        last = Stream(*(part.view(rows, count, -1)[:, -1].contiguous() for part in stream))
        return self._vocabulary(last, temperature=1.0).logits

    def draw(self, lanes: Any, found: Logits, how: Sampling, stops: Tensor) -> None:
        """Draw a token for each lane, write it down and move on."""
        (rows, blocks), steps = found.tops.shape, lanes.tokens.shape[1]
        done, going = lanes.done.view(torch.uint8), lanes.going.view(torch.uint8)
        self.kernels.draw[(rows,)](
            *found, lanes.noise, stops, lanes.limits, lanes.step, lanes.token, lanes.tokens, lanes.logprobs,
            done, lanes.position, found.logits.shape[1], blocks, steps, len(stops), how.temperature,
            GREEDY=how.greedy, BLOCKS=_power_of_two(blocks), BN=BLOCK, STOPS=_power_of_two(len(stops)),
        )  # fmt: skip
        self.kernels.advance[(1,)](done, going, lanes.slot, lanes.step, rows, BLOCK=1024)

    def _layers(self, given: Tokens, caches: Sequence[Pair], attend: Callable[..., Tensor]) -> Stream:
        """Through all layers; `attend` is asked for the attention of a layer's queries."""
        tiles, body = self._tiles(len(given.ids)), self.model.model
        following = [*(layer.input_layernorm for layer in body.layers), body.norm]
        stream = self._embed(given.ids, following[0])
        for index, layer in enumerate(body.layers):
            queries = self._queries(given, layer, caches[index], stream, tiles.qkv)
            attended, out = attend(index, queries, tiles).flatten(1), layer.self_attn.o_proj.weight
            stream = self._add(attended, out, layer.post_attention_layernorm, stream, tiles.out)
            stream = self._feed_forward(layer, following[index + 1], stream, tiles)
        return stream

    def _tiles(self, rows: int) -> StepTiles:
        return next(found for most, found in self.tiles.items() if rows <= most)

    def _embed(self, ids: Tensor, norm: Any) -> Stream:
        table, rows = self.model.model.embed_tokens.weight, len(ids)
        width = table.shape[1]
        stream = Stream(self._float32(rows, width), table.new_empty(rows, width), self._float32(rows, 1))
        self.kernels.embed[(rows,)](ids, table, norm.weight, *stream, width, BLOCK=_power_of_two(width))
        return stream

    def _queries(self, given: Tokens, layer: Any, cache: Pair, stream: Stream, tiles: Tiles) -> Tensor:
        """The queries of a layer; its keys and values go into the cache."""
        (rows, width), pieces = stream.states.shape, stream.squares.shape[1]
        part, norm, (keys, values) = layer.self_attn, layer.input_layernorm, cache
        linear = (part.q_proj, part.k_proj, part.v_proj)
        weights = [one.weight for one in linear]
        biases = [one.weight if one.bias is None else one.bias for one in linear]
        norms = [getattr(part, name, norm).weight for name in ("q_norm", "k_norm")]
        queries = keys.new_empty(rows, self.heads, self.head_size)
        self.kernels.project_qkv[(_blocks(rows, tiles.rows), self.heads + 2 * self.kv_heads)](
            stream.scaled, stream.squares, *weights, *biases, *norms, self.cos, self.sin, given.positions, given.slot,
            queries, keys, values, rows, given.count, width, pieces, self.heads, self.kv_heads, keys.stride(0),
            keys.stride(1), norm.variance_epsilon, HAS_BIAS=part.q_proj.bias is not None,
            HAS_NORM=hasattr(part, "q_norm"), D=self.head_size, PIECES=_power_of_two(pieces), BM=tiles.rows,
            BK=tiles.inner, **tiles.launch,
        )  # fmt: skip
        return queries

    def _attend_one(self, lanes: Any, index: int, queries: Tensor, tiles: StepTiles) -> Tensor:
        """Of one new token in each lane."""
        room, size, rows = lanes.key_values, self.head_size, len(queries)
        (keys, values), prefix, shared, own = room.own[index], room.shared[index], tiles.prefix, tiles.own
        found = [self._float32(rows, self.heads), self._float32(rows, self.heads), self._float32(*queries.shape)]
        if room.prefix_capacity:
            self.kernels.attend_prefix[(_blocks(rows, shared.rows // self.group), self.kv_heads)](
                queries, *prefix, lanes.shared, *found, rows, self.kv_heads, self.group, prefix[0].stride(0),
                self.scale, D=size, BM=shared.rows, BN=shared.columns, **shared.launch,
            )  # fmt: skip
        attended = torch.empty_like(queries)
        self.kernels.attend_own[(rows, self.kv_heads)](
            queries, keys, values, lanes.first, lanes.slot, *found, attended,
            self.kv_heads, self.group, keys.stride(0), keys.stride(1), self.scale,
            HAS_PREFIX=room.prefix_capacity > 0, D=size, BM=QUERIES, BN=own.columns, **own.launch,
        )  # fmt: skip
        return attended

    def _attend_many(
        self,
        caches: Sequence[Pair],
        shared: tuple[KeyValues, Tensor] | None,
        first: Tensor,
        given: Tokens,
        index: int,
        queries: Tensor,
        tiles: StepTiles,
    ) -> Tensor:
        """Of whole prompts, each from its `first` token on, to a prefix of known length that they may share and to
        themselves."""
        (keys, values), tile, attended = caches[index], tiles.prompt, torch.empty_like(queries)
        prefix, length = ((keys, values), first) if shared is None else (shared[0].shared[index], shared[1])
        blocks = _blocks(given.count, tile.rows // self.group)
        self.kernels.attend_prompt[(len(queries) // given.count * blocks, self.kv_heads)](
            queries, *prefix, length, keys, values, first, attended, given.count, blocks, self.kv_heads, self.group,
            keys.stride(0), keys.stride(1), prefix[0].stride(0), self.scale,
            HAS_PREFIX=shared is not None, D=self.head_size, BM=tile.rows, BN=tile.columns, **tile.launch,
        )  # fmt: skip
        return attended

    def _feed_forward(self, layer: Any, following: Any, stream: Stream, tiles: StepTiles) -> Stream:
        (rows, width), pieces, up = stream.states.shape, stream.squares.shape[1], tiles.up
        norm, part = layer.post_attention_layernorm, layer.mlp
        inner_width = part.up_proj.weight.shape[0]
        inner = stream.scaled.new_empty(rows, inner_width)
        self.kernels.gate_up[(_blocks(rows, up.rows), _blocks(inner_width, up.columns))](
            stream.scaled, stream.squares, part.gate_proj.weight, part.up_proj.weight, inner,
            rows, width, pieces, inner_width, norm.variance_epsilon,
            PIECES=_power_of_two(pieces), BM=up.rows, BN=up.columns, BK=up.inner, **up.launch,
        )  # fmt: skip
        return self._add(inner, part.down_proj.weight, following, stream, tiles.down)

    def _add(self, left: Tensor, weight: Tensor, following: Any, stream: Stream, tiles: Tiles) -> Stream:
        """Project and add to the residual stream, which the norm `following` reads next."""
        (rows, width), pieces = stream.states.shape, _blocks(stream.states.shape[1], tiles.columns)
        stream = stream._replace(squares=self._float32(rows, pieces))
        self.kernels.add_product[(_blocks(rows, tiles.rows), pieces)](
            left, weight, following.weight, *stream, rows, left.shape[1], width,
            BM=tiles.rows, BN=tiles.columns, BK=tiles.inner, **tiles.launch,
        )  # fmt: skip
        return stream

    def _vocabulary(self, stream: Stream, temperature: float) -> Logits:
        (rows, width), pieces = stream.states.shape, stream.squares.shape[1]
        tiles = self._tiles(rows).vocabulary
        weight = self.model.get_output_embeddings().weight
        vocabulary, blocks = weight.shape[0], _blocks(weight.shape[0], BLOCK)
        found = Logits(*(self._float32(rows, size) for size in (vocabulary, blocks, blocks)))
        self.kernels.project_vocabulary[(_blocks(rows, tiles.rows), blocks)](
            stream.scaled, stream.squares, weight, *found, rows, width, pieces, vocabulary, blocks,
            self.model.model.norm.variance_epsilon, temperature,
            PIECES=_power_of_two(pieces), BM=tiles.rows, BN=BLOCK, BK=tiles.inner, **tiles.launch,
        )  # fmt: skip
        return found

    def _float32(self, *shape: int) -> Tensor:
        return torch.empty(shape, device=self.model.device)


def _blocks(count: int, size: int) -> int:
    return -(-count // size)


def _power_of_two(least: int) -> int:
    return 1 << max(0, least - 1).bit_length()
