"""Generators on the machines of a cluster: actors with a copy of the model, whose weights come through Ray's object
store. The trainer publishes; an actor takes what is newest between two of its batches, as one of this process does."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from agentrl.core.errors import AgentRLError, EngineFault
from agentrl.core.policy import Conversation, Generation, Policy
from agentrl.rollout.cluster import ANYWHERE
from agentrl.trainers.parallel.generators import Engine, RemotePolicy, own_copy, size_of

log = logging.getLogger(__name__)

START_SECONDS = 1800.0  # of an actor, whose model travels there


class ClusterWeights:
    """The newest published weights, in the object store. Older ones are freed when no generator reads them."""

    def __init__(self, ray: Any, model: nn.Module, version: int) -> None:
        self._ray, self._model, self.version, self.bytes = ray, model, version, 0
        self.reference: Any = None

    @torch.no_grad()
    def publish(self, version: int) -> None:
        """Hold what the model has now."""
        weights = {name: as_bytes(parameter) for name, parameter in self._model.named_parameters()}
        self.bytes = sum(one.nbytes for one in weights.values())
        self.reference, self.version = self._ray.put(weights), version


class GeneratorActor:
    """What runs there."""

    def __init__(self, given: tuple[Engine, Callable[[Any], Policy], int], version: int) -> None:
        engine, make_policy, threads = given
        torch.set_num_threads(threads)  # another number gives other last bits
        self._model = engine.model.to("cuda") if torch.cuda.is_available() else engine.model
        self._policy: Any = make_policy(engine)
        self._policy.version = version

    def ready(self) -> bool:
        """Does it answer?"""
        return True

    @torch.no_grad()
    def refresh(self, weights: dict[str, np.ndarray], version: int) -> None:
        """Take newer weights."""
        for name, parameter in self._model.named_parameters():
            raw = torch.from_numpy(weights[name].copy()).view(parameter.dtype)
            parameter.copy_(raw.view(parameter.shape))
        self._policy.version = version

    def act(self, conversations: Sequence[Conversation], keys: Sequence[str]) -> list[Generation]:
        """One answer to each conversation."""
        return self._policy.act(conversations, keys=keys)


class ClusterGenerator(RemotePolicy):
    """An actor that answers; one that died, or gave no answer within `seconds`, is replaced by one with the newest
    weights, which is asked again."""

    def __init__(
        self,
        ray: Any,
        options: dict[str, Any],
        engine: Engine,
        make_policy: Callable[[Any], Policy],
        local: Any,
        weights: ClusterWeights,
        seconds: float,
    ) -> None:
        super().__init__(local)
        self._ray, self._options, self._weights, self._seconds = ray, options, weights, seconds
        self.bytes = size_of(engine.model.parameters())
        copy = own_copy(engine)
        copy.model.to("cpu")
        self._given = ray.put((copy, make_policy, torch.get_num_threads()))
        self._start = weights.version
        self._begin()

    def _begin(self) -> None:
        made = self._ray.remote(GeneratorActor).options(max_restarts=0, **self._options)
        self._actor = made.remote(self._given, self._start)
        self._options = {**ANYWHERE, "num_gpus": self._options.get("num_gpus", 0)}
        self._version, self._refreshing, self._starting = self._start, [], [self._actor.ready.remote()]

    def refresh(self) -> None:
        """Take newer weights, if there are any; calls of an actor are made one after the other."""
        if self._version != self._weights.version and self._weights.reference is not None:
            version = self._weights.version
            self._refreshing.append(self._actor.refresh.remote(self._weights.reference, version))
            self._version = version

    def act(self, conversations: Sequence[Conversation], envs: Any = None, *, keys: Sequence[str]) -> list[Generation]:
        """One answer to each conversation."""
        errors = self._ray.exceptions
        try:
            try:
                return self._answers(conversations, keys)
            except (errors.RayActorError, errors.NodeDiedError, errors.GetTimeoutError) as error:
                self._replace(error)
                return self._answers(conversations, keys)
        except errors.GetTimeoutError as error:
            raise EngineFault(
                "a generator on the cluster and the one in its place gave no answer in time; raise generator_timeout "
                f"(now {self._seconds:g} s) if batches take that long"
            ) from error
        except errors.RayTaskError as error:
            cause = error.cause
            raise cause if isinstance(cause, AgentRLError) else EngineFault(f"a generator failed: {error}") from error
        except errors.RayError as error:
            raise EngineFault(f"a generator on the cluster: {type(error).__name__}: {error}") from error

    def _replace(self, error: Exception) -> None:
        """Begin another actor in the place of one that ended, hangs, or is out of reach."""
        hangs = isinstance(error, self._ray.exceptions.GetTimeoutError)
        log.warning("a generator is replaced, since it %s", "gave no answer in time" if hangs else f"ended: {error}")
        self.close()
        self.restarts, self.hung = self.restarts + 1, self.hung + hangs
        self._begin()
        self.refresh()

    def _answers(self, conversations: Sequence[Conversation], keys: Sequence[str]) -> list[Generation]:
        if self._starting:
            self._ray.get(self._starting, timeout=START_SECONDS)
            self._starting.clear()
        asked = [*self._refreshing, self._actor.act.remote(list(conversations), list(keys))]
        *_, answers = self._ray.get(asked, timeout=self._seconds)
        self._refreshing.clear()
        return answers

    def close(self) -> None:
        """End the actor."""
        self._ray.kill(self._actor)


def as_bytes(parameter: torch.Tensor) -> np.ndarray:
    """A parameter's bytes; numpy knows no bfloat16."""
    return parameter.detach().cpu().contiguous().view(-1).view(torch.uint8).numpy().copy()
