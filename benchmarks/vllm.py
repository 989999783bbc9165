"""`agentrl bench vllm`: vLLM beside our own decoder and the `generate` of transformers, as a policy and in training.

All three answer the same prompts of the same model with the same sampling parameters. An engine that is quick and wrong
is worth nothing, so every part also says how far the log-probabilities that were recorded are from those the trainer
computes for the same tokens, before and after an update that changed every weight, and only passes where they agree.
The parts (`vllm_parts`) run in processes of their own: one that fails is named, and the others have their figures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from agentrl.core.errors import MissingExtra
from agentrl.core.interpreter import find_interpreter
from agentrl.core.measure import CHECKOUT, machine
from agentrl.policies.vllm.backend import VLLM

PARTS = ("generation", "ipc", "decoder-run", "vllm-run")
TIMEOUT = 900.0  # seconds for one part


def run(quick: bool = False, model: str = "") -> dict[str, Any]:
    """Measure; `model` is tiny-text on a processor and smollm2 on a GPU unless told."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtra(error.name or "transformers", "train") from error
    version = find_interpreter(VLLM).version
    place = "cuda" if torch.cuda.is_available() else "cpu"
    model = model or {"cpu": "tiny-text", "cuda": "smollm2"}[place]
    found: list[dict[str, Any]] = []
    failed: dict[str, str] = {}
    for name in PARTS:
        rows, trouble = measured(name, model, quick)
        found += rows
        if trouble:
            failed[name] = trouble
            print(f"  {name} FAILED: {trouble}", file=sys.stderr, flush=True)
    return {
        "schema": 1,
        "name": "vllm",
        "machine": {**machine(), "device": torch.cuda.get_device_name() if place == "cuda" else "cpu", "model": model},
        "threads": torch.get_num_threads(),
        "results": found,
        "peers": {
            "transformers": {"installed": True, "version": transformers.__version__, "reason": None},
            "vllm": {"installed": True, "version": version, "reason": None},
            **{name: {"installed": False, "version": None, "reason": why} for name, why in failed.items()},
        },
        "ratios": ratios(found),
        "pass": not failed,
    }


def measured(part: str, model: str, quick: bool) -> tuple[list[dict[str, Any]], str]:
    """The rows of one part, from a process of its own, and why there are not more of them where it failed."""
    places = [str(CHECKOUT), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, places))}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.json")
        words = [part, model, str(path), *(["--quick"] if quick else [])]
        command = [sys.executable, "-m", "benchmarks.vllm_parts", *words]
        try:
            status = subprocess.run(command, stdout=sys.stderr, env=environment, timeout=TIMEOUT).returncode
        except subprocess.TimeoutExpired:
            return [], f"not done within {TIMEOUT:g} s"
        if not path.exists():
            return [], f"the process ended with status {status}"
        return tuple(json.loads(path.read_text()))


def ratios(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """vLLM beside the others at every size; which is quicker depends on the machine, so nothing is required."""
    values = {(row["case"], row["impl"]): row["value"] for row in rows if row["unit"] == "tokens/s"}
    found = []
    for (case, impl), value in values.items():
        quick = values.get((case, "vLLM"))
        if impl != "vLLM" and quick is not None:
            ratio = {"case": f"{case}: vLLM beside {impl}", "ours": quick, "peer": value, "ratio": quick / value}
            found.append(ratio | {"required": None, "pass": True})
    return found
