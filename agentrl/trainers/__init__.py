"""Trainers: the maths of policy gradients as pure functions on tensors, and the algorithms that use them.

Everything below this package needs torch, so it is looked for here, once: the extra `train`.
`import agentrl` alone never comes this way.
"""

from __future__ import annotations

from agentrl.core.errors import MissingExtra

try:
    import torch as torch
except ModuleNotFoundError as error:
    if error.name != "torch":  # torch is here and broken: its own message helps more than ours
        raise
    raise MissingExtra("torch", "train") from error
