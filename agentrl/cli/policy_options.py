"""Who plays and how it is prompted: the options of `agentrl eval` and `agentrl record`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from agentrl.cli.arguments import Common, JsonText, Split, json_list, json_object
from agentrl.core.arguments import whole_number
from agentrl.core.errors import ConfigError
from agentrl.core.policy import Policy
from agentrl.core.response import STRATEGIES
from agentrl.models.prompt_settings import as_trained, settings_of
from agentrl.policies import KINDS, load_policy
from agentrl.registry import parts
from agentrl.rollout.prompts import STYLES, layers

MODEL_OPTIONS = ("temperature", "greedy", "max_new_tokens", "device")
Strategy = Annotated[str | None, tyro.conf.arg(metavar="|".join(STRATEGIES))]
POLICY_HELP = (
    "Policy: random, oracle, constant or constant:REPLY (the same reply in every turn), random-constant (one drawn by "
    "the seed), copy (what it was told), prior (the commonest solution of training tasks), human, hf:MODEL (a model "
    "folder, tiny-text, tiny-web, tiny-words, tiny-vlm or smollm2), vllm:MODEL (the same models, computed by vLLM), "
    "openai:MODEL (any OpenAI-compatible endpoint), react:POLICY (one of the last three, told to think and then act), "
    "vla:FOLDER (a VLA policy, for robots), lerobot:FOLDER (a policy of lerobot, likewise); "
    "scripted policies: " + "; ".join(f"{name} {part.summary}" for name, part in parts("policies").items()) + "."
)


@dataclass(kw_only=True)
class PolicyOptions(Common):
    """The tasks, the policy's sampling and its prompts."""

    base_url: str = ""
    """The endpoint of openai:MODEL; default: OPENAI_BASE_URL, or else OpenAI. For vllm:MODEL: a vLLM server that is
    already running."""
    policy_kwargs: JsonText = "{}"
    """Arguments of the policy, for example '{"top_p": 0.9, "concurrency": 8}'."""
    seed: int = 0
    """Seed of the tasks and of the policy's sampling."""
    split: Split = "test"
    """Split of the tasks."""
    env_kwargs: JsonText = "{}"
    """Arguments of the environment, for example '{"size": 8}'."""
    strategy: Strategy = None
    """Reasoning format of the replies (the Reasoning wrapper); default: as the model was trained here, else none."""
    representation: Annotated[str | None, tyro.conf.arg(metavar="natural|symbolic|structured")] = None
    """Representation of observations and predictions; default: as the model was trained, else natural."""
    prompt_style: Annotated[str | None, tyro.conf.arg(metavar="|".join(STYLES))] = None
    """What a model is shown: the whole conversation, or each step on its own after the last actions; default: as the
    model was trained here, else conversation."""
    history: int | None = None
    """Number of past actions that the prompt style `step` shows; default: as the model was trained, else 3."""
    temperature: float | None = None
    """Sampling temperature; default: 1."""
    greedy: bool = False
    """Greedy decoding."""
    max_new_tokens: int | None = None
    """Maximum number of tokens of a reply; default: as the model was trained, else 128 (openai:MODEL: 512)."""
    device: str | None = None
    """Device of the model: cpu, cuda; default: the GPU if there is one."""
    wrap: Annotated[str | None, tyro.conf.arg(metavar="JSON")] = None
    """Further wrappers, innermost first, for example '[{"wrapper": "History", "turns": 2}]'; default: those that the
    model was trained with and that change prompts."""


def model_options(chosen: PolicyOptions, policies: tuple[str, ...]) -> dict[str, Any]:
    """The arguments of the policies that are models; `ConfigError` where there are some and no policy takes them."""
    given = {name: getattr(chosen, name) for name in MODEL_OPTIONS}
    # By identity: a temperature of 0 equals False, and is to be refused by the model.
    options = {name: value for name, value in given.items() if value is not None and value is not False}
    options |= json_object("--policy-kwargs", chosen.policy_kwargs)
    if "api_key" in options:
        # Every user of the machine can list its processes and sees the command line.
        raise ConfigError(
            "--policy-kwargs must not contain a key; put it into OPENAI_API_KEY or the variable that api_key_env names"
        )
    options |= {"base_url": chosen.base_url} if chosen.base_url else {}
    if options and not any(takes_options(policy) for policy in policies):
        names = ", ".join("--" + name.replace("_", "-") for name in options)
        raise ConfigError(f"{names}: the policy must be a model, hf:MODEL or openai:MODEL; got {', '.join(policies)}")
    return options


def takes_options(policy: str) -> bool:
    """Is it a model? (An unknown name may be one: loading it says what is wrong.)"""
    kind = KINDS.get(policy.partition(":")[0])
    return kind is None or kind.argument is not None


def chosen_policy(chosen: PolicyOptions, policy: str, options: dict[str, Any]) -> Policy:
    """The policy of this name, with the options of `model_options` if it is a model."""
    seed = whole_number("--seed", chosen.seed, at_least=0)
    return load_policy(policy, **{"seed": seed, **(options if takes_options(policy) else {})})


def prompt_layers(chosen: PolicyOptions, policy: str, env_id: str) -> list[dict[str, Any]]:
    """The wrappers that the options ask for, inside first; where they leave it open, as the model was trained."""
    given = {
        "strategy": chosen.strategy,
        "representation": chosen.representation,
        "wrap": None if chosen.wrap is None else json_list("--wrap", chosen.wrap),
    }
    return layers(**as_trained(settings_of(policy), env_id, given)[0])
