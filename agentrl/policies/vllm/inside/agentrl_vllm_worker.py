"""What vLLM's workers learn from us: log-probabilities at the temperature, and new weights, all or none.

vLLM imports this module in every process that holds a part of the model and mixes `Extension` into its worker class.
"""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
import torch._dynamo
from agentrl_vllm_weights import found_weights
from vllm.config import set_current_vllm_config
from vllm.model_executor.layers.attention import Attention
from vllm.model_executor.layers.vocab_parallel_embedding import VocabParallelEmbedding
from vllm.model_executor.model_loader.reload import finalize_layerwise_reload, initialize_layerwise_reload
from vllm.platforms import current_platform
from vllm.v1.sample.sampler import Sampler

NARROWEST_HEAD = 32  # of vLLM's attention kernels on a processor
LEAST_HEAT = 1e-5  # vLLM takes anything below for greedy


class TemperedSampler(Sampler):
    """Reports log-probabilities at the temperature, before `top_k` and `top_p` cut.

    vLLM has those at temperature 1 ("raw") and those behind the cut ("processed"); trainers need the ones between.
    """

    def __init__(self, before: Any) -> None:
        precise = (before.use_fp64_gumbel,) if hasattr(before, "use_fp64_gumbel") else ()  # 0.20 has none
        super().__init__("raw_logprobs", *precise)
        self.prompt_heat = 1.0  # of the log-probabilities of prompts, which no request's temperature reaches
        self._heat: torch.Tensor | None = None

    def forward(self, logits: torch.Tensor, sampling_metadata: Any, *args: Any, **kwargs: Any) -> Any:
        """Sample as ever; the log-probabilities are computed while the temperatures are known."""
        heat = sampling_metadata.temperature
        self._heat = None if heat is None else torch.where(heat < LEAST_HEAT, 1.0, heat)[:, None]
        try:
            return super().forward(logits, sampling_metadata, *args, **kwargs)
        finally:
            self._heat = None

    def compute_logprobs(self, logits: torch.Tensor) -> torch.Tensor:
        """Of sampled tokens within `forward`, of prompts otherwise."""
        heat = self.prompt_heat if self._heat is None else self._heat
        return (logits.float() / heat).log_softmax(dim=-1)


class Extension:
    """Methods of every worker, called by name through vLLM's `collective_rpc`. All arguments are strings."""

    def agentrl_prepare(self) -> None:
        """Make the worker report the log-probabilities we mean."""
        runner = self.model_runner
        if not isinstance(runner.sampler, Sampler):
            raise RuntimeError("this vLLM samples in a way we do not know; set VLLM_USE_V2_MODEL_RUNNER=0")
        runner.sampler = TemperedSampler(runner.sampler)

    def agentrl_prompt_heat(self, temperature: str) -> None:
        """The temperature of the log-probabilities of prompts from now on."""
        self.model_runner.sampler.prompt_heat = float(temperature)

    def agentrl_load(self, ticket: str) -> None:
        """Replace every weight by those the ticket leads to (see `found_weights`); raises unless all were there."""
        model, config = self.model_runner.get_model(), self.vllm_config
        wanted = {name for name, _ in model.named_parameters()}
        with set_current_vllm_config(config), torch.device(self.model_runner.device), found_weights(ticket) as weights:
            initialize_layerwise_reload(model)
            loaded = model.load_weights(weights)
            finalize_layerwise_reload(model, config.model_config)
            if torch.cuda.is_available():
                torch.cuda.synchronize()  # from here on the trainer may write over shared memory
        if missing := sorted(wanted - set(loaded or ())):
            raise ValueError(f"{len(missing)} of {len(wanted)} weights were not in the update, the first: {missing[0]}")
        repack_vocabulary(model)


def repack_vocabulary(model: Any) -> None:
    """Let the output layer see the new weights.

    On a processor it multiplies with a packed copy. Where it shares the embedding's weights nothing is ever loaded
    into it by name, so that a reload leaves the old copy there without a word.
    """
    if not current_platform.is_cpu():
        return
    for module in model.modules():
        if isinstance(module, VocabParallelEmbedding):
            module.quant_method.process_weights_after_loading(module)


# ---------------------------------------------------------------------- narrow heads


def widen_narrow_heads() -> None:
    """Let processors attend with heads narrower than their kernels know, by zeros behind every query, key and value.

    Zeros add nothing to any score; the scale stays that of the real width; what they add to the answer is cut off.
    """
    Attention.agentrl_width = None
    Attention.__init__ = _wider_init(Attention.__init__)
    Attention.forward = _wider_forward(Attention.forward)


def _wider_init(init: Callable[..., None]) -> Callable[..., None]:
    @wraps(init)
    def wider(self: Any, num_heads: int, head_size: int, *args: Any, **kwargs: Any) -> None:
        narrow = head_size < NARROWEST_HEAD and kwargs.get("head_size_v") in (None, head_size)
        init(self, num_heads, NARROWEST_HEAD if narrow else head_size, *args, **kwargs)
        self.agentrl_width = head_size if narrow else None

    return wider


def _wider_forward(forward: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(forward)
    def wider(self: Any, query: Any, key: Any, value: Any, *args: Any, **kwargs: Any) -> Any:
        width = self.agentrl_width
        if width is None:
            return forward(self, query, key, value, *args, **kwargs)
        padded = []
        for rows in (query, key, value):
            if rows is not None:
                heads = rows.reshape(len(rows), -1, width)
                rows = torch.nn.functional.pad(heads, (0, NARROWEST_HEAD - width)).reshape(len(rows), -1)
            padded.append(rows)
        found = forward(self, *padded)
        return found.view(len(found), -1, NARROWEST_HEAD)[..., :width].reshape(len(found), -1)

    return wider


if current_platform.is_cpu():  # before any model is built, which is when vLLM imports this module
    widen_narrow_heads()
    torch._dynamo.config.disable = True  # vLLM compiles a helper of its sampler, which takes longer than it ever saves
