"""VLA policies of a few thousand weights, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import torch

from agentrl.models.vla.body import Seen
from agentrl.models.vla.loading import LoadedVLA, load_vla, tiny_parts, write_vla
from agentrl.models.vla.spec import fitted
from tests.toy_control import PUCK

TOY = f"tests.toy_control:{PUCK}"
STATE = {"obs_mode": "state"}
KINDS: dict[str, dict[str, Any]] = {
    "parallel": {"family": "tokens", "decoder": "parallel"},
    "autoregressive": {"family": "tokens", "decoder": "autoregressive"},
    "flow_sde": {"family": "flow", "noise": "flow_sde"},
    "flow_noise": {"family": "flow", "noise": "flow_noise"},
}


def write_nano_vla(folder: Path) -> Path:
    """A folder like that of `tiny-vla`, with one narrow layer."""
    folder.mkdir(parents=True)
    write_vla(folder, *tiny_parts(32, 1), head_width=32)
    return folder


def nano_vla(folder: Path | str, kind: str, chunk: int = 3, **env: Any) -> LoadedVLA:
    """One that is fitted to the puck, with weights in which something happens."""
    loaded = load_vla(folder, "cpu")
    spec = fitted(loaded.spec, gym.make(PUCK, **env), PUCK, chunk=chunk, **KINDS[kind])
    found = loaded.fit(spec, seed=1)
    with torch.no_grad():
        for weights in found.model.parameters():
            weights.add_(0.05 * torch.randn(weights.shape, generator=torch.Generator().manual_seed(weights.numel())))
    return found


def some_seen(loaded: LoadedVLA, rows: int) -> Seen:
    """Observations that differ, with instructions of several lengths."""
    random, spec = torch.Generator().manual_seed(rows), loaded.spec
    texts = ["Push the puck to the mark.", "Open the drawer.", "Close it"]
    ids = loaded.batch_ids([loaded.encode(texts[row % 3]) for row in range(rows)])
    shape = (rows, spec.picture_size, spec.picture_size, 3)
    pictures = {name: torch.randint(0, 256, shape, generator=random).to(torch.uint8) for name in spec.cameras}
    return Seen(torch.randn(rows, sum(spec.vectors.values()), generator=random), pictures, *ids)
