"""Who answers: `load_policy` turns a name such as `"random"` or `"kind:argument"` into a policy."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentrl.core.policy import Policy


@dataclass(frozen=True)
class PolicyKind:
    """One row of the table of policies. A string for the class, so that reading the table imports nothing."""

    path: str  # module:class; called with the argument (if it takes one) and seed=...
    summary: str
    argument: str | None = None  # what stands behind the colon, in words; None: nothing does


KINDS: dict[str, PolicyKind] = {
    "random": PolicyKind("agentrl.policies.random:RandomPolicy", "samples the action space"),
    "oracle": PolicyKind("agentrl.policies.oracle:OraclePolicy", "plays what the environment knows to be right"),
    "human": PolicyKind("agentrl.policies.human:HumanPolicy", "asks a person in the terminal"),
    "hf": PolicyKind("agentrl.policies.hf:HFPolicy", "a transformers model, built in or in a folder", "model"),
    "vllm": PolicyKind("agentrl.policies.vllm:VLLMPolicy", "a model that vLLM computes, in a folder", "model"),
    "openai": PolicyKind("agentrl.policies.openai:OpenAIPolicy", "any OpenAI-compatible endpoint", "model"),
    "webshop-naive": PolicyKind("agentrl.policies.webshop:NaiveShopper", "searches the wish, buys the first (WebShop)"),
    "react": PolicyKind("agentrl.policies.react:ReActPolicy", "another policy, told to think and then act", "policy"),
    "svg-blank": PolicyKind("agentrl.policies.svg:BlankDrawer", "draws nothing (SVG)"),
    "svg-boxes": PolicyKind("agentrl.policies.svg:BoxDrawer", "draws bounding boxes only (SVG)"),
    "svg-colours": PolicyKind("agentrl.policies.svg:ColourDrawer", "draws stripes of the right colours only (SVG)"),
}


def load_policy(spec: str, *, seed: int = 0, **options: Any) -> Policy:
    """The policy called `spec` ("kind" or "kind:argument"); `ConfigError` with the nearest name if there is none."""
    import inspect

    from agentrl.core.errors import ConfigError, did_you_mean

    if not isinstance(spec, str):
        raise ConfigError(f"a policy is chosen by name ({', '.join(KINDS)}), not by {type(spec).__name__}")
    name, colon, argument = spec.partition(":")
    kind = KINDS.get(name)
    if kind is None:
        raise ConfigError(f"no policy is called {name!r}.{did_you_mean(name, KINDS)} There are: {', '.join(KINDS)}.")
    if kind.argument is None and colon:
        raise ConfigError(f"policy {name!r} takes nothing behind a colon; write just {name!r}")
    if kind.argument is not None and not argument:
        raise ConfigError(f"policy {name!r} needs its {kind.argument}: {name}:{kind.argument.upper()}")
    module, _, attribute = kind.path.partition(":")
    factory = getattr(import_module(module), attribute)
    given = [argument] if kind.argument is not None else []
    try:
        inspect.signature(factory).bind(*given, seed=seed, **options)
    except TypeError as error:
        known = [word for word, each in inspect.signature(factory).parameters.items() if each.kind is each.KEYWORD_ONLY]
        raise ConfigError(f"policy {name!r}: {error}; it takes: {', '.join(known)}") from error
    return factory(*given, seed=seed, **options)
