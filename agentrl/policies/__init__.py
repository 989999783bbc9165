"""Policies by name: `load_policy` turns a name such as `"random"` or `"kind:argument"` into a policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentrl.registry import Part, kind_of, parts

if TYPE_CHECKING:
    from agentrl.core.policy import Policy


@dataclass(frozen=True)
class PolicyKind(Part):
    """One row of the table of policies: a class that is called with the argument (if it takes one) and seed=..."""

    argument: str | None = None  # what follows the colon, in words; None: nothing does
    optional: bool = False  # may the argument be left out?


def check_kind(policy: str, env_id: str) -> None:
    """`ConfigError` for a model and a Grid kind, which has no text: said before the model is loaded."""
    from agentrl.core.errors import ConfigError

    chosen = KINDS.get(policy.partition(":")[0])
    if chosen is not None and chosen.argument in ("model", "policy") and kind_of(env_id) == "Grid":
        raise ConfigError(
            f"a language model plays environments that read and write text; {env_id} has neither: "
            "use its Text or Visual kind"
        )


KINDS: dict[str, PolicyKind] = {
    "random": PolicyKind("agentrl.policies.random:RandomPolicy", "samples the action space"),
    "oracle": PolicyKind("agentrl.policies.oracle:OraclePolicy", "plays the environment's own solution"),
    "human": PolicyKind("agentrl.policies.human:HumanPolicy", "asks a person in the terminal"),
    "constant": PolicyKind(
        "agentrl.policies.blind:ConstantPolicy", "gives the same reply in every turn", "reply", optional=True
    ),
    "random-constant": PolicyKind("agentrl.policies.blind:RandomConstantPolicy", "the same, drawn once by its seed"),
    "copy": PolicyKind("agentrl.policies.blind:CopyPolicy", "replies with what it was told"),
    "prior": PolicyKind("agentrl.policies.blind:PriorPolicy", "repeats the commonest solution of training tasks"),
    "hf": PolicyKind("agentrl.policies.hf:HFPolicy", "a transformers model, built in or in a folder", "model"),
    "vllm": PolicyKind("agentrl.policies.vllm:VLLMPolicy", "a model that vLLM runs, in a folder", "model"),
    "openai": PolicyKind("agentrl.policies.openai:OpenAIPolicy", "any OpenAI-compatible endpoint", "model"),
    "vla": PolicyKind("agentrl.policies.vla:VLAPolicy", "a VLA policy: pictures and words to chunks", "folder"),
    "lerobot": PolicyKind(
        "agentrl.adapters.lerobot:LeRobotPolicy", "a policy of lerobot, in its environment", "folder"
    ),
    "react": PolicyKind("agentrl.policies.react:ReActPolicy", "another policy, told to think and then act", "policy"),
    **{name: PolicyKind(part.path, part.summary) for name, part in parts("policies").items()},
}


def load_policy(spec: str, *, seed: int = 0, **options: Any) -> Policy:
    """The policy `spec` names ("kind" or "kind:argument"); `ConfigError` with the nearest name if it is unknown."""
    import inspect

    from agentrl.core.errors import ConfigError, did_you_mean

    if not isinstance(spec, str):
        raise ConfigError(f"a policy must be a name ({', '.join(KINDS)}); got {type(spec).__name__}")
    name, colon, argument = spec.partition(":")
    kind = KINDS.get(name)
    if kind is None:
        raise ConfigError(f"unknown policy {name!r}.{did_you_mean(name, KINDS)} The policies are: {', '.join(KINDS)}.")
    if kind.argument is None and colon:
        raise ConfigError(f"policy {name!r} takes nothing after a colon; write just {name!r}")
    if kind.argument is not None and not argument and not (kind.optional and not colon):
        raise ConfigError(f"policy {name!r} needs its {kind.argument}: {name}:{kind.argument.upper()}")
    factory = kind.load()
    given = [argument] if argument else []
    try:
        inspect.signature(factory).bind(*given, seed=seed, **options)
    except TypeError as error:
        known = [word for word, each in inspect.signature(factory).parameters.items() if each.kind is each.KEYWORD_ONLY]
        raise ConfigError(f"policy {name!r}: {error}; it takes: {', '.join(known)}") from error
    policy = factory(*given, seed=seed, **options)
    policy.name = spec  # the whole of it: records and pages name the model
    return policy
