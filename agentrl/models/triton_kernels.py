"""Kernels of one decoding step of a Llama-like model, in Triton: five a layer, and four for the token.

Everything that varies between batches and models is a run-time argument; compiled in are block sizes, the size of a
head and which parts a model has. Rows never meet: what a row says does not depend on the others.

Products are added up in float32, and so is the residual stream; rounded to the model's type is only what enters a
product. A trainer in bfloat16 rounds more often. To round where it does brings the two no closer: after some layers
their roundings agree no more than chance. What is not rounded here is one error less between them.

A root-mean-square norm costs no kernel of its own: whoever writes a tile of the residual stream writes the sums of its
squares beside it, and whoever reads the stream adds them up.
"""

from __future__ import annotations

import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]


@triton.jit
def await_previous(PDL: tl.constexpr):
    """Where kernels overlap: wait for what the one before has written, and let the next one be launched."""
    if PDL:
        tl.extra.cuda.gdc_wait()
        tl.extra.cuda.gdc_launch_dependents()


@triton.jit
def norm_factor(squares, row, rows, pieces, width, eps, PIECES: tl.constexpr):
    """1 / root mean square of each row, from the sums of squares of its pieces."""
    piece = tl.arange(0, PIECES)
    mask = (row < rows)[:, None] & (piece < pieces)[None, :]
    found = tl.load(squares + row[:, None] * pieces + piece[None, :], mask=mask, other=0.0)
    return tl.rsqrt(tl.sum(found, axis=1) / width + eps)[:, None]


@triton.jit
def add_tile(found, states, squares, row, out, rows, width):
    """Add a tile to the residual stream, and write down the squares of what it is then."""
    place, mask = states + row[:, None] * width + out[None, :], (row < rows)[:, None] & (out < width)[None, :]
    after = tl.load(place, mask=mask, other=0.0) + found
    tl.store(place, after, mask=mask)
    at = row * tl.num_programs(1) + tl.program_id(1)
    tl.store(squares + at, tl.sum(after * after, axis=1), mask=row < rows)


@triton.jit
def embed(token, table, states, squares, width, BLOCK: tl.constexpr, PDL: tl.constexpr):
    """The first residual stream; a program writes one row."""
    await_previous(PDL)
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    read = tl.load(table + tl.load(token + row) * width + column, mask=column < width, other=0.0).to(tl.float32)
    tl.store(states + row * width + column, read, mask=column < width)
    tl.store(squares + row, tl.sum(read * read, axis=0))


# ---------------------------------------------------------------------- attention


@triton.jit
def project_qkv(
    states, squares, norm, q_weight, k_weight, v_weight, q_bias, k_bias, v_bias, q_norm, k_norm,
    cos, sin, position, slot, queries, keys, values,
    rows, width, pieces, heads, kv_heads, row_stride, head_stride, eps,
    HAS_BIAS: tl.constexpr, HAS_NORM: tl.constexpr, D: tl.constexpr, PIECES: tl.constexpr,
    BM: tl.constexpr, BK: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    """Norm, queries, keys and values, rotation; keys and values go into the cache. A program makes one head's tile."""
    await_previous(PDL)
    head = tl.program_id(1)
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    weight, bias, scales, place = q_weight, q_bias, q_norm, head
    if head >= heads:
        weight, bias, scales, place = k_weight, k_bias, k_norm, head - heads
    if head >= heads + kv_heads:
        weight, bias, place = v_weight, v_bias, head - heads - kv_heads
    size, inside = tl.arange(0, D), row < rows
    factor = norm_factor(squares, row, rows, pieces, width, eps, PIECES)
    found = tl.zeros((BM, D), tl.float32)
    for start in range(0, width, BK):
        column = start + tl.arange(0, BK)
        valid = column < width
        read = tl.load(states + row[:, None] * width + column, mask=inside[:, None] & valid, other=0.0)
        scale = tl.load(norm + column, mask=valid, other=0.0).to(tl.float32)
        part = tl.load(weight + (place * D + size) * width + column[:, None], mask=valid[:, None], other=0.0)
        read = (read * factor * scale).to(part.dtype)
        found = tl.dot(read, part, found, input_precision="ieee")
    if HAS_BIAS:
        found += tl.load(bias + place * D + size).to(tl.float32)
    if head < heads + kv_heads:
        if HAS_NORM:
            found *= tl.rsqrt(tl.sum(found * found, axis=1) / D + eps)[:, None]
            found *= tl.load(scales + size).to(tl.float32)
        at = tl.load(position + row, mask=inside, other=0)[:, None] * D + tl.arange(0, D // 2)
        c, s = tl.load(cos + at).to(tl.float32), tl.load(sin + at).to(tl.float32)
        first, second = tl.split(tl.permute(tl.reshape(found, (BM, 2, D // 2)), (0, 2, 1)))
        turned = tl.join(first * c - second * s, second * c + first * s)
        found = tl.reshape(tl.permute(turned, (0, 2, 1)), (BM, D))
    into = queries + (row * heads + place)[:, None] * D
    if head >= heads:
        cache = keys
        if head >= heads + kv_heads:
            cache = values
        into = cache + (row.to(tl.int64) * row_stride + place * head_stride + tl.load(slot) * D)[:, None]
    tl.store(into + size, found, mask=inside[:, None])


@triton.jit
def attend(
    queries, prefix_keys, prefix_values, own_keys, own_values, prefix_length, first, slot, parts, sums,
    rows, kv_heads, group, prefix_stride, row_stride, head_stride, scale,
    SPLITS: tl.constexpr, TOGETHER: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    PDL: tl.constexpr,
):  # fmt: skip
    """Attention of one new token a row, in `2 * SPLITS` parts that are put together later: prefix, then own keys.

    A program reads a piece of the prefix for `TOGETHER` rows, or a piece of one row's own keys, which are those from
    `first` to `slot`. The `group` queries of a key head stand side by side. `sums` are base-2 logarithms.
    """
    await_previous(PDL)
    kv_head, piece = tl.program_id(1), tl.program_id(2)
    row, count = tl.program_id(0) * TOGETHER, TOGETHER * group
    begin, end, split = 0, tl.load(prefix_length).to(tl.int32), piece
    k, v = prefix_keys + kv_head * prefix_stride, prefix_values + kv_head * prefix_stride
    if piece >= SPLITS:
        row, count, split = row + (piece - SPLITS) // SPLITS, group, (piece - SPLITS) % SPLITS
        begin = tl.load(first + row, mask=row < rows, other=0).to(tl.int32)
        end = tl.load(slot).to(tl.int32) + 1
        k, v = own_keys + kv_head * head_stride, own_values + kv_head * head_stride
        k, v = k + row.to(tl.int64) * row_stride, v + row.to(tl.int64) * row_stride
    length = tl.cdiv(end - begin, SPLITS)
    begin += split * length
    end = tl.minimum(begin + length, end)
    query, size = tl.arange(0, BM), tl.arange(0, D)
    asking = (query < count) & (row + query // group < rows)
    place = (row + query // group) * kv_heads * group + kv_head * group + query % group
    asked = tl.load(queries + place[:, None] * D + size, mask=asking[:, None], other=0.0)
    top = tl.full((BM,), -float("inf"), tl.float32)
    total, found = tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    if row < rows:
        for start in range(begin, end, BN):
            key = start + tl.arange(0, BN)
            valid = key < end
            read = tl.load(k + key * D + size[:, None], mask=valid, other=0.0)
            scores = tl.dot(asked, read, input_precision="ieee") * (scale * 1.4426950408889634)
            scores = tl.where(valid, scores, -float("inf"))
            highest = tl.maximum(top, tl.max(scores, axis=1))
            weights, kept = tl.exp2(scores - highest[:, None]), tl.exp2(top - highest)
            read = tl.load(v + key[:, None] * D + size, mask=valid[:, None], other=0.0)
            found = tl.dot(weights.to(read.dtype), read, found * kept[:, None], input_precision="ieee")
            top, total = highest, total * kept + tl.sum(weights, axis=1)
    part = tl.where(piece < SPLITS, split, SPLITS + split)
    place += part * rows * kv_heads * group
    some = total > 0
    tl.store(sums + place, tl.where(some, top + tl.log2(tl.where(some, total, 1.0)), -float("inf")), mask=asking)
    tl.store(parts + place[:, None] * D + size, found / tl.where(some, total, 1.0)[:, None], mask=asking[:, None])


@triton.jit
def add_attention(
    parts, sums, weight, states, squares, rows, width, heads,
    PARTS: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    """Put the parts of the attention together, project them and add them to the residual stream."""
    await_previous(PDL)
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    out = tl.program_id(1) * BN + tl.arange(0, BN)
    inside, valid, size = row < rows, out < width, tl.arange(0, D)
    found = tl.zeros((BM, BN), tl.float32)
    for head in range(heads):
        into = tl.load(weight + out * heads * D + (head * D + size)[:, None], mask=valid, other=0.0)
        place = row * heads + head
        top = tl.full((BM,), -1e30, tl.float32)
        for part in tl.static_range(PARTS):
            top = tl.maximum(top, tl.load(sums + part * rows * heads + place, mask=inside, other=-1e30))
        total, whole = tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
        for part in tl.static_range(PARTS):
            at = part * rows * heads + place
            share = tl.exp2(tl.load(sums + at, mask=inside, other=-1e30) - top)
            total += share
            whole += share[:, None] * tl.load(parts + at[:, None] * D + size, mask=inside[:, None], other=0.0)
        found = tl.dot((whole / total[:, None]).to(into.dtype), into, found, input_precision="ieee")
    add_tile(found, states, squares, row, out, rows, width)


# ---------------------------------------------------------------------- the rest of a layer


@triton.jit
def gate_up(
    states, squares, norm, gate_weight, up_weight, inner, rows, width, pieces, inner_width, eps,
    PIECES: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    """Norm, both products of the feed-forward layer, silu(gate) x up."""
    await_previous(PDL)
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    out = tl.program_id(1) * BN + tl.arange(0, BN)
    inside, wanted = row < rows, out < inner_width
    factor = norm_factor(squares, row, rows, pieces, width, eps, PIECES)
    gate, up = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
    for start in range(0, width, BK):
        column = start + tl.arange(0, BK)
        valid = column < width
        read = tl.load(states + row[:, None] * width + column, mask=inside[:, None] & valid, other=0.0)
        scale = tl.load(norm + column, mask=valid, other=0.0).to(tl.float32)
        at, mask = out * width + column[:, None], wanted & valid[:, None]
        one, other = tl.load(gate_weight + at, mask=mask, other=0.0), tl.load(up_weight + at, mask=mask, other=0.0)
        read = (read * factor * scale).to(one.dtype)
        gate = tl.dot(read, one, gate, input_precision="ieee")
        up = tl.dot(read, other, up, input_precision="ieee")
    found = gate * tl.sigmoid(gate) * up
    mask = inside[:, None] & wanted
    tl.store(inner + row[:, None] * inner_width + out, found, mask=mask)


@triton.jit
def add_product(
    inner, weight, states, squares, rows, inner_width, width,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    """Project and add to the residual stream."""
    await_previous(PDL)
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    out = tl.program_id(1) * BN + tl.arange(0, BN)
    inside, wanted = row < rows, out < width
    found = tl.zeros((BM, BN), tl.float32)
    for start in range(0, inner_width, BK):
        column = start + tl.arange(0, BK)
        valid = column < inner_width
        read = tl.load(inner + row[:, None] * inner_width + column, mask=inside[:, None] & valid, other=0.0)
        part = tl.load(weight + out * inner_width + column[:, None], mask=wanted & valid[:, None], other=0.0)
        found = tl.dot(read, part, found, input_precision="ieee")
    add_tile(found, states, squares, row, out, rows, width)


# ---------------------------------------------------------------------- the token


@triton.jit
def normalise(states, norm, into, width, eps, BLOCK: tl.constexpr, PDL: tl.constexpr):
    """The last norm; a program reads one row."""
    await_previous(PDL)
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    valid = column < width
    read = tl.load(states + row * width + column, mask=valid, other=0.0)
    scale = tl.load(norm + column, mask=valid, other=0.0).to(tl.float32)
    found = read * tl.rsqrt(tl.sum(read * read, axis=0) / width + eps) * scale
    tl.store(into + row * width + column, found, mask=valid)


@triton.jit
def project_vocabulary(
    states, weight, logits, tops, sums, rows, width, vocabulary, blocks, temperature,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    """Logits in float32; of each block of `BN` tokens the highest over `temperature`, and the sum of the exponentials
    below it."""
    await_previous(PDL)
    row, block = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1)
    token = block * BN + tl.arange(0, BN)
    inside, wanted = row < rows, token < vocabulary
    found = tl.zeros((BM, BN), tl.float32)
    for start in range(0, width, BK):
        column = start + tl.arange(0, BK)
        valid = column < width
        read = tl.load(states + row[:, None] * width + column, mask=inside[:, None] & valid, other=0.0)
        part = tl.load(weight + token * width + column[:, None], mask=wanted & valid[:, None], other=0.0)
        found = tl.dot(read, part, found, input_precision="ieee")
    at = row.to(tl.int64)[:, None] * vocabulary + token
    tl.store(logits + at, found, mask=inside[:, None] & wanted)
    found = tl.where(wanted, found / temperature, -float("inf"))
    top = tl.max(found, axis=1)
    tl.store(tops + row * blocks + block, top, mask=inside)
    tl.store(sums + row * blocks + block, tl.sum(tl.exp(found - top[:, None]), axis=1), mask=inside)


@triton.jit
def draw(
    logits, tops, sums, noise, stops, limits, step, token, tokens, logprobs, done, position,
    vocabulary, blocks, steps, stop_count, temperature,
    GREEDY: tl.constexpr, BLOCKS: tl.constexpr, BN: tl.constexpr, STOPS: tl.constexpr,
    PDL: tl.constexpr,
):  # fmt: skip
    """Draw a row's next token as `sampling.choose` does, write it down and see whether the row is done with it."""
    await_previous(PDL)
    row, now = tl.program_id(0), tl.load(step)
    block = tl.arange(0, BLOCKS)
    top = tl.load(tops + row * blocks + block, mask=block < blocks, other=-float("inf"))
    highest = tl.max(top, axis=0)
    weight = tl.load(sums + row * blocks + block, mask=block < blocks, other=0.0) * tl.exp(top - highest)
    weight = weight.to(tl.float64)
    total = tl.sum(weight, axis=0)
    wanted = tl.load(noise + row * steps + now).to(tl.float64) * total
    if GREEDY:
        chosen = tl.argmax(top, axis=0)
    else:  # the first block whose running sum exceeds what is wanted; rounding may not step past the last one
        chosen = tl.sum((tl.cumsum(weight, axis=0) <= wanted).to(tl.int32), axis=0)
        chosen = tl.minimum(chosen, tl.max(tl.where(weight > 0, block, 0), axis=0))
    inside = tl.arange(0, BN)
    column = chosen * BN + inside
    score = tl.load(logits + row.to(tl.int64) * vocabulary + column, mask=column < vocabulary, other=-float("inf"))
    score = score / temperature
    if GREEDY:
        place = tl.argmax(score, axis=0)
    else:
        weight, rest = tl.exp(score - highest).to(tl.float64), wanted - tl.sum(tl.where(block < chosen, weight, 0.0), 0)
        place = tl.sum((tl.cumsum(weight, axis=0) <= rest).to(tl.int32), axis=0)
        place = tl.minimum(place, tl.max(tl.where(weight > 0, inside, 0), axis=0))
    found = (chosen * BN + place).to(tl.int64)
    score = tl.sum(tl.where(inside == place, score, 0.0), axis=0) - highest
    tl.store(token + row, found)
    tl.store(tokens + row * steps + now, found)
    tl.store(logprobs + row * steps + now, score - tl.log(total.to(tl.float32)))
    stop = tl.arange(0, STOPS)
    ends = tl.load(stops + stop, mask=stop < stop_count, other=-1) == found
    before = tl.load(done + row)
    ended = (tl.max(ends.to(tl.int32), axis=0) > 0) | (tl.load(limits + row) <= now + 1) | (before > 0)
    tl.store(position + row, tl.load(position + row) + (before == 0).to(tl.int64))
    tl.store(done + row, ended.to(tl.uint8))


@triton.jit
def advance(done, going, slot, step, rows, BLOCK: tl.constexpr, PDL: tl.constexpr):
    """The next slot and step; is any row still going?"""
    await_previous(PDL)
    running = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, rows, BLOCK):
        row = start + tl.arange(0, BLOCK)
        running += (tl.load(done + row, mask=row < rows, other=1) == 0).to(tl.int32)
    tl.store(going, (tl.max(running, axis=0) > 0).to(tl.uint8))
    tl.store(slot, tl.load(slot) + 1)
    tl.store(step, tl.load(step) + 1)
