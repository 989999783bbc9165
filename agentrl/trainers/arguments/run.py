"""Options of every trainer: JSON values, so that a run's `config.json`, a recipe and the command line agree."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Literal, get_args, get_origin, get_type_hints

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec as GymSpec

from agentrl.core.arguments import finite_number
from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.core.redact import MASK
from agentrl.core.secrecy import protect_secrets_in, scrub
from agentrl.registry import check_id, default_env
from agentrl.rollout.starts import EnvSpec, alone
from agentrl.trainers.arguments.checks import not_negative, positive, whole

EnvLike = str | Mapping[str, Any] | EnvSpec | gym.Env | GymSpec
DEFERRING = ("ReasoningReward", "OutcomeReward")  # wrappers that may leave their questions to the collector


@dataclass(kw_only=True)
class RunArguments:
    """Options of all trainers."""

    env: EnvLike | Sequence[EnvLike] = (default_env(),)
    """Environments to train in: ids, or objects with id, kwargs, wrappers and weight for a mix of unlike ones. From
    Python also an environment, or its spec."""
    env_kwargs: dict[str, Any] = field(default_factory=dict)
    """Arguments of every environment."""
    strategy: str = ""
    """Ask for replies in this form (the Reasoning wrapper): no_think, free_think, grounding ...; empty: any form."""
    representation: str = "natural"
    """How observations and predictions are to be written: natural, symbolic or structured."""
    format_rule: Literal["effective", "paper"] = "effective"
    """Which turns are paid for their form: those that are valid and get somewhere, or every strict reply."""
    judge: str | dict[str, Any] = ""
    """Pay for true observations and predictions (the ReasoningReward wrapper): a kind such as rule, or an object."""
    wrap: Sequence[dict[str, Any]] = ()
    """Further wrappers of every environment, inside first: a list such as [{"wrapper": "History"}]."""
    model: str = "tiny-text"
    """The model to start from: a folder, a checkpoint of another run, or a built-in name."""
    output: str = ""
    """The run folder; made from the algorithm and the time where it is not given."""
    resume: bool = False
    """Resume the run in `output`; a run that has no checkpoint yet starts from the beginning."""
    seed: int = 0
    """Decides everything random."""
    iterations: int = 100
    """Number of iterations: collect, then update."""
    prompt_style: Literal["conversation", "step", "webrl"] = "conversation"
    """Prompts hold the whole dialogue, or the current observation and recent actions."""
    history: int = 3
    """With prompt_style=step: how many recent actions a prompt shows."""
    num_envs: int = 64
    """Episodes played at the same time."""
    env_timeout: float = 0.0
    """Seconds an environment may take for one step; 0: no limit, in hosts ten minutes."""
    hosts: int = 0
    """Run the environments in this many processes, for slow ones or those that crash; 0: in this process."""

    temperature: float = 1.0
    """Sampling temperature while training."""
    top_p: float = 1.0
    """Sample from the likeliest tokens of this mass only."""
    max_new_tokens: int = 64
    """Longest reply."""
    generation_batch_size: int = 256
    """Prompts that are answered together."""
    engine: Literal["transformers", "vllm"] = "transformers"
    """Rollout engine: the trainer's own model, or vLLM beside it, with the newest weights each iteration."""
    engine_options: dict[str, Any] = field(default_factory=dict)
    """Arguments of the vLLM engine: python, mode, max_model_len, gpu_memory, transfer, sleep, deadline, options."""

    lr: float = 1e-6
    """Learning rate of the policy."""
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    """Learning rate schedule after the warm-up."""
    warmup: int = 0
    """Optimiser steps until the learning rates are reached."""
    optimiser: Literal["adamw", "muon"] = "adamw"
    """AdamW, or Muon for the matrices (small models from scratch learn faster by it; its rates are larger)."""
    embedding_lr: float = 0.25
    """With optimiser=muon: learning rate of word vectors and norms, as a share of lr; less for large vocabularies."""
    weight_decay: float = 0.0
    """Of the optimiser."""
    max_grad_norm: float = 1.0
    """Gradient clipping: gradients are scaled down to this norm."""
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
    master_weights: Literal["auto", "on", "off"] = "auto"
    """Passes read a copy of the weights in dtype, beside float32 master weights that the optimiser moves; off: they
    read the float32 weights, by autocast. auto: on a GPU in bfloat16, without adapters, in a run of one process."""
    packing: Literal["auto", "on", "off"] = "auto"
    """With master_weights: pack rows into one sequence, without padding. auto: on a GPU."""
    compile: Literal["auto", "on", "off"] = "auto"
    """With master_weights: compile the model's layers by torch.compile (half a minute at the start). auto: on a
    GPU, in runs of 20 iterations or more."""
    float32_head: bool = False
    """With dtype=bfloat16: compute the output layer in float32, so that generation and training agree better."""
    threads: int = 0
    """CPU threads of the computation; 0: torch's own choice, and on a GPU no more than the cores that hosts leave."""
    ddp_timeout: float = 1800.0
    """With several processes: seconds to wait for the others before giving up (the timeout of torch.distributed)."""

    eval_every: int = 0
    """Measure success on the evaluation split every N iterations (and at the end); 0: never."""
    eval_at_start: bool = True
    """Also at the start; False where an earlier stage or run has measured this checkpoint: its figures count."""
    eval_episodes: int = 200
    """Episodes of each measurement."""
    eval_split: str = "test"
    """Split of the measurements."""
    eval_env_kwargs: dict[str, Any] = field(default_factory=dict)
    """Arguments of every environment in measurements, in place of those that training gives it by the same names:
    {"levels": null} measures on all levels where training has a few."""
    eval_modes: tuple[Literal["sampled", "greedy"], ...] = ("sampled", "greedy")
    """Measure at the training temperature, with the likeliest tokens, or both."""
    save_every: int = 10
    """Write a checkpoint every N iterations (and at the end)."""
    save_total_limit: int = 2
    """Checkpoints to keep; older ones are removed."""
    save_trajectories: int = 16
    """Trajectories to keep of each iteration; -1: all."""
    trackers: tuple[str, ...] = ()
    """Send metrics to tensorboard, wandb or trackio as well."""
    report: bool = True
    """Write report.html at the end."""

    def __post_init__(self) -> None:
        whole(self, 1, "iterations num_envs max_new_tokens generation_batch_size minibatches token_budget")
        whole(self, 1, "eval_episodes save_every save_total_limit")
        whole(self, 0, "seed history warmup lora_rank threads eval_every")
        whole(self, -1, "save_trajectories")
        positive(self, "lr embedding_lr max_grad_norm ddp_timeout")
        not_negative(self, "weight_decay env_timeout lora_alpha")
        self._check_types()
        self.deferred_judge()  # reads the environments, too
        self.eval_specs()
        if self.engine_options and self.engine != "vllm":
            raise ConfigError("engine_options need engine=vllm")

    def _check_types(self) -> None:
        """Options hold JSON values of their types, which is what `config.json` will hold; secrets are protected."""
        given = self.env if isinstance(self.env, (list, tuple)) else [self.env]
        self.env = tuple(_env_json(one) for one in given)
        for name, hint in get_type_hints(type(self)).items():
            value = getattr(self, name)
            several, wanted = get_origin(hint) is tuple, ""
            if several or name == "wrap":
                if isinstance(value, (str, Mapping)) or not isinstance(value, Sequence):
                    wanted = "a list"
                else:
                    setattr(self, name, tuple(value))
            elif hint == dict[str, Any] and not isinstance(value, Mapping):
                wanted = "a dict"
            elif hint == str | dict[str, Any] and not isinstance(value, (str, Mapping)):
                wanted = "a string or a dict"
            if wanted:
                raise ConfigError(f"{name} must be {wanted}; got {scrub(repr(value))}")
            kind = get_args(hint)[0] if several else hint
            for one in (value if several else (value,)) if get_origin(kind) is Literal else ():
                if one not in get_args(kind):
                    raise ConfigError(f"{name} must be one of {', '.join(get_args(kind))}; got {one!r}")
        # Secrets in the options are struck out of all that is written from now on; those of an earlier run are gone.
        for name, value in asdict(self).items():
            if MASK in str(value):
                raise ConfigError(
                    f"{name} holds {MASK}: a run keeps no secrets; give {name} again, with the secret in it"
                )
            protect_secrets_in(value)
            try:
                json.dumps(value)
            except (TypeError, ValueError) as error:
                raise ConfigError(f"{name} must hold JSON values: {error}") from error

    def specs(self) -> tuple[EnvSpec, ...]:
        """The environments as the collector wants them; `ConfigError` for an option that cannot be read."""
        wrappers: list[dict[str, Any]] = []
        if self.strategy:
            wrappers = [{"wrapper": "Reasoning", "strategy": self.strategy, "representation": self.representation}]
            wrappers += [{"wrapper": "ReasoningReward", "judge": self.judge}] if self.judge else []
        elif self.judge:
            raise ConfigError("judge needs strategy: the form of the replies that it judges")
        wrappers += self.wrap
        found = []
        for one in self.env:  # pyright: ignore[reportGeneralTypeIssues] (a tuple by now)
            data: Any = {"id": one} if isinstance(one, str) else one
            own = data.get("wrappers")
            layers = []
            layer: Any
            for layer in wrappers if own is None else own:
                reasoning = isinstance(layer, dict) and layer.get("wrapper") == "Reasoning"
                layers.append({"format_rule": self.format_rule, **layer} if reasoning else layer)
            kwargs = {**self.env_kwargs, **data.get("kwargs", {})}
            found.append(EnvSpec(data["id"], kwargs, tuple(layers), finite_number("weight", data.get("weight", 1.0))))
            check_id(data["id"])  # before a model is loaded or anything is played
        if not any(spec.weight for spec in found):
            raise ConfigError("env must name at least one environment with a weight above 0")
        return tuple(found)

    def eval_specs(self) -> tuple[EnvSpec, ...]:
        """The environments as they are measured: one by one, in MuJoCo, also where training has them on a device. Those
        that differ only in what `eval_env_kwargs` replaces are one."""
        found: list[EnvSpec] = []
        for spec in map(alone, self.specs()):
            measured = replace(spec, kwargs={**spec.kwargs, **self.eval_env_kwargs}, weight=1.0)
            found += [measured] if measured not in found else []
        return tuple(found)

    def deferred_judge(self) -> Any:
        """The judge that `ReasoningReward` and `OutcomeReward` wrappers leave their questions to, if there is one; the
        collector asks it while others play."""
        layers = [layer for spec in self.specs() for layer in spec.wrappers if isinstance(layer, dict)]
        deferred = [one for one in layers if one.get("wrapper") in DEFERRING and one.get("deferred") is True]
        judges = [layer.get("judge", "rule") for layer in deferred]
        if any(judge != judges[0] for judge in judges):
            raise ConfigError("environments that defer their judging in one run must name the same judge")
        return judges[0] if judges else None

    def to_json(self) -> dict[str, Any]:
        """For `config.json`: without the secrets that a spec may hold."""
        return scrub(json.loads(json.dumps(asdict(self))))

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Any:
        """Inverse of `to_json`; `ConfigError` for an unknown option, and for a secret that is not there any more."""
        known = [field.name for field in fields(cls)]
        for name in data:
            if name not in known:
                raise ConfigError(f"unknown option {name!r} of {cls.__name__}.{did_you_mean(name, known)}")
        return cls(**data)


def _env_json(env: Any) -> str | dict[str, Any]:
    """An environment as an id, or an object with id, kwargs, wrappers and weight; `ConfigError` for anything else."""
    env = env.spec if isinstance(env, gym.Env) else env
    if isinstance(env, str):
        return env
    if isinstance(env, EnvSpec):
        return {"id": env.id, "kwargs": dict(env.kwargs), "wrappers": list(env.wrappers), "weight": env.weight}
    if isinstance(env, GymSpec):
        # What the registry gives anyway is left out; the split is the trainer's, and nothing is drawn.
        usual = gym.registry[env.id].kwargs if env.id in gym.registry else {}
        own = {name: value for name, value in env.kwargs.items() if name not in ("split", "render_mode")}
        found: dict[str, Any] = {"id": env.id, "kwargs": {n: v for n, v in own.items() if usual.get(n, own) != v}}
        layers = [{"wrapper": layer.name, **(layer.kwargs or {})} for layer in env.additional_wrappers]
        return found | ({"wrappers": layers} if layers else {})
    if isinstance(env, Mapping) and isinstance(env.get("id"), str):
        unknown = sorted(set(env) - {"id", "kwargs", "wrappers", "weight"})
        if not unknown and isinstance(env.get("kwargs", {}), Mapping):
            return dict(env)
        raise ConfigError(f"env must have id, and may have kwargs, wrappers and weight; got {scrub(repr(dict(env)))}")
    raise ConfigError(
        f"env must be an id, an object with id, an environment or its spec, or a list of these; got {scrub(repr(env))}"
    )
