"""The prompt settings of a run: what its checkpoints carry, and what it takes over from the one it starts from."""

from __future__ import annotations

from typing import Any, TypeVar

from agentrl.core.errors import ConfigError
from agentrl.models.prompt_settings import LIMITS, PromptSettings, differences, read_settings
from agentrl.rollout.prompts import prompt_options
from agentrl.trainers.arguments.run import RunArguments

Arguments = TypeVar("Arguments", bound=RunArguments)


def run_settings(arguments: RunArguments) -> PromptSettings:
    """What the policy of a run is shown and asked for. In a mix of unlike environments: what they have in common."""
    specs = arguments.specs()
    first, *others = [prompt_options(spec.wrappers) for spec in specs]
    alike = first if all(options == first for options in others) else prompt_options(None)
    limits = {name: [spec.kwargs.get(name) for spec in specs] for name in LIMITS}
    return PromptSettings(
        environments=tuple(dict.fromkeys(spec.id for spec in specs)),
        prompt_style=arguments.prompt_style,
        history=arguments.history,
        max_new_tokens=arguments.max_new_tokens,
        limits={name: own for name, (own, *rest) in limits.items() if own and all(other == own for other in rest)},
        **alike,
    )


def settings_of_model(model: str, given: set[str]) -> PromptSettings | None:
    """How a model was prompted; `ConfigError` where its folder names a module to import and `env` is not `given`."""
    settings = read_settings(model)
    for env_id in () if settings is None or "env" in given else settings.environments:
        if ":" in env_id:
            raise ConfigError(f"the model was trained in {env_id!r:.80}; name that environment yourself, with env")
    return settings


def further_options(settings: PromptSettings | None, given: set[str]) -> dict[str, Any]:
    """Options of a run that trains a checkpoint further, less those that are `given`."""
    if settings is None:
        return {}
    options: dict[str, Any] = {
        "env": list(settings.environments) or None,
        "prompt_style": settings.prompt_style,
        "history": settings.history,
        "strategy": settings.strategy,
        "representation": settings.representation,
        "wrap": None if settings.wrap is None else list(settings.wrap),
        "max_new_tokens": settings.max_new_tokens,
    }
    if "env" not in given:  # another environment has limits of its own
        options["env_kwargs"] = dict(settings.limits)
    return {name: value for name, value in options.items() if name not in given and value is not None}


def further_arguments(cls: type[Arguments], model: str, **options: Any) -> Arguments:
    """Arguments that train a checkpoint further, with the prompts it was trained with: for use from Python.

    `further_arguments(StepPO, "runs/imitation/checkpoints/step_10/policy", lr=3e-4)`.
    """
    carried = further_options(settings_of_model(model, set(options)), set(options))
    return cls.from_json({**carried, "model": model, **options})


def prompting_changes(arguments: RunArguments) -> list[str] | None:
    """How the run's prompts differ from those its model was trained with; None where the model carries none."""
    settings = read_settings(arguments.model)
    if settings is None:
        return None
    now = run_settings(arguments)
    changes = []
    for env_id in now.environments:
        # A limit that neither names is the environment's own in both.
        unset = dict.fromkeys(set(settings.limits) | set(now.limits)) if env_id in settings.environments else {}
        known = unset | settings.values(env_id) | {"max_new_tokens": settings.max_new_tokens}
        changes += differences(known, unset | now.values(env_id) | {"max_new_tokens": now.max_new_tokens})
    return list(dict.fromkeys(changes))
