"""The modules that a trainer computes with, where those are not the ones that hold the weights it trains.

On a GPU a model computes in bfloat16, while its weights are trained in float32: rounded to bfloat16, most steps of an
optimiser would vanish. So there are two sets of weights: *masters* in float32, which the optimiser moves and which
checkpoints hold, and a rounded *copy* of them, which forward and backward passes read. After each pass the gradients of
the copy are added to those of the masters, in float32; after each step the copy is rounded anew. The policy's copy is
the very weights that the engine generates with, so that nothing is left to publish.

The copy's modules are the trainer's own: they attend over packed rows and may be compiled, neither of which the
modules that generate (and whose weights they share) must notice.
"""

from __future__ import annotations

import copy
import logging
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from agentrl.core.errors import ConfigError
from agentrl.models import attention, packed_attention
from agentrl.models.loading import LoadedModel
from agentrl.models.scoring import Reader, token_scores
from agentrl.trainers.arguments.run import RunArguments
from agentrl.trainers.parallel.sharding import decoder_layers
from agentrl.trainers.update.batch import Row
from agentrl.trainers.update.models import ready_to_train

log = logging.getLogger(__name__)
MAX_VARIANTS = 64
WORTH_COMPILING = 20  # iterations; compiling takes about half a minute


class ComputeCopy:
    """`model` computes for `masters`, a model of the same architecture; they may share their weights."""

    def __init__(self, masters: nn.Module, model: Any) -> None:
        self.model = model
        copies = dict(model.named_parameters())
        self._pairs = [(p, copies[name]) for name, p in masters.named_parameters() if p is not copies[name]]
        self._room: dict[int, Tensor] = {}  # for gradients of the masters, taken once
        for master, rounded in self._pairs:
            rounded.requires_grad_(master.requires_grad)

    @torch.no_grad()
    def collect_gradients(self) -> None:
        """Add the copy's gradients to those of the masters, and clear them."""
        first: list[tuple[Tensor, Tensor]] = []
        again: list[tuple[Tensor, Tensor]] = []
        for master, rounded in self._pairs:
            if rounded.grad is None:
                continue
            if master.grad is not None:
                again.append((master.grad, rounded.grad))
            else:
                master.grad = self._room.setdefault(id(master), torch.empty_like(master))
                first.append((master.grad, rounded.grad))
        for pairs, work in ((first, torch._foreach_copy_), (again, torch._foreach_add_)):  # pyright: ignore[reportPrivateImportUsage]
            if pairs:
                work([total for total, _ in pairs], [gradient for _, gradient in pairs])
        self.forget_gradients()

    def forget_gradients(self) -> None:
        """Those that were not collected."""
        for _, rounded in self._pairs:
            rounded.grad = None

    @torch.no_grad()
    def refresh(self) -> None:
        """Round the masters anew."""
        if self._pairs:
            masters, rounded = zip(*self._pairs, strict=True)
            torch._foreach_copy_(list(rounded), list(masters))  # pyright: ignore[reportPrivateImportUsage]


def same_weights(model: Any) -> Any:
    """A second set of modules, with a configuration of their own, on the same weights."""
    kept = {id(tensor): tensor for tensor in chain(model.parameters(), model.buffers())}
    return copy.deepcopy(model, kept)  # pyright: ignore[reportArgumentType] (a memo maps ids to anything)


class ComputeCopies:
    """The copies of a run's models, where there are any (see `uses_copies`)."""

    def __init__(self, options: RunArguments, engine: LoadedModel) -> None:
        self.options, self.dtype = options, engine.model.dtype
        self.packed = packs_rows(options, engine)
        self.reader = Reader.of(
            engine, share_prefix=self.packed or not options.gradient_checkpointing, packed=self.packed
        )
        # A short run would be over before compiling has paid for itself.
        long = engine.model.device.type == "cuda" and options.iterations >= WORTH_COMPILING
        self.compiled = options.compile == "on" or (options.compile == "auto" and long)
        self._copies: dict[int, ComputeCopy] = {}

    def add(self, masters: Any, source: Any = None) -> None:
        """Compute for `masters` with the weights of `source`; without one, with its own or a rounded copy of them."""
        if masters is None:
            return
        if source is None:
            source = masters if masters.dtype == self.dtype else copy.deepcopy(masters).to(self.dtype)
        model = same_weights(source).train(masters.training)
        if masters.training:
            ready_to_train(model, gradient_checkpointing=self.options.gradient_checkpointing)
        if self.packed:
            from transformers import AttentionInterface

            AttentionInterface.register(packed_attention.NAME, packed_attention.attend_packed)
            model.config.get_text_config()._attn_implementation = packed_attention.NAME
        if self.compiled:
            self.compiled = compile_layers(model, self.reader)
        self._copies[id(masters)] = ComputeCopy(masters, model)

    def of(self, model: Any) -> Any:
        """What computes for a model."""
        return self._copies[id(model)].model if id(model) in self._copies else model

    def collect_gradients(self) -> None:
        """Of all copies."""
        for one in self._copies.values():
            one.collect_gradients()

    def forget_gradients(self) -> None:
        """Those that were not collected."""
        for one in self._copies.values():
            one.forget_gradients()

    def refresh(self) -> None:
        """Round all masters anew."""
        for one in self._copies.values():
            one.refresh()


def uses_copies(options: RunArguments, engine: LoadedModel, *, sharded: bool) -> bool:
    """Does training compute with modules of its own? Adapters and sharded weights are computed with as they are."""
    if options.lora_rank or sharded or options.master_weights == "off":
        return False
    wanted = (options.master_weights, options.packing, options.compile)
    return "on" in wanted or _flash(engine.model)


# ---------------------------------------------------------------------- packed rows


def packs_rows(options: RunArguments, engine: LoadedModel) -> bool:
    """Are rows packed, rather than padded?"""
    plain = engine.encoder.image_token is None and attention.supported(engine.model)
    if options.packing == "on" and not plain:
        raise ConfigError(f"packing: {type(engine.model).__name__} has pictures, or an attention of its own kind")
    return plain and (options.packing == "on" or (options.packing == "auto" and _flash(engine.model)))


def _flash(model: Any) -> bool:
    """Flash attention reads the narrow types only."""
    return model.device.type == "cuda" and model.dtype == torch.bfloat16


# ---------------------------------------------------------------------- compiled layers


def compile_layers(model: Any, reader: Reader) -> bool:
    """Compile each layer of the language model, for rows of any length; False (and a warning) where that fails.

    All layers share the compiled code. It is tried on some tokens: a machine without a compiler, or a model that cannot
    be traced, should cost a warning and not the run.
    """
    # With and without gradients, a prefix, training: more variants of one layer than are compiled by default.
    torch._dynamo.config.recompile_limit = max(torch._dynamo.config.recompile_limit, MAX_VARIANTS)
    layers = decoder_layers(model)
    try:
        for layer in layers:
            layer.compile(dynamic=True)
        # A pass over three rows that share a prefix, as those of an environment do, and the way back.
        size = model.config.get_text_config().vocab_size
        ids = [[(3 * place + (place > 40) * number) % size for place in range(70 + 9 * number)] for number in range(3)]
        states = reader.hidden(model, [Row(0, each, list(range(60, len(each)))) for each in ids])
        scores = token_scores(model, states.before, states.targets, 1.0, compiled=True)
        if scores.logprobs.requires_grad:
            trained = [p for p in model.parameters() if p.requires_grad]
            torch.autograd.grad(scores.logprobs.sum(), trained, allow_unused=True)
    except Exception as error:  # as many kinds as there are backends
        for layer in layers:
            layer._compiled_call_impl = None
        reason = str(error).strip().splitlines() or [""]
        log.warning("training runs uncompiled: %s: %s", type(error).__name__, reason[0][:200])
        return False
    return True
