"""The whole state of a simulation as bytes: what is loaded continues bit for bit like what was saved."""

from __future__ import annotations

from typing import Any

import numpy as np

from agentrl.envs.common.mujoco.loading import load

mujoco = load()
WHOLE = mujoco.mjtState.mjSTATE_INTEGRATION  # with controls, mocap bodies and the solver's warm start


def save(model: Any, data: Any) -> bytes:
    """Everything `mj_step` depends on."""
    values = np.empty(mujoco.mj_stateSize(model, WHOLE))
    mujoco.mj_getState(model, data, values, WHOLE)
    return values.tobytes()


def load_into(model: Any, data: Any, blob: bytes) -> None:
    """Inverse of `save`; ValueError if the bytes do not belong to this model."""
    values = np.frombuffer(blob, dtype=np.float64).copy()  # MuJoCo takes writable memory only
    if len(values) != mujoco.mj_stateSize(model, WHOLE):
        raise ValueError(f"a state of {mujoco.mj_stateSize(model, WHOLE)} numbers is needed; got {len(values)}")
    if not np.isfinite(values).all():
        raise ValueError("the state of the simulation is not finite")
    mujoco.mj_setState(model, data, values, WHOLE)
    warm_start = data.qacc_warmstart.copy()
    mujoco.mj_forward(model, data)  # poses and contacts; it overwrites the warm start
    data.qacc_warmstart[:] = warm_start
