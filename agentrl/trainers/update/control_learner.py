"""The learner of a VLA policy: the network and its critic in place of a language model, the same optimiser steps."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from agentrl.core.errors import ConfigError
from agentrl.core.seeding import run_seed
from agentrl.models.scoring import Entropy
from agentrl.models.vla.body import Seen
from agentrl.models.vla.loading import LoadedVLA, load_vla
from agentrl.models.vla.spec import VLASpec, fitted, shown_pictures
from agentrl.policies.vla import VLAPolicy
from agentrl.rollout.device_rows import held_rows
from agentrl.rollout.episode import env_id_of, make
from agentrl.rollout.hosts import make_stack
from agentrl.rollout.prompts import for_policy
from agentrl.rollout.starts import alone, on_device
from agentrl.rollout.trajectory import Trajectory
from agentrl.trainers.arguments.imitation import BC
from agentrl.trainers.arguments.policy import GRPO, PPO, PolicyArguments, StepPO
from agentrl.trainers.update.control_batch import GIB, ControlBatch, ControlRow, held_by, memory_message, observed
from agentrl.trainers.update.learner import Critic, CriticKind, Learner, Outputs

ALGORITHMS = (BC, PPO, GRPO, StepPO)
PICTURE_TOKENS = 17  # of each camera; for micro-batches


class Lengths:
    """How many tokens of the body each row takes."""

    packed = False

    def __init__(self, spec: VLASpec) -> None:
        self.spec = spec

    def lengths(self, rows: Sequence[ControlRow]) -> list[int]:
        """One number for each row."""
        fixed = PICTURE_TOKENS * len(self.spec.cameras) + 1 + self.spec.tokens
        return [fixed + len(row.ids) for row in rows]


class ControlLearner(Learner):
    """A VLA network, where they are wanted a critic and a reference, and the optimiser that moves them.

    The critic has an output for each action of a chunk: the value of the state before it, as far as it can be told from
    what was seen before the chunk. It reads the body's summary of the observation.
    """

    engine: LoadedVLA

    def __init__(
        self,
        options: Any,
        *,
        form: Mapping[str, Any] | None = None,
        ranges: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        """`form` are parts of the spec that the model must have, or is given where it is not fitted yet; `ranges` are
        those of data, for the latter alone."""
        self.form, self.ranges = dict(form or {}), dict(ranges or {})
        super().__init__(options, **more)
        # After the files of the model's folder: the tokenizer may have got its action tokens here.
        self.write_beside_policy.append(self.engine.tokenizer.save_pretrained)

    def _load(self, critic: CriticKind, random_heads: int, *, reference: bool) -> None:
        options = self.options
        check_options(options, distributed=self.processes.distributed)
        # A robot's policy looks at the present observation alone.
        options.prompt_style, options.history = "step", 0
        engine = load_vla(options.model, options.device)
        if engine.model is None:
            engine = engine.fit(self._fitted(engine.spec), run_seed(options.seed, 0, "policy"))
        else:
            for name, value in self.form.items():
                if (known := getattr(engine.spec, name)) != value:
                    raise ConfigError(f"{options.model} was made with {name}={known!r}; got {value!r}")
        self.engine, self.policy, self.copies = engine, engine.model, None
        self.device, self.reader = engine.model.device, Lengths(engine.spec)
        self.cameras = self._checked_cameras()
        self.reference = copy.deepcopy(self.policy).requires_grad_(False) if reference else None
        self.critic = None
        if critic != "none":
            body = copy.deepcopy(self.policy) if critic == "own" else None
            width = self.policy.body.width
            self.critic = Critic(width, body, only_reads=critic == "head", heads=engine.spec.chunk).to(self.device)

    def _fitted(self, spec: VLASpec) -> VLASpec:
        """The spec for the robot of the run's first environment."""
        first = alone(self.options.specs()[0])
        env = make(first.id, split="train", **first.kwargs)
        try:
            ids = tuple(dict.fromkeys(one.id for one in self.options.specs()))
            return fitted(spec, env, first.id, **{"trained_on": ids, **self.form, **self.ranges})
        finally:
            env.close()

    def _checked_cameras(self) -> dict[str, list[int]]:
        """The places of the cameras among the pictures of each environment; `ConfigError` where one does not fit the
        policy, or where an iteration's pictures would take too much memory."""
        found, options = {}, self.options
        policy = self.sampler(greedy=True, seed=0)
        for spec in map(alone, options.specs()):
            env = make_stack(for_policy(spec, policy).stack("train"))
            try:
                policy.check_env(env, spec.id)
                shown = shown_pictures(env)
                found[env_id_of(env)] = [shown.index(name) for name in policy.spec.cameras]
                if isinstance(options, PolicyArguments) and env.has_wrapper_attr("max_turns"):
                    turns = math.ceil(env.get_wrapper_attr("max_turns") / policy.chunk) + 1
                    size = options.episodes * turns * len(shown) * 3 * policy.spec.picture_size**2
                    if size > options.picture_memory * GIB:
                        raise ConfigError(memory_message(size, options.picture_memory))
            finally:
                env.close()
        return found

    # ------------------------------------------------------------------ what a run asks

    def batch(self, trajectories: Sequence[Trajectory], *, observations: bool = False) -> ControlBatch:
        """What the algorithms read of an iteration's episodes."""
        options: Any = self.options
        engine = self.engine
        how = {"credit": options.credit, "picture_memory": options.picture_memory}
        return ControlBatch(trajectories, engine.spec, self.cameras, engine.first_action, **how)

    def sampler(self, *, greedy: bool, seed: int, engine: LoadedVLA | None = None) -> VLAPolicy:
        """The policy as it plays; by another copy of its weights, if that is given."""
        return self.sampling(greedy=greedy, seed=seed)(engine or self.engine)

    def sampling(self, *, greedy: bool, seed: int) -> Callable[[Any], VLAPolicy]:
        """What makes that policy of a model; it can be sent to another process."""
        how = {"temperature": self.options.temperature, "batch_size": self.options.generation_batch_size}
        return partial(VLAPolicy, greedy=greedy, seed=seed, **how)

    # ------------------------------------------------------------------ forward passes

    def seen(self, rows: Sequence[ControlRow]) -> Seen:
        """Rows as the network reads them."""
        ids = self.engine.batch_ids([row.ids for row in rows])
        if rows[0].held is not None:
            store, at = held_rows([row.held for row in rows if row.held is not None])
            return store.seen(at, *ids).to(self.device)
        numbers = torch.from_numpy(np.stack([row.numbers for row in rows]))
        names = enumerate(self.engine.spec.cameras)
        pictures = {name: torch.from_numpy(np.stack([row.pictures[n] for row in rows])) for n, name in names}
        return Seen(numbers, pictures, *ids).to(self.device)

    def outputs(
        self, rows: Sequence[Any], *, values: bool = True, entropy: Entropy = "none", only_critic: bool = False
    ) -> Outputs:
        """The policy's and the critic's view of some rows, with gradients where they are switched on."""
        seen = self.seen(rows)
        before = None
        with self.computing():
            with torch.set_grad_enabled(torch.is_grad_enabled() and not only_critic):
                scored = self.scored(self.policy, rows, seen)
            if values and self.critic is not None:
                before = self._each_target(rows, self._action_values(seen, scored.state))
        width = max(len(row.targets) for row in rows)
        counts = torch.tensor([len(row.targets) for row in rows], device=self.device)
        mask = torch.arange(width, device=self.device) < counts[:, None]
        entropies = scored.entropy[:, :width] if entropy == "learned" else scored.entropy[:, :width].detach()
        after = None if before is None else torch.zeros_like(before)  # no estimator of a chunk reads these
        return Outputs(scored.logprobs[:, :width], entropies, before, after, mask)

    def scored(self, network: Any, rows: Sequence[ControlRow], seen: Seen) -> Any:
        """A network's view of the chunks."""
        return network.score(seen, *self.records(rows), temperature=self.temperature)

    def records(self, rows: Sequence[ControlRow]) -> tuple[Tensor, Tensor]:
        """What was drawn: tokens or chains, and which step of a chain was random."""
        if rows[0].held is not None:
            store, at = held_rows([row.held for row in rows if row.held is not None])
            at = at.to(store.device)
            return store.record[at], store.step[at]
        record = torch.from_numpy(np.stack([row.record for row in rows])).to(self.device)
        return record, torch.tensor([row.random_step for row in rows], device=self.device)

    def _action_values(self, seen: Seen, state: Tensor | None = None) -> Tensor:
        """[rows, chunk], from the critic's own body or from the policy's summary."""
        critic = self.critic
        assert critic is not None
        if critic.model is not None:
            state = critic.model.state(seen)
        return critic.every_head(self.policy.state(seen) if state is None else state)

    def _each_target(self, rows: Sequence[ControlRow], values: Tensor) -> Tensor:
        """An action's value at each of its log-probabilities."""
        spec = self.engine.spec
        width = max(len(row.targets) for row in rows)
        return values.repeat_interleave(spec.targets // spec.chunk, 1)[:, :width]

    def logprobs(self, rows: Sequence[Any]) -> list[Tensor]:
        """Of the policy as it is now; a flat CPU tensor per row."""
        return self._all(rows, lambda some: self._scores(self.policy, some))[0]

    def reference_logprobs(self, rows: Sequence[Any]) -> list[Tensor]:
        """Of the policy as it was at the beginning."""
        return self._all(rows, lambda some: self._scores(self.reference, some))[0]

    def _scores(self, network: Any, rows: Sequence[Any]) -> tuple[Tensor]:
        return (self.scored(network, rows, self.seen(rows)).logprobs,)

    def values(self, rows: Sequence[Any]) -> tuple[list[Tensor], list[Tensor]]:
        """Before each target; what comes after is not asked for."""

        def work(some: Sequence[Any]) -> tuple[Tensor]:
            return (self._each_target(some, self._action_values(self.seen(some))),)

        (before,) = self._all(rows, work)
        return before, [torch.zeros_like(row) for row in before]

    @torch.no_grad()
    def last_values(self, prompts: Sequence[Any]) -> Tensor:
        """Of the observations after some episodes, [rows, 1]."""
        found = self._compute(
            self.reader.lengths(prompts),
            [1] * len(prompts),
            lambda some: (self._action_values(self.seen([prompts[index] for index in some]))[:, :1],),
        )
        return torch.stack([value for (value,) in found]) if found else torch.zeros(0, 1)

    def prompt(self, trajectory: Trajectory, ids: list[int], images: Sequence[str]) -> Any:
        """What a trajectory showed last."""
        if (held := held_by(trajectory)) is not None:
            return ControlRow(0, list(ids), held=held.after(len(trajectory.steps)))
        vectors = [trajectory.final_proprio, trajectory.final_state]
        return observed(self.engine.spec, self.cameras[trajectory.env_id], trajectory, ids, images, vectors)


def check_options(options: Any, *, distributed: bool) -> None:
    """`ConfigError` for what a VLA policy cannot be trained with."""
    wrong: Sequence[tuple[str, Callable[[Any], bool]]] = (
        ("engine", lambda value: value != "transformers"),
        ("lora_rank", bool),
        ("gradient_checkpointing", bool),
        ("dtype", lambda value: value not in ("auto", "float32")),
        ("optimiser", lambda value: value != "adamw"),
        ("mc_rollout_every", bool),
        ("critic_truth", bool),
        ("master_weights", lambda value: value == "on"),
    )
    if not isinstance(options, ALGORITHMS):
        names = ", ".join(kind.__name__ for kind in ALGORITHMS)
        raise ConfigError(f"a VLA policy is trained by {names}; {options.model} is one, got {type(options).__name__}")
    for name, is_wrong in wrong:
        if is_wrong(getattr(options, name, None)):
            raise ConfigError(f"{name} must be left at its default for a VLA policy; got {getattr(options, name)!r}")
    if getattr(options, "variant", "") in ("vanilla", "bilevel"):
        raise ConfigError(f"variant must be masked or turn for a VLA policy; got {getattr(options, 'variant', '')!r}")
    if any(map(on_device, options.specs())):
        for name in ("asynchronous", "dynamic_sampling_rounds"):
            if getattr(options, name, 0):
                raise ConfigError(f'{name} must be left out with simulator="warp"; got {getattr(options, name)!r}')
    if distributed:
        raise ConfigError("a VLA policy is trained in one process; leave --processes at 1")
