"""All types of things in LIBERO's tasks: 26 that can be moved, and seven fixtures."""

from __future__ import annotations

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.envs.libero.objects import appliances, cabinets, containers, cookware, groceries, study, tableware
from agentrl.envs.libero.objects.model import Model

MODELS: dict[str, Model] = {
    name: model
    for part in (tableware, groceries, cookware, containers, study, cabinets, appliances)
    for name, model in part.MODELS.items()
}


def model_of(kind: str) -> Model:
    """The model of a type; `ConfigError` if there is none."""
    if kind not in MODELS:
        raise ConfigError(f"there is no model of a {kind[:80]!a}.{did_you_mean(kind, MODELS)}")
    return MODELS[kind]
