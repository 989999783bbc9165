"""All types of things in LIBERO's tasks: 26 that can be moved, and seven fixtures.

They are built in code from boxes, cylinders and turned shapes: no mesh files.
"""

from __future__ import annotations

from agentrl.core.errors import ConfigError, did_you_mean
from agentrl.envs.libero.objects import appliances, containers, groceries, tableware
from agentrl.envs.libero.objects.model import Model

MODELS: dict[str, Model] = {
    **tableware.MODELS,
    **groceries.MODELS,
    **tableware.COOKWARE,
    **containers.MODELS,
    **containers.STUDY,
    **appliances.CABINETS,
    **appliances.MODELS,
}


def model_of(kind: str) -> Model:
    """The model of a type; `ConfigError` if there is none."""
    if kind not in MODELS:
        raise ConfigError(f"there is no model of a {kind[:80]!a}.{did_you_mean(kind, MODELS)}")
    return MODELS[kind]
