"""The family of pi0, GR00T and SmolVLA: a chunk is what noise flows to.

Time runs from 1 (noise) to 0 (actions), and a point between them is `x_t = t * noise + (1 - t) * actions`. The network
says the velocity `v = noise - actions`; K Euler steps of `d = 1/K` lead from noise x_0 to a chunk x_K. Each step of the
chain is normal, with the mean and deviation of `transition`:

    at evaluation  deviation 0 (the ODE), from the noise 0: the same chunk every time
    flow_sde       one step, drawn at random, is that of the SDE with the same marginals (Flow-GRPO, pi_RL): its
                   deviation follows from `noise_level` and the time; all other steps are the ODE's
    flow_noise     every step has a deviation that the network says, around the ODE's mean

The whole chain is recorded. The log-probability of an action is that of its numbers at the random step, or the sum over
all steps; a seed would not be enough to find it again, since the network moves on.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor, nn

from agentrl.models.vla.body import Seen
from agentrl.models.vla.policy_net import VLA, Drawn, Scored
from agentrl.models.vla.spec import VLASpec

SMALLEST, LARGEST = 0.02, 0.4  # deviations that the network may say with flow_noise
TIME_WAVES = 32
BETA = 1.5  # times are learned at t = 0.001 + 0.999 * u^(1/1.5): more often near the noise, as in pi0
HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


class Block(nn.Module):
    """Actions look at each other and at the observation; the time scales and shifts what they see."""

    def __init__(self, width: int) -> None:
        super().__init__()
        heads = max(1, width // 32)
        self.norms = nn.ModuleList(nn.LayerNorm(width, elementwise_affine=False) for _ in range(3))
        self.own = nn.MultiheadAttention(width, heads, batch_first=True)
        self.across = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mix = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.time = nn.Linear(width, 6 * width)
        nn.init.zeros_(self.time.weight)
        nn.init.zeros_(self.time.bias)

    def forward(self, actions: Tensor, seen: Tensor, hidden: Tensor, time: Tensor) -> Tensor:
        """`seen` [batch, length, width]; `hidden` where there is nothing to see."""
        scales, shifts = self.time(time)[:, None].chunk(2, -1)
        given = zip(self.norms, scales.chunk(3, -1), shifts.chunk(3, -1), strict=True)
        own, across, mix = (lambda x, n=norm, a=a, b=b: n(x) * (1 + a) + b for norm, a, b in given)
        x = own(actions)
        actions = actions + self.own(x, x, x, need_weights=False)[0]
        actions = actions + self.across(across(actions), seen, seen, key_padding_mask=hidden, need_weights=False)[0]
        return actions + self.mix(mix(actions))


class FlowHead(nn.Module):
    """The velocity, and the deviation, of a noisy chunk."""

    def __init__(self, spec: VLASpec, width: int) -> None:
        super().__init__()
        inside, numbers = spec.head_width, spec.action_numbers
        self.seen = nn.Linear(width, inside)
        self.actions = nn.Linear(numbers, inside)
        self.places = nn.Parameter(torch.randn(spec.chunk, inside) * 0.02)
        self.time = nn.Sequential(nn.Linear(2 * TIME_WAVES, inside), nn.SiLU(), nn.Linear(inside, inside))
        self.blocks = nn.ModuleList(Block(inside) for _ in range(spec.head_layers))
        self.norm = nn.LayerNorm(inside)
        self.velocity = nn.Linear(inside, numbers)
        self.spread = nn.Linear(inside, numbers)
        nn.init.zeros_(self.spread.weight)
        nn.init.zeros_(self.spread.bias)

    def forward(self, seen: Tensor, hidden: Tensor, noisy: Tensor, time: Tensor) -> tuple[Tensor, Tensor]:
        """Of chunks [batch, chunk, numbers] at times [batch]."""
        waves = torch.exp(torch.linspace(0.0, math.log(200.0), TIME_WAVES, device=time.device)) * time[:, None]
        moment = self.time(torch.cat([waves.sin(), waves.cos()], 1))
        x = self.actions(noisy) + self.places + moment[:, None]
        for block in self.blocks:
            x = block(x, seen, hidden, moment)
        x = self.norm(x)
        share = torch.sigmoid(self.spread(x))
        return self.velocity(x), SMALLEST * (LARGEST / SMALLEST) ** share


class Means(NamedTuple):
    """Where a step leads in the mean."""

    ode: Tensor  # without noise
    noisy: Tensor  # with noise: the SDE drifts a little further


class FlowVLA(VLA):
    """Chunks of flows."""

    def __init__(self, spec: VLASpec, language: nn.Module) -> None:
        super().__init__(spec, language)
        self.head = FlowHead(spec, self.body.width)

    @property
    def noise_numbers(self) -> int:
        """For x_0, for every step, and one that chooses the random step."""
        return (self.spec.denoising_steps + 1) * self.spec.tokens + 1

    def draw(self, seen: Seen, noise: Tensor, *, temperature: float = 1.0, greedy: bool = False) -> Drawn:
        """Follow the chain; `temperature` multiplies its deviations."""
        steps, shape = self.spec.denoising_steps, (self.spec.chunk, self.spec.action_numbers)
        given, hidden, _ = self._look(seen)
        rows = len(given)
        if greedy:
            normal = given.new_zeros(rows, steps + 1, *shape)
            which = torch.full((rows,), steps, device=given.device)  # none of them
        else:
            normal = torch.special.ndtri(noise[:, :-1].double()).float().unflatten(1, (steps + 1, *shape))
            every = self.spec.noise == "flow_noise"
            which = (noise[:, -1] * steps).long().clamp(max=steps - 1)
            which = torch.full_like(which, -1) if every else which
        chain, logprobs = [normal[:, 0]], given.new_zeros(rows, self.spec.chunk)
        for number in range(steps):
            mean, spread = self.transition(given, hidden, chain[-1], number, temperature)
            random = ((which == number) | (which == -1))[:, None, None]
            drawn = torch.where(random, mean.noisy + spread * normal[:, number + 1], mean.ode)
            logprobs = logprobs + torch.where(random, log_normal(drawn, mean.noisy, spread), 0.0).sum(2)
            chain.append(drawn)
        return Drawn(chain[-1], logprobs, torch.stack(chain, 1), which)

    def score(self, seen: Seen, record: Tensor, step: Tensor, *, temperature: float = 1.0) -> Scored:
        """Of recorded chains: the steps in which they were random."""
        given, hidden, state = self._look(seen)
        rows, steps = len(record), self.spec.denoising_steps
        logprobs = entropy = given.new_zeros(rows, self.spec.chunk)
        if self.spec.noise == "flow_sde":  # each row at its own step, all in one pass
            numbers = step.clamp(0, steps - 1)
            pick = torch.arange(rows, device=record.device)
            mean, spread = self.transition(given, hidden, record[pick, numbers], numbers, temperature)
            parts = [(record[pick, numbers + 1], mean, spread)]
        else:
            parts = [
                (record[:, n + 1], *self.transition(given, hidden, record[:, n], n, temperature)) for n in range(steps)
            ]
        for after, mean, spread in parts:
            logprobs = logprobs + log_normal(after, mean.noisy, spread).sum(2)
            entropy = entropy + (spread.log() + 0.5 + HALF_LOG_TWO_PI).expand_as(after).sum(2)
        return Scored(logprobs, entropy, state)

    def transition(
        self, given: Tensor, hidden: Tensor, noisy: Tensor, number: int | Tensor, temperature: float
    ) -> tuple[Means, Tensor]:
        """Where one step leads: its means, and its deviation where it is random."""
        steps = self.spec.denoising_steps
        step = torch.as_tensor(number, device=noisy.device).expand(len(noisy)).float()
        time = 1 - step / steps
        velocity, spread = self.head(given, hidden, noisy, time)
        t, d = time[:, None, None], 1 / steps
        ode = noisy - d * velocity
        if self.spec.noise == "flow_noise":
            return Means(ode, ode), temperature * spread
        # sigma^2 = level^2 * t / (1 - t); at t = 1, where that is infinite, that of the step after.
        near = torch.where(t > 1 - d / 2, t.new_tensor(1 - d if steps > 1 else 0.5), t)
        sigma = self.spec.noise_level * (t / (1 - near)).sqrt()
        pure = noisy + (1 - t) * velocity  # the noise that the network sees in it
        return Means(ode, ode - sigma.square() * d / (2 * t) * pure), temperature * sigma * math.sqrt(d)

    def imitation_loss(self, seen: Seen, actions: Tensor, kept: Tensor, generator: torch.Generator) -> Tensor:
        """Flow matching: the mean squared error of the velocity at a random time, over kept actions."""
        given, hidden, _ = self._look(seen)
        noise = torch.randn(actions.shape, generator=generator).to(actions.device)
        uniform = torch.rand(len(actions), generator=generator).to(actions.device)
        time = 0.001 + 0.999 * uniform ** (1 / BETA)
        t = time[:, None, None]
        velocity, _ = self.head(given, hidden, t * noise + (1 - t) * actions, time)
        missed = (velocity - (noise - actions)).square().mean(2)
        return torch.where(kept, missed, 0.0).sum(1) / kept.sum(1).clamp(min=1)

    def _look(self, seen: Seen) -> tuple[Tensor, Tensor, Tensor]:
        """What the head sees, where there is nothing to see, and the summary."""
        read = self.body(seen)
        return self.head.seen(read.prefix), ~read.mask, read.state


def log_normal(x: Tensor, mean: Tensor, spread: Tensor) -> Tensor:
    """The log-density of independent normal numbers."""
    return -0.5 * ((x - mean) / spread).square() - spread.log() - HALF_LOG_TWO_PI
