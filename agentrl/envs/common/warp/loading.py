"""MuJoCo Warp, Warp and torch for the modules of this folder, or one sentence that says what is missing."""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

from agentrl.core.errors import ConfigError, MissingExtra

try:
    import mujoco_warp
    import torch
    import warp
except ModuleNotFoundError as error:
    raise MissingExtra(error.name or "mujoco_warp", "warp") from error

__all__ = ["find_device", "mjw", "torch", "wp"]
mjw: Any = mujoco_warp
wp: Any = warp
wp.config.log_level = wp.LOG_WARNING  # not a line for every kernel that is compiled


def find_device(name: Any) -> torch.device:
    """The device that is meant: None is the GPU that torch takes; "cpu" works, slower than MuJoCo in C."""
    try:
        device = torch.device("cuda" if name is None else name)
    except (RuntimeError, TypeError) as error:
        raise ConfigError(f'device must be None, "cuda", "cuda:1" and so on, or "cpu"; got {name!r}') from error
    if device.type not in ("cuda", "cpu"):
        raise ConfigError(f'device must be None, "cuda", "cuda:1" and so on, or "cpu"; got {name!r}')
    if device.type == "cuda" and not (torch.cuda.is_available() and wp.is_cuda_available()):
        raise ConfigError(
            'simulator="warp" needs an NVIDIA GPU and its driver, and none was found; for a check without one pass '
            'device="cpu", and for speed without one leave simulator out'
        )
    if device.type == "cuda" and device.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return device
