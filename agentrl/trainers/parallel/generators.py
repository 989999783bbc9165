"""Generators: copies of the policy that answer while the trainer moves its own weights.

The trainer publishes; each generator takes what is newest between two of its batches, so that all tokens of a batch are
of one version, and rollouts never stop for it.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from agentrl.core.policy import Policy
from agentrl.models.chat import PromptEncoder
from agentrl.models.loading import LoadedModel
from agentrl.models.vla.loading import LoadedVLA

Engine = LoadedModel | LoadedVLA


class Weights:
    """The newest published weights, in a copy of their own that is made at the first `publish`."""

    def __init__(self, model: nn.Module, version: int) -> None:
        self._model, self.version = model, version
        self._held: dict[str, Tensor] = {}
        self._lock = threading.Lock()

    @torch.no_grad()
    def publish(self, version: int) -> None:
        """Hold what the model has now; waits while a generator is copying."""
        with self._lock:
            for name, parameter in self._model.named_parameters():
                if name in self._held:
                    self._held[name].copy_(parameter)
                else:
                    self._held[name] = parameter.detach().clone()
            finish(self._model)
            self.version = version

    @torch.no_grad()
    def copy_to(self, model: nn.Module) -> int:
        """Write them into a model that is built like this one; their version."""
        with self._lock:
            for name, parameter in model.named_parameters() if self._held else ():
                parameter.copy_(self._held[name])
            finish(model)
            return self.version

    @property
    def bytes(self) -> int:
        """What they take."""
        return size_of(self._held.values())


class Generator:
    """A policy with weights of its own, and on a GPU with a stream of its own.

    In the stream of the trainer every batch would wait for all kernels that an update has asked for so far. Those of a
    batch are few and small, so they go first: somebody waits for each of them.
    """

    def __init__(self, engine: Engine, make_policy: Callable[[Any], Policy], weights: Weights) -> None:
        self._model, self._weights = own_copy(engine), weights
        self.policy: Any = make_policy(self._model)
        self.policy.version = weights.copy_to(self._model.model)
        device = self._model.model.device
        self._stream = torch.cuda.Stream(device, priority=-1) if device.type == "cuda" else None

    def refresh(self) -> None:
        """Take newer weights, if there are any; between two batches, in the thread that answers."""
        if self._stream is not None:
            torch.cuda.set_stream(self._stream)  # that of this thread
        if self.policy.version != self._weights.version:
            self.policy.version = self._weights.copy_to(self._model.model)

    @property
    def bytes(self) -> int:
        """What its weights take."""
        return size_of(self._model.model.parameters())


class RemotePolicy:
    """A policy whose answers come from another process. Everything else is that of `local`, a policy of this process
    with the same model."""

    keyed = True  # so an answer does not depend on which process gives it, nor on how often it was asked

    def __init__(self, local: Any) -> None:
        self._local, self.restarts, self.hung = local, 0, 0

    @property
    def policy(self) -> Any:
        """What answers: itself."""
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._local, name)


def own_copy(engine: Engine) -> Engine:
    """A model that shares nothing that changes: weights, decoder, and the tokenizer, which is not for several threads
    at once."""
    # Parameters that want gradients stay so: on a processor torch multiplies those in another order.
    model = copy.deepcopy(engine.model)
    if isinstance(engine, LoadedVLA):
        return replace(
            engine, model=model, language=model.body.language, tokenizer=copy.deepcopy(engine.tokenizer), _ids={}
        )
    encoder = engine.encoder
    reader = PromptEncoder(copy.deepcopy(encoder.tokenizer), encoder.image_processor, encoder.image_token)
    return replace(engine, model=model, encoder=reader, decoder=None)


def finish(model: nn.Module) -> None:
    """Wait until a GPU has done what this thread asked of it, before a thread with another stream reads or writes the
    same weights."""
    device = next(model.parameters()).device
    if device.type == "cuda":
        torch.cuda.current_stream(device).synchronize()


def size_of(tensors: Any) -> int:
    """Bytes of tensors."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
