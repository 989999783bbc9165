"""Batched sampling with a key-value cache, and the log-probabilities of what was sampled.

All randomness of a call is drawn before the model is asked: one number in [0, 1) for each row and position, turned into
a token by inverting the cumulative distribution. So a row's answer depends on its own numbers only, not on which rows
share its batch, when they finish, or the device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError
from agentrl.models.scoring import Batch

SYNC_EVERY = 8  # steps between looks at who has finished, on a GPU: every look waits for it
# Sees each step: rows, their tokens, log-probabilities and logits; gives the rows that end with this token.
Watch = Callable[[list[int], list[int], list[float], torch.Tensor], Sequence[int]]
BLOCK = 128  # tokens that are first looked at together when one is drawn from a large vocabulary


@dataclass(frozen=True)
class Sampling:
    """How a token is chosen. Log-probabilities are those at `temperature`, before `top_k` and `top_p` cut."""

    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0  # 0: no cut
    greedy: bool = False
    max_new_tokens: int = 128

    def __post_init__(self) -> None:
        finite_number("temperature", self.temperature)
        finite_number("top_p", self.top_p)
        whole_number("top_k", self.top_k, at_least=0)
        whole_number("max_new_tokens", self.max_new_tokens, at_least=1)
        if self.temperature <= 0:
            raise ConfigError(
                f"temperature must be above 0; got {self.temperature}; for the likeliest token: greedy=True"
            )
        if not 0 < self.top_p <= 1:
            raise ConfigError(f"top_p must be above 0 and at most 1; got {self.top_p}")

    def to_json(self) -> dict[str, Any]:
        """What a trajectory keeps beside the log-probabilities."""
        return asdict(self)


@dataclass(frozen=True)
class Answer:
    """The tokens of one row, its stop token included, and their log-probabilities."""

    ids: list[int]
    logprobs: list[float]
    stopped: bool


# ---------------------------------------------------------------------- one token


def log_distribution(logits: torch.Tensor, temperature: float) -> torch.Tensor:
    """Log-probabilities at a temperature, in float32 whatever the model computes in."""
    return torch.log_softmax(logits.float() / temperature, dim=-1)


def choose(logits: torch.Tensor, noise: torch.Tensor, how: Sampling) -> tuple[torch.Tensor, torch.Tensor]:
    """A token for each row, and its log-probability before any cut."""
    logprobs = log_distribution(logits, how.temperature)
    tokens = logits.argmax(dim=-1) if how.greedy else _invert(cut(logprobs, how.top_k, how.top_p).exp(), noise)
    return tokens, logprobs.gather(-1, tokens[:, None])[:, 0]


def likeliest(logits: torch.Tensor, temperature: float, count: int) -> list[list[tuple[int, float]]]:
    """For each row the `count` likeliest tokens and their log-probabilities, the likeliest first."""
    found = log_distribution(logits, temperature).topk(min(count, logits.shape[-1]), dim=-1)
    pairs = zip(found.indices.tolist(), found.values.tolist(), strict=True)
    return [list(zip(tokens, logprobs, strict=True)) for tokens, logprobs in pairs]


def cut(logprobs: torch.Tensor, top_k: int, top_p: float) -> torch.Tensor:
    """-inf for what is not among the `top_k` likeliest, or not needed to reach the mass `top_p`; no renormalising."""
    if 0 < top_k < logprobs.shape[-1]:
        smallest = logprobs.topk(top_k, dim=-1).values[:, -1:]
        logprobs = logprobs.masked_fill(logprobs < smallest, -torch.inf)
    if top_p < 1:
        ordered, order = logprobs.sort(dim=-1, descending=True)
        mass = ordered.softmax(dim=-1)
        # A token stays as long as those before it have not reached the mass; so the first always stays.
        needed = mass.cumsum(dim=-1) - mass < top_p
        logprobs = logprobs.masked_fill(~torch.zeros_like(needed).scatter(-1, order, needed), -torch.inf)
    return logprobs


def _invert(weights: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    """The first token whose cumulative weight exceeds noise x total: never one of weight 0.

    In two levels, first the block of tokens, then the token in it: a large vocabulary is read once and only its block
    sums are added up in double precision (50,000 terms add up to too large an error in single precision).
    """
    rows, size = weights.shape
    width = BLOCK if size > BLOCK**2 else size
    if size % width:
        weights = torch.nn.functional.pad(weights, (0, width - size % width))
    blocks = weights.view(rows, -1, width)
    sums = blocks.sum(dim=-1, dtype=torch.double)
    block, rest = _locate(sums, noise.double() * sums.sum(dim=-1))
    inside = blocks.gather(1, block[:, None, None].expand(-1, 1, width))[:, 0].double()
    return block * width + _locate(inside, rest)[0]


def _locate(weights: torch.Tensor, wanted: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Where the running sum first exceeds `wanted`, and how much of it is left there."""
    cumulative = weights.cumsum(dim=-1)
    found = torch.searchsorted(cumulative, wanted[:, None], right=True)[:, 0]
    # Rounding may not step past the last that has any weight.
    found = torch.minimum(found, (weights > 0).long().cumsum(dim=-1).argmax(dim=-1))[:, None]
    return found[:, 0], wanted - (cumulative - weights).gather(-1, found)[:, 0]


# ---------------------------------------------------------------------- whole answers


class Decoder:
    """Samples the answers to one batch, token by token."""

    def __init__(self, model: Any, batch: Batch, stops: Sequence[int], limits: Sequence[int]) -> None:
        device = batch.ids.device
        self.model, self.batch = model, batch
        self.stops = torch.tensor(sorted(stops), device=device)
        self.limits = torch.tensor(limits, device=device)
        self.steps = max(limits)
        room = torch.ones(len(batch.mask), self.steps, dtype=batch.mask.dtype, device=device)
        self.mask = torch.cat([batch.mask, room], dim=1)
        self.padded = not bool(batch.mask.all())
        self.rows = torch.arange(len(batch.ids), device=device)  # which are still in the batch
        self.done = torch.zeros(len(batch.ids), dtype=torch.bool, device=device)
        self.cache: Any = None

    def run(self, noise: torch.Tensor, how: Sampling, watch: Watch | None = None) -> list[Answer]:
        """All answers, in the order of the batch; `watch` sees every token as it is drawn."""
        count, device = len(self.rows), self.rows.device
        tokens = torch.zeros(count, self.steps, dtype=torch.long, device=device)
        logprobs = torch.zeros(count, self.steps, device=device)
        noise = noise.to(device)
        batch, prompt = self.batch, self.batch.ids.shape[1]
        logits = self._ask(batch.ids, batch.positions, self.mask[:, :prompt], batch.extra)
        for step in range(self.steps):
            token, logprob = choose(logits, noise[self.rows, step], how)
            tokens[self.rows, step], logprobs[self.rows, step] = token, logprob
            if watch is not None:
                # It sees the rows that are not done; those it ends have reached their limit.
                going = (~self.done).nonzero()[:, 0]
                rows = self.rows[going].tolist()
                ended = watch(rows, token[going].tolist(), logprob[going].tolist(), logits[going])
                self.limits[list(ended)] = step + 1
            self.done |= torch.isin(token, self.stops) | (self.limits[self.rows] <= step + 1)
            if step + 1 == self.steps or ((token := self._drop_finished(step, token)) is None):
                break
            position = (batch.next_position[self.rows] + step)[:, None]
            if batch.positions.ndim == 3:
                position = position.expand(3, -1, -1)
            logits = self._ask(token[:, None], position, self.mask[self.rows, : prompt + step + 1], {})
        stops, answers = set(self.stops.tolist()), []
        for ids, scores, limit in zip(tokens.tolist(), logprobs.tolist(), self.limits.tolist(), strict=True):
            length = next((index + 1 for index, token in enumerate(ids[:limit]) if token in stops), limit)
            answers.append(Answer(ids[:length], scores[:length], ids[length - 1] in stops))
        return answers

    def _ask(self, ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor, extra: dict) -> torch.Tensor:
        found = self.model(
            input_ids=ids,
            position_ids=positions,
            attention_mask=mask if self.padded else None,
            past_key_values=self.cache,
            use_cache=True,
            logits_to_keep=1,
            **extra,
        )
        self.cache = found.past_key_values
        return found.logits[:, -1]

    def _drop_finished(self, step: int, token: torch.Tensor) -> torch.Tensor | None:
        """The tokens of the rows that go on; None when all have finished. Rows leave when that saves a good part."""
        if self.rows.device.type != "cpu" and (step + 1) % SYNC_EVERY:
            return token
        going = int((~self.done).sum())
        if not going:
            return None
        if going > 0.75 * len(self.rows):
            return token
        kept = (~self.done).nonzero()[:, 0]
        self.cache.batch_select_indices(kept)
        self.rows, self.done = self.rows[kept], self.done[kept]
        return token[kept]


# ---------------------------------------------------------------------- shared prefixes
#
# What the rows of a batch have in common is computed once: the keys and values of their shared first tokens. Prompts of
# one environment begin with the same system prompt, the turns of one start state share nearly everything. `prefill`
# reads the shared tokens as a batch of one, `expand` lends the result to every row, and the rest of the batch
# (`after_prefix`) is read on top of it. All of it carries gradients, so samplers and trainers use it alike:
#
#     length = shared_length([prompt.ids for prompt in prompts], image_token)
#     whole = pack(model, prompts, pad, image_token, side="right")
#     rest = after_prefix(whole, length)
#     cache = expand(prefill(model, prompts[0].ids[:length]), len(prompts))
#     model(rest.ids, attention_mask=rest.mask, position_ids=rest.positions, past_key_values=cache, **rest.extra)
#
# The logits are those of the columns after the prefix. A trainer that needs the logits of each prompt's last token
# (they score the first token of the answer) says `at_most=shortest prompt - 1`, so that this token is not part of the
# prefix.


def prefill(model: Any, prefix: Sequence[int] | torch.Tensor) -> Any:
    """The key-value cache (of transformers) after `prefix`, a batch of one row; with gradients where switched on."""
    from transformers import DynamicCache

    cache = DynamicCache()
    if not len(prefix):
        return cache
    ids = torch.as_tensor(prefix, device=model.device)[None]
    positions = torch.arange(len(prefix), device=model.device)[None]
    if hasattr(model.config, "vision_config"):
        positions = positions.expand(3, 1, -1)  # time, height and width count alike where there are no pictures
    model(input_ids=ids, position_ids=positions, past_key_values=cache, use_cache=True, logits_to_keep=1)
    return cache


def expand(cache: Any, rows: int) -> Any:
    """A new cache that shows every row the one row of `cache`, without copying it; `cache` can be lent again."""
    from transformers import DynamicCache

    lent: Any = DynamicCache()
    for index, layer in enumerate(cache.layers):
        lent.update(layer.keys, layer.values, index)
        lent.layers[index].keys = layer.keys.expand(rows, -1, -1, -1)
        lent.layers[index].values = layer.values.expand(rows, -1, -1, -1)
    return lent


def after_prefix(batch: Batch, length: int) -> Batch:
    """The batch without its first `length` tokens, padded on the side it was; the mask covers the prefix too."""
    lengths = batch.mask.sum(-1, keepdim=True) - length
    width = batch.ids.shape[1] - length
    left_padded = not bool(batch.mask[:, 0].all())
    columns = torch.arange(width, device=batch.ids.device)
    # Padded on the left, the columns before a shorter row's rest hold prefix tokens: they are masked.
    own = columns >= width - lengths if left_padded else columns < lengths
    seen = torch.ones(len(batch.ids), length, dtype=batch.mask.dtype, device=batch.mask.device)
    return replace(
        batch,
        ids=batch.ids[:, length:],
        mask=torch.cat([seen, own.to(batch.mask.dtype)], dim=1),
        positions=batch.positions[..., length:],
    )
