"""What every trainer can be told: plain values, so that a run's `config.json`, a recipe and the command line agree."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from agentrl.core.arguments import finite_number, whole_number
from agentrl.core.errors import ConfigError
from agentrl.rollout.collect import EnvSpec

Schedule = Literal["constant", "linear", "cosine"]


@dataclass(kw_only=True)
class RunArguments:
    """Options of all trainers."""

    env: tuple[str, ...] = ("agentrl/FrozenLake-Text-v0",)
    """Environments to train in: ids, or JSON objects with id, kwargs, wrappers and weight for a mix of unlike ones."""
    env_kwargs: str = "{}"
    """Arguments of every environment, as a JSON object."""
    strategy: str = ""
    """Ask for replies in this form (the Reasoning wrapper)."""
    representation: str = "natural"
    """How observations and predictions are to be written: natural, symbolic or structured."""
    judge: str = ""
    """Pay for true observations and predictions (the ReasoningReward wrapper), for example: rule."""
    wrap: str = "[]"
    """Further wrappers of every environment, inside first, as a JSON list."""
    model: str = "tiny-text"
    """The model to start from: a folder, a checkpoint of another run, or a built-in name."""
    output: str = ""
    """The run folder; made from the algorithm and the time where it is not given."""
    resume: bool = False
    """Go on with the run in `output`; a run that has no checkpoint yet starts from the beginning."""
    seed: int = 0
    """Decides everything random."""
    iterations: int = 100
    """How many updates of the data."""
    prompt_style: Literal["conversation", "step"] = "conversation"
    """Prompts hold the whole dialogue, or the current observation and recent actions."""
    history: int = 3
    """With prompt_style=step: how many recent actions a prompt shows."""
    num_envs: int = 64
    """Episodes played at the same time."""
    env_timeout: float = 0.0
    """Seconds an environment may take for one step; 0: as long as it wants."""
    isolate: bool = False
    """Run every environment in a process of its own."""

    temperature: float = 1.0
    """Of the sampling while training."""
    top_p: float = 1.0
    """Sample from the likeliest tokens of this mass only."""
    max_new_tokens: int = 64
    """Longest reply."""
    generation_batch: int = 256
    """Prompts that are answered together."""
    engine: Literal["transformers", "vllm"] = "transformers"
    """What plays the episodes: the trainer's own model, or vLLM beside it, with the newest weights each iteration."""
    engine_options: str = "{}"
    """Arguments of the vLLM engine, as a JSON object: python, mode, max_model_len, gpu_memory, deadline, options."""

    lr: float = 1e-6
    """Learning rate of the policy."""
    schedule: Schedule = "constant"
    """How the learning rates go on after the warm-up."""
    warmup: int = 0
    """Optimiser steps until the learning rates are reached."""
    optimiser: Literal["adamw", "muon"] = "adamw"
    """AdamW, or Muon for the matrices (small models from scratch learn faster by it; its rates are larger)."""
    word_lr: float = 0.25
    """With optimiser=muon: learning rate of word vectors and norms, as a share of lr; less for large vocabularies."""
    weight_decay: float = 0.0
    """Of the optimiser."""
    max_grad_norm: float = 1.0
    """Gradients are scaled down to this norm."""
    minibatches: int = 4
    """Optimiser steps per pass over the data of an iteration."""
    token_budget: int = 16_384
    """Tokens (padding included) that go through the model together while training; halved when memory runs out."""
    lora_rank: int = 0
    """Train low-rank adapters of this rank instead of all weights; 0: all weights."""
    lora_alpha: float = 0.0
    """Scale of the adapters; 0: twice the rank."""
    gradient_checkpointing: bool = False
    """Trade time for memory while training."""
    device: str = "auto"
    """Where to compute: auto, cpu, cuda ..."""
    dtype: Literal["auto", "float32", "bfloat16"] = "auto"
    """Type of the computation; the weights that are trained are float32 in any case."""
    threads: int = 0
    """Processor threads of the computation; 0: torch's own choice."""
    peer_timeout: float = 1800.0
    """With several processes: seconds to wait for the others before giving up."""

    eval_every: int = 0
    """Measure held-out success after so many iterations (and at the end); 0: never."""
    eval_at_start: bool = True
    """Also at the start; False where an earlier stage has just been measured."""
    eval_episodes: int = 200
    """Episodes of each measurement."""
    eval_split: str = "test"
    """Which tasks."""
    eval_modes: tuple[Literal["sampled", "greedy"], ...] = ("sampled", "greedy")
    """Measure at the training temperature, with the likeliest tokens, or both."""
    save_every: int = 10
    """Write a checkpoint after so many iterations (and at the end)."""
    keep: int = 2
    """Checkpoints to keep."""
    save_trajectories: int = 16
    """Trajectories to keep of each iteration; -1: all."""
    trackers: tuple[str, ...] = ()
    """Send metrics to tensorboard, wandb or trackio as well."""
    report: bool = True
    """Write report.html at the end."""

    def __post_init__(self) -> None:
        whole_number("seed", self.seed, at_least=0)
        for name in ("iterations", "num_envs", "max_new_tokens", "generation_batch", "minibatches", "token_budget"):
            whole_number(name, getattr(self, name), at_least=1)
        for name in ("eval_episodes", "save_every", "keep"):
            whole_number(name, getattr(self, name), at_least=1)
        for name in ("history", "warmup", "lora_rank", "threads", "eval_every"):
            whole_number(name, getattr(self, name), at_least=0)
        for name in ("lr", "word_lr", "max_grad_norm", "peer_timeout"):
            if finite_number(name, getattr(self, name)) <= 0:
                raise ConfigError(f"{name} must be above 0, not {getattr(self, name)!r}")
        check_choices(self)
        for name in ("weight_decay", "env_timeout", "lora_alpha"):
            if finite_number(name, getattr(self, name)) < 0:
                raise ConfigError(f"{name} must not be negative")
        whole_number("save_trajectories", self.save_trajectories, at_least=-1)
        if not any(spec.weight for spec in self.specs()):  # complains about what cannot be read, too
            raise ConfigError("env needs at least one environment with a weight above 0")
        self.deferred_judge()
        if _json("engine_options", self.engine_options, dict) and self.engine != "vllm":
            raise ConfigError("engine_options are those of engine=vllm")

    def specs(self) -> tuple[EnvSpec, ...]:
        """The environments as the collector wants them."""
        if not self.env:
            raise ConfigError("env needs at least one environment")
        common = _json("env_kwargs", self.env_kwargs, dict)
        wrappers = tuple(self._reasoning() + _json("wrap", self.wrap, list))
        return tuple(_spec(text, common, wrappers) for text in self.env)

    def deferred_judge(self) -> Any:
        """Whom `ReasoningReward` wrappers leave their questions to; the collector asks it while others play."""
        layers = [layer for spec in self.specs() for layer in spec.wrappers if _deferred(layer)]
        judges = [layer.get("judge", "rule") for layer in layers]
        if any(judge != judges[0] for judge in judges):
            raise ConfigError("environments that defer their judging in one run must name the same judge")
        return judges[0] if judges else None

    def _reasoning(self) -> list[dict[str, Any]]:
        if not self.strategy:
            if self.judge:
                raise ConfigError("judge needs strategy: what shall be judged?")
            return []
        form = {"wrapper": "Reasoning", "strategy": self.strategy, "representation": self.representation}
        if not self.judge:
            return [form]
        judge = _json("judge", self.judge, dict) if self.judge.lstrip().startswith("{") else self.judge
        return [form, {"wrapper": "ReasoningReward", "judge": judge}]

    def to_json(self) -> dict[str, Any]:
        """For `config.json`."""
        return json.loads(json.dumps(asdict(self)))

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Any:
        """Inverse of `to_json`; `ConfigError` for a name that is no option."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(data) - known)
        if unknown:
            raise ConfigError(f"{cls.__name__} has no option {unknown[0]!r}")
        values: dict[str, Any] = {name: tuple(item) if isinstance(item, list) else item for name, item in data.items()}
        return cls(**values)


def check_choices(arguments: RunArguments) -> None:
    """Options with a fixed set of values have one of them; `ConfigError` names the option and the set."""
    for name, hint in get_type_hints(type(arguments)).items():
        several = get_origin(hint) is tuple
        kind = get_args(hint)[0] if several else hint
        if get_origin(kind) is not Literal:
            continue
        given = getattr(arguments, name)
        for value in given if several else (given,):
            if value not in get_args(kind):
                raise ConfigError(f"{name} must be one of {', '.join(get_args(kind))}, not {value!r}")


def _deferred(layer: Any) -> bool:
    return isinstance(layer, dict) and layer.get("wrapper") == "ReasoningReward" and layer.get("deferred") is True


def _json(name: str, text: str, kind: type) -> Any:
    try:
        value = json.loads(text)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{name} is not JSON: {error}") from error
    if not isinstance(value, kind):
        raise ConfigError(f"{name} must be a JSON {'object' if kind is dict else 'list'}, not {text!a}")
    return value


def _spec(text: str, kwargs: dict[str, Any], wrappers: tuple[dict[str, Any], ...]) -> EnvSpec:
    if not text.lstrip().startswith("{"):
        return EnvSpec(text, dict(kwargs), wrappers)
    data = _json("env", text, dict)
    unknown = sorted(set(data) - {"id", "kwargs", "wrappers", "weight"})
    if unknown or not isinstance(data.get("id"), str):
        raise ConfigError(f"an environment of a mix has id, kwargs, wrappers and weight, not {text!a}")
    own = data.get("wrappers")
    return EnvSpec(
        data["id"],
        {**kwargs, **data.get("kwargs", {})},
        wrappers if own is None else tuple(own),
        finite_number("weight", data.get("weight", 1.0)),
    )
