"""Measure how hard the questions are, keep it, print it."""

from __future__ import annotations

import json

import gymnasium as gym

from agentrl.core.env import SPLITS
from benchmarks.learning.results import KEPT, commit, store
from benchmarks.multihop import ENV, difficulty, variety

with gym.make(ENV) as env:
    collection = env.unwrapped.collection  # pyright: ignore[reportAttributeAccessIssue]
    found = {
        "schema": 1,
        "commit": commit(),
        "pages": len(collection),
        "distinct trigrams per word": round(variety(collection), 3),
        "splits": {split: difficulty(collection, split) for split in SPLITS},
    }
text = json.dumps(found, indent=1) + "\n"
store(KEPT / "multihop.json", text.encode())
print(text)
