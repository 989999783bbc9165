"""The family of OpenVLA: a number of an action is one of 256 tokens, and a chunk is exactly chunk x numbers of them.

The tokens are the tokenizer's own (`<action_0>` to `<action_255>`). Drawing and scoring look at these alone: no other
token can be written, and none ends a reply. Two decoders:

    parallel        all places are read in one pass, and each sees all others' places, not what is written there (as in
                    OpenVLA-OFT)
    autoregressive  one token after the other, each sees those before it
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from agentrl.models.vla.actions import BINS, from_bins, to_bins
from agentrl.models.vla.body import Read, Seen
from agentrl.models.vla.policy_net import VLA, Drawn, Scored
from agentrl.models.vla.spec import VLASpec

ACTION_TOKENS = tuple(f"<action_{number}>" for number in range(BINS))


class TokenVLA(VLA):
    """Chunks of tokens. `first` is the id of `<action_0>`; the others follow it."""

    def __init__(self, spec: VLASpec, language: nn.Module, first: int) -> None:
        super().__init__(spec, language)
        self.first = first
        self.places = nn.Parameter(torch.randn(spec.tokens, self.body.width) * 0.02)
        self.begin = nn.Parameter(torch.zeros(self.body.width))

    @property
    def noise_numbers(self) -> int:
        """One for each token."""
        return self.spec.tokens

    @property
    def words(self) -> Tensor:
        """The embeddings of the action tokens, [256, width]."""
        return self.body.embeddings.weight[self.first : self.first + BINS]

    def draw(self, seen: Seen, noise: Tensor, *, temperature: float = 1.0, greedy: bool = False) -> Drawn:
        """Tokens from their distribution at `temperature`, or the likeliest."""
        rows = len(seen.ids)
        if self.spec.decoder == "parallel":
            read = self.body(seen, self.places.expand(rows, -1, -1))
            logprobs = self.distribution(read.actions, temperature)
            bins = chosen_bins(logprobs, noise, greedy)
        else:
            bins, logprobs = self._one_by_one(seen, noise, temperature, greedy)
        taken = logprobs.gather(-1, bins[..., None])[..., 0]
        return Drawn(self.actions_of(bins), taken, bins, torch.full_like(bins[:, 0], -1))

    def _one_by_one(self, seen: Seen, noise: Tensor, temperature: float, greedy: bool) -> tuple[Tensor, Tensor]:
        rows = len(seen.ids)
        read: Read = self.body(seen, (self.begin + self.places[0]).expand(rows, 1, -1), causal=True, keep=True)
        hidden, bins, spread = read.actions[:, 0], [], []
        for place in range(self.spec.tokens):
            if place:
                hidden = self.body.further(read, self.words[bins[-1]] + self.places[place], place)
            spread.append(self.distribution(hidden, temperature))
            bins.append(chosen_bins(spread[-1], noise[:, place], greedy))
        return torch.stack(bins, 1), torch.stack(spread, 1)

    def score(self, seen: Seen, record: Tensor, step: Tensor, *, temperature: float = 1.0) -> Scored:
        """Of the tokens in `record`."""
        logprobs, read = self._distributions(seen, record, temperature)
        taken = logprobs.gather(-1, record[..., None])[..., 0]
        return Scored(taken, -(logprobs.exp() * logprobs).sum(-1), read.state)

    def imitation_loss(self, seen: Seen, actions: Tensor, kept: Tensor, generator: torch.Generator) -> Tensor:
        """The mean negative log-likelihood of the tokens of kept actions."""
        bins = to_bins(actions).flatten(1)
        logprobs, _ = self._distributions(seen, bins, 1.0)
        taken = logprobs.gather(-1, bins[..., None])[..., 0].unflatten(1, (self.spec.chunk, -1)).mean(2)
        return -torch.where(kept, taken, 0.0).sum(1) / kept.sum(1).clamp(min=1)

    def _distributions(self, seen: Seen, bins: Tensor, temperature: float) -> tuple[Tensor, Read]:
        """Log-probabilities of all 256 tokens at each place, given the tokens before it."""
        rows, causal = len(bins), self.spec.decoder == "autoregressive"
        given = self.places.expand(rows, -1, -1)
        if causal:
            before = torch.cat([self.begin.expand(rows, 1, -1), self.words[bins[:, :-1]]], 1)
            given = given + before
        read = self.body(seen, given, causal=causal)
        return self.distribution(read.actions, temperature), read

    def distribution(self, hidden: Tensor, temperature: float) -> Tensor:
        """Log-probabilities of the action tokens, [..., 256]."""
        return torch.log_softmax(hidden @ self.words.T / temperature, -1)

    def actions_of(self, bins: Tensor) -> Tensor:
        """From -1 to 1, [batch, chunk, numbers]."""
        return from_bins(bins).unflatten(1, (self.spec.chunk, self.spec.action_numbers))


def chosen_bins(logprobs: Tensor, noise: Tensor, greedy: bool) -> Tensor:
    """The likeliest, or the one in which a uniform number falls: the first whose cumulated probability is above it."""
    if greedy:
        return logprobs.argmax(-1)
    reached = logprobs.double().exp().cumsum(-1)
    return (reached <= noise.double()[..., None] * reached[..., -1:]).sum(-1).clamp(max=BINS - 1)


@torch.no_grad()
def smooth_embeddings(weights: Tensor, std: float) -> None:
    """First embeddings of the 256 tokens: cosines of their numbers, so that neighbours are alike."""
    width = weights.shape[1]
    numbers = (torch.arange(BINS) + 0.5) / BINS
    waves = torch.cos(math.pi * numbers[:, None] * torch.arange(width)) / (1 + torch.arange(width) / 8)
    weights.copy_(waves * (std / waves.std()))
