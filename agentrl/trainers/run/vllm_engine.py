"""vLLM as the rollout engine of a run: it follows the weights that are trained."""

from __future__ import annotations

import inspect

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.policies.vllm import VLLMEngine, VLLMPolicy
from agentrl.policies.vllm.weights import checkpoint_weights
from agentrl.trainers.arguments.run import RunArguments
from agentrl.trainers.update.learner import Learner

OURS = ("model", "dtype", "batch_size")  # the run's own arguments say these


class VLLMRolloutEngine:
    """One engine for all samplers of a run."""

    def __init__(self, arguments: RunArguments, learner: Learner) -> None:
        self.arguments = arguments
        known = [name for name in inspect.signature(VLLMEngine).parameters if name not in OURS]
        for name in arguments.engine_options:
            if name not in known:
                hint = did_you_mean(name, known)
                raise ConfigError(f"unknown engine option {name!a}.{hint} There are: {', '.join(known)}")
        kind = str(learner.engine.model.dtype).removeprefix("torch.")
        self.engine = VLLMEngine(
            learner.engine.folder, dtype=kind, batch_size=arguments.generation_batch_size, **arguments.engine_options
        )
        self._steps: int | None = None  # of the weights that the engine has
        learner.rollout_engine = self

    def follow(self, learner: Learner) -> None:
        """Hand the learner's weights over, unless the engine has them already."""
        if self._steps != learner.steps:
            self.engine.update_weights(checkpoint_weights(learner.engine.model))
            self._steps = learner.steps

    def rest(self) -> None:
        """Leave the GPU's memory to the update, where the engine may sleep; the next question or update wakes it."""
        self.engine.sleep()

    def sampler(self, *, greedy: bool, seed: int) -> VLLMPolicy:
        """A policy with the run's sampling parameters."""
        arguments = self.arguments
        return VLLMPolicy(
            self.engine,
            temperature=arguments.temperature,
            top_p=arguments.top_p,
            max_new_tokens=arguments.max_new_tokens,
            greedy=greedy,
            seed=seed,
        )

    def metrics(self) -> dict[str, float]:
        """Restarts, retries and updates so far."""
        return self.engine.metrics()

    def versions(self) -> dict[str, str]:
        """For `config.json`."""
        found = self.engine.interpreter
        return {} if found is None else {"vllm": found.version}

    def close(self) -> None:
        """End the engine."""
        self.engine.close()
