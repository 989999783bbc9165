"""Kernels of one decoding step of a Llama-like model, in Triton: six a layer, and four around them. The same, with
`attend_prompt` for both kinds of attention, read whole prompts.

Everything that varies between batches and models is a run-time argument; compiled in are block sizes, the size of a
head and which parts a model has. Rows never meet: what a row says does not depend on the others.

Products are added up in float32, and so is the residual stream; rounded to the model's type is only what enters a
product. A trainer in bfloat16 rounds more often. To round where it does brings the two no closer: after some layers
their roundings agree no more than chance. What is not rounded here is one error less between them.

A root-mean-square norm costs no kernel of its own. Whoever writes a tile of the residual stream also writes it times
the weight of the next norm, ready for a product, and the sum of its squares; the factor of a row is applied to the
product.
"""

from __future__ import annotations

import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]

# ---------------------------------------------------------------------- the residual stream


@triton.jit
def embed(token, table, norm, states, scaled, squares, width, BLOCK: tl.constexpr):
    """The first residual stream; a program writes one row."""
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    mask, at = column < width, row * width + column
    read = tl.load(table + tl.load(token + row) * width + column, mask=mask, other=0.0).to(tl.float32)
    tl.store(states + at, read, mask=mask)
    tl.store(scaled + at, read * tl.load(norm + column, mask=mask, other=0.0).to(tl.float32), mask=mask)
    tl.store(squares + row, tl.sum(read * read, axis=0))


@triton.jit
def norm_factor(squares, row, rows, pieces, width, eps, PIECES: tl.constexpr):
    """1 / root mean square of each row, from the sums of squares of its pieces."""
    piece = tl.arange(0, PIECES)
    mask = (row < rows)[:, None] & (piece < pieces)[None, :]
    found = tl.load(squares + row[:, None] * pieces + piece[None, :], mask=mask, other=0.0)
    return tl.rsqrt(tl.sum(found, axis=1) / width + eps)[:, None]


@triton.jit
def product(left, weight, row, out, rows, inner, outs, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The tile [row, out] of left x transposed weight; `inner` is the width of both."""
    found = tl.zeros((BM, BN), tl.float32)
    for start in range(0, inner, BK):
        column = start + tl.arange(0, BK)
        valid = column < inner
        read = tl.load(left + row[:, None] * inner + column, mask=(row < rows)[:, None] & valid, other=0.0)
        part = tl.load(weight + out * inner + column[:, None], mask=(out < outs) & valid[:, None], other=0.0)
        found = tl.dot(read, part, found, input_precision="ieee")
    return found


@triton.jit
def add_product(
    left, weight, norm, states, scaled, squares, rows, inner, width,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Project, add to the residual stream, and prepare it for the next norm."""
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    out = tl.program_id(1) * BN + tl.arange(0, BN)
    found = product(left, weight, row, out, rows, inner, width, BM, BN, BK)
    at, mask = row[:, None] * width + out[None, :], (row < rows)[:, None] & (out < width)[None, :]
    found += tl.load(states + at, mask=mask, other=0.0)
    tl.store(states + at, found, mask=mask)
    tl.store(scaled + at, found * tl.load(norm + out, mask=out < width, other=0.0).to(tl.float32), mask=mask)
    piece = row * tl.num_programs(1) + tl.program_id(1)
    tl.store(squares + piece, tl.sum(found * found, axis=1), mask=row < rows)


# ---------------------------------------------------------------------- attention


@triton.jit
def project_qkv(
    scaled, squares, q_weight, k_weight, v_weight, q_bias, k_bias, v_bias, q_norm, k_norm,
    cos, sin, position, slot, queries, keys, values,
    rows, tokens, width, pieces, heads, kv_heads, row_stride, head_stride, eps,
    HAS_BIAS: tl.constexpr, HAS_NORM: tl.constexpr, D: tl.constexpr, PIECES: tl.constexpr,
    BM: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Queries, keys and values, rotated; keys and values go into the cache. A program makes one head's tile. Lanes have
    `tokens` rows each, one behind the other, whose keys go into the slots from `slot` on."""
    head = tl.program_id(1)
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    weight, bias, scales, place = q_weight, q_bias, q_norm, head
    if head >= heads:
        weight, bias, scales, place = k_weight, k_bias, k_norm, head - heads
    if head >= heads + kv_heads:
        weight, bias, place = v_weight, v_bias, head - heads - kv_heads
    size, inside = tl.arange(0, D), row < rows
    found = product(scaled, weight + place * D * width, row, size, rows, width, D, BM, D, BK)
    found *= norm_factor(squares, row, rows, pieces, width, eps, PIECES)
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
        lane, at = (row // tokens).to(tl.int64), tl.load(slot) + row % tokens
        into = cache + (lane * row_stride + place * head_stride + at * D)[:, None]
    tl.store(into + size, found, mask=inside[:, None])


@triton.jit
def read_keys(
    asked, k, v, begin, end, lowest, last, scale, top, total, found,
    CAUSAL: tl.constexpr, D: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Attention to the keys from `begin` to `end`, on top of what was found so far: the highest score, the sum of the
    weights below it (to base 2) and of the weighted values. With CAUSAL a query sees those from its `lowest` to its
    `last` only."""
    size = tl.arange(0, D)
    for start in range(begin, end, BN):
        key = start + tl.arange(0, BN)
        valid = key < end
        read = tl.load(k + key * D + size[:, None], mask=valid[None, :], other=0.0)
        scores = tl.dot(asked, read, input_precision="ieee") * (scale * 1.4426950408889634)
        seen = valid[None, :]
        if CAUSAL:
            seen = (key[None, :] >= lowest[:, None]) & (key[None, :] <= last[:, None])
        scores = tl.where(seen, scores, -float("inf"))
        highest = tl.maximum(top, tl.max(scores, axis=1))
        weights, kept = tl.exp2(scores - highest[:, None]), tl.exp2(top - highest)
        read = tl.load(v + key[:, None] * D + size, mask=valid[:, None], other=0.0)
        found = tl.dot(weights.to(read.dtype), read, found * kept[:, None], input_precision="ieee")
        top, total = highest, total * kept + tl.sum(weights, axis=1)
    return top, total, found


@triton.jit
def attend_prefix(
    queries, keys, values, length, tops, totals, parts, rows, kv_heads, group, head_stride, scale,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Attention of one new token a row to the prefix; what was found so far is stored. The `group` queries of a key
    head stand side by side, those of several rows below each other."""
    kv_head, query, size = tl.program_id(1), tl.arange(0, BM), tl.arange(0, D)
    together = BM // group
    row = tl.program_id(0) * together + query // group
    asking = (query < together * group) & (row < rows)
    place = (row * kv_heads + kv_head) * group + query % group
    asked = tl.load(queries + place[:, None] * D + size, mask=asking[:, None], other=0.0)
    top = tl.full((BM,), -float("inf"), tl.float32)
    total, found = tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    k, v = keys + kv_head * head_stride, values + kv_head * head_stride
    end = tl.load(length).to(tl.int32)
    top, total, found = read_keys(asked, k, v, 0, end, 0, 0, scale, top, total, found, False, D, BN)
    tl.store(tops + place, top, mask=asking)
    tl.store(totals + place, total, mask=asking)
    tl.store(parts + place[:, None] * D + size, found, mask=asking[:, None])


@triton.jit
def attend_own(
    queries, keys, values, first, slot, tops, totals, parts, attended,
    kv_heads, group, row_stride, head_stride, scale,
    HAS_PREFIX: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """... and to each row's own keys, from `first` to `slot`. A program reads one row's keys of one head."""
    row, kv_head, query, size = tl.program_id(0), tl.program_id(1), tl.arange(0, BM), tl.arange(0, D)
    begin, end = tl.load(first + row).to(tl.int32), tl.load(slot).to(tl.int32) + 1
    asking, place = query < group, (row * kv_heads + kv_head) * group + query
    asked = tl.load(queries + place[:, None] * D + size, mask=asking[:, None], other=0.0)
    top = tl.full((BM,), -float("inf"), tl.float32)
    total, found = tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    if HAS_PREFIX:
        top = tl.load(tops + place, mask=asking, other=-float("inf"))
        total = tl.load(totals + place, mask=asking, other=0.0)
        found = tl.load(parts + place[:, None] * D + size, mask=asking[:, None], other=0.0)
    at = row.to(tl.int64) * row_stride + kv_head * head_stride
    k, v = keys + at, values + at
    top, total, found = read_keys(asked, k, v, begin, end, 0, 0, scale, top, total, found, False, D, BN)
    tl.store(attended + place[:, None] * D + size, found / total[:, None], mask=asking[:, None])


@triton.jit
def attend_prompt(
    queries, shared_keys, shared_values, length, keys, values, first, attended,
    tokens, blocks, kv_heads, group, row_stride, head_stride, shared_stride, scale,
    HAS_PREFIX: tl.constexpr, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """Attention of the `tokens` of a whole prompt in each lane to the prefix and to each other, causal, from the lane's
    `first` one on; padding before that sees itself. A program reads for a block of tokens of one lane and key head."""
    lane, block, kv_head = tl.program_id(0) // blocks, tl.program_id(0) % blocks, tl.program_id(1)
    query, size, together = tl.arange(0, BM), tl.arange(0, D), BM // group
    begin = block * together
    token = begin + query // group
    asking = (query < together * group) & (token < tokens)
    place = ((lane.to(tl.int64) * tokens + token) * kv_heads + kv_head) * group + query % group
    asked = tl.load(queries + place[:, None] * D + size, mask=asking[:, None], other=0.0)
    top = tl.full((BM,), -1e30, tl.float32)  # not -inf: a query may see nothing of the first keys that are read
    total, found = tl.zeros((BM,), tl.float32), tl.zeros((BM, D), tl.float32)
    if HAS_PREFIX:
        k, v = shared_keys + kv_head * shared_stride, shared_values + kv_head * shared_stride
        end = tl.load(length).to(tl.int32)
        top, total, found = read_keys(asked, k, v, 0, end, 0, 0, scale, top, total, found, False, D, BN)
    at = lane.to(tl.int64) * row_stride + kv_head * head_stride
    start, end = tl.load(first + lane).to(tl.int32), tl.minimum(begin + together, tokens)
    last = tl.minimum(token, end - 1)
    lowest, start, k, v = tl.minimum(start, last), tl.minimum(start, begin), keys + at, values + at
    top, total, found = read_keys(asked, k, v, start, end, lowest, last, scale, top, total, found, True, D, BN)
    tl.store(attended + place[:, None] * D + size, found / total[:, None], mask=asking[:, None])


# ---------------------------------------------------------------------- the rest of a layer


@triton.jit
def gate_up(
    scaled, squares, gate_weight, up_weight, inner, rows, width, pieces, inner_width, eps,
    PIECES: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Both products of the feed-forward layer, silu(gate) x up."""
    row = tl.program_id(0) * BM + tl.arange(0, BM)
    out = tl.program_id(1) * BN + tl.arange(0, BN)
    inside, wanted = row < rows, out < inner_width
    gate, up = tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
    for start in range(0, width, BK):
        column = start + tl.arange(0, BK)
        valid = column < width
        read = tl.load(scaled + row[:, None] * width + column, mask=inside[:, None] & valid, other=0.0)
        at, mask = out * width + column[:, None], wanted & valid[:, None]
        gate = tl.dot(read, tl.load(gate_weight + at, mask=mask, other=0.0), gate, input_precision="ieee")
        up = tl.dot(read, tl.load(up_weight + at, mask=mask, other=0.0), up, input_precision="ieee")
    factor = norm_factor(squares, row, rows, pieces, width, eps, PIECES)
    gate, up = gate * factor, up * factor
    found = gate * tl.sigmoid(gate) * up
    tl.store(inner + row[:, None] * inner_width + out, found, mask=inside[:, None] & wanted)


# ---------------------------------------------------------------------- the token


@triton.jit
def project_vocabulary(
    scaled, squares, weight, logits, tops, sums, rows, width, pieces, vocabulary, blocks, eps, temperature,
    PIECES: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Logits in float32; of each block of `BN` tokens the highest over `temperature`, and the sum of the exponentials
    below it."""
    row, block = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1)
    token = block * BN + tl.arange(0, BN)
    inside, wanted = row < rows, token < vocabulary
    found = product(scaled, weight, row, token, rows, width, vocabulary, BM, BN, BK)
    found *= norm_factor(squares, row, rows, pieces, width, eps, PIECES)
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
):  # fmt: skip
    """Draw a row's next token as `sampling.choose` does, write it down and see whether the row is done with it."""
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
def advance(done, going, slot, step, rows, BLOCK: tl.constexpr):
    """The next slot and step; is any row still going?"""
    running = tl.zeros((BLOCK,), tl.int32)
    for start in range(0, rows, BLOCK):
        row = start + tl.arange(0, BLOCK)
        running += (tl.load(done + row, mask=row < rows, other=1) == 0).to(tl.int32)
    tl.store(going, (tl.max(running, axis=0) > 0).to(tl.uint8))
    tl.store(slot, tl.load(slot) + 1)
    tl.store(step, tl.load(step) + 1)
