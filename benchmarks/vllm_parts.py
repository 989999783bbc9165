"""The parts of `agentrl bench vllm`; `python -m benchmarks.vllm_parts PART MODEL FILE [--quick]` measures one."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import transformers

import agentrl
from agentrl.core.interpreter import find_interpreter
from agentrl.core.measure import result
from agentrl.models.loading import LoadedModel, load_model
from agentrl.policies.hf import HFPolicy
from agentrl.policies.vllm import VLLMEngine, VLLMPolicy
from agentrl.policies.vllm.backend import VLLM
from agentrl.policies.vllm.weights import checkpoint_weights
from benchmarks.train import ENV, MAX_LENGTH, generate_ours, generate_plain, in_turns, openings
from benchmarks.vllm_agreement import (
    MOVED,
    WAY,
    Difference,
    agrees,
    changed_share,
    difference,
    moved_by,
    perturb,
    size_of_changes,
)

PLACE = "cuda" if torch.cuda.is_available() else "cpu"
ROWS = {"cpu": (8, 64), "cuda": (64, 512)}
COMPARED = {"cpu": 8, "cuda": 256}  # answers whose log-probabilities are compared
GPU_MEMORY = 0.3  # vLLM's share
CONTEXT = 1024
UPDATES = 5
EPISODES = {"cpu": 16, "cuda": 512}

Row = dict[str, Any]


class Table:
    """Rows, each of which is said aloud when it is known."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        vllm, peer = find_interpreter(VLLM).version, transformers.__version__
        self._versions = {"vLLM": vllm, "generate": peer}  # ours otherwise

    def add(self, case: str, impl: str, found: list[float] | float, unit: str, **shape: Any) -> None:
        """One row: the median of what was found."""
        values = [float(found)] if isinstance(found, (int, float)) else found
        version = self._versions.get(impl, agentrl.__version__)
        self.rows.append(result(case, impl, version, values, unit, **shape))
        print(f"  {case}, {impl}: {self.rows[-1]['value']:.4g} {unit}", file=sys.stderr, flush=True)


# ---------------------------------------------------------------------- generation, and updates by file


def generation(model: str, quick: bool, table: Table) -> None:
    """Tokens a second of all three, what they recorded beside the trainer's own figures, and updates by file."""
    ours = load_model(model, PLACE)
    with engine_for(ours) as engine:
        table.add("start", "vLLM", seconds(engine.start), "s")
        for rows in ROWS[PLACE][-1:] if quick else ROWS[PLACE]:
            speeds(ours, engine, rows, 1 if quick else 3, table)
        differences(ours, HFPolicy(ours, max_new_tokens=MAX_LENGTH, seed=1, **WAY), "our decoder", table)
        differences(ours, VLLMPolicy(engine, max_new_tokens=MAX_LENGTH, seed=1, **WAY), "vLLM", table)
        updates(ours, engine, "file", 1 if quick else UPDATES, table)


def speeds(ours: LoadedModel, engine: VLLMEngine, rows: int, repeats: int, table: Table) -> None:
    """Of each, in turns."""
    own = HFPolicy(ours, max_new_tokens=MAX_LENGTH, batch_size=rows)
    theirs = VLLMPolicy(engine, max_new_tokens=MAX_LENGTH)
    talks = openings(rows)
    prompts = [own.encode(talk) for talk in talks]
    works: dict[str, Callable[[], int]] = {
        "our decoder": lambda: generate_ours(own, prompts),
        "generate": lambda: generate_plain(own, prompts),
        "vLLM": lambda: sum(len(answer.token_ids or []) for answer in theirs.answer(prompts)),
    }
    for name, found in in_turns(works, repeats).items():
        table.add(f"generation, batch {rows}", name, found, "tokens/s", num_envs=rows, obs="text")


def differences(
    ours: LoadedModel, policy: HFPolicy | VLLMPolicy, name: str, table: Table, when: str = ""
) -> Difference:
    """Recorded log-probabilities beside the trainer's for the same tokens: mean and largest distance."""
    found = difference(ours, policy, COMPARED[PLACE])
    table.add(f"log-probabilities{when}, mean difference from the trainer's", name, found.mean, "nats")
    table.add(f"log-probabilities{when}, largest difference from the trainer's", name, found.largest, "nats")
    return found


# ---------------------------------------------------------------------- updates


def updates(ours: LoadedModel, engine: VLLMEngine, way: str, repeats: int, table: Table) -> tuple[Difference, float]:
    """Seconds from the trainer's weights to an engine that has them, and whether it computes with every one of them.

    Returns the difference before all updates, and the size of each change.
    """
    policy = VLLMPolicy(engine, max_new_tokens=MAX_LENGTH, seed=2, **WAY)
    before = differences(ours, policy, "vLLM", table, f" before updates by {way}")
    said, kept = policy.act(openings(COMPARED[PLACE])), [one.detach().clone() for one in ours.model.parameters()]
    size, found = size_of_changes(ours, said, repeats + 1), []
    for number in range(repeats + 1):
        perturb(ours.model, size, number)
        found.append(seconds(lambda: engine.update_weights(checkpoint_weights(ours.model))))
    table.add(f"update by {way}, the first", "vLLM", found[0], "s")
    table.add(f"update by {way}", "vLLM", found[1:], "s")
    table.add("weights", "vLLM", sum(one.nbytes for one in ours.model.parameters()) / 2**20, "MiB")
    table.add(f"updates by {way} changed of the weights", "vLLM", changed_share(ours, kept), "share")
    moved = moved_by(ours, said)
    table.add(f"updates by {way} moved log-probabilities by", "vLLM", moved, "nats")
    check(
        differences(ours, policy, "vLLM", table, f" after updates by {way}"), before, f"after updates by {way}", moved
    )
    return before, size


def check(after: Difference, before: Difference, when: str, moved: float) -> None:
    """An update that changed nothing would prove nothing, so it must also have moved far more than they differ."""
    if not agrees(after, before) or moved < 5 * after.mean:
        raise RuntimeError(f"{when}: {after.mean:.4f} nats apart ({before.mean:.4f} before), moved by {moved:.4f}")


# ---------------------------------------------------------------------- shared memory, and sleep


def ipc(model: str, quick: bool, table: Table) -> None:
    """Updates by shared memory; on a GPU also what both need of it together, with the engine awake and asleep."""
    ours = load_model(model, PLACE)
    sleepy = PLACE == "cuda"
    if sleepy:
        table.add("GPU memory in use, trainer's model", "both", used(), "GiB")
    with engine_for(ours, transfer="ipc", sleep=sleepy) as engine:
        table.add("start, again", "vLLM", seconds(engine.start), "s")
        before, size = updates(ours, engine, "ipc", 1 if quick else UPDATES, table)
        if sleepy:
            sleeping(ours, engine, table, before, size)


def sleeping(ours: LoadedModel, engine: VLLMEngine, table: Table, before: Difference, size: float) -> None:
    """Memory, seconds, and the same answers afterwards."""
    policy = VLLMPolicy(engine, max_new_tokens=MAX_LENGTH, seed=3, **WAY)
    table.add("GPU memory in use, vLLM awake", "both", used(), "GiB")
    table.add("falling asleep", "vLLM", [seconds(engine.sleep)], "s")
    table.add("GPU memory in use, vLLM asleep", "both", used(), "GiB")
    table.add("waking up, and one answer", "vLLM", seconds(lambda: policy.act(openings(1))), "s")
    awake = differences(ours, policy, "vLLM", table, " after sleep")
    said = policy.act(openings(COMPARED[PLACE]))
    check(awake, before, "after sleep", MOVED[0])
    engine.sleep()
    perturb(ours.model, size * (UPDATES + 1) ** 0.5, 99)  # as far as all updates together
    asleep = seconds(lambda: engine.update_weights(checkpoint_weights(ours.model)))
    table.add("update by ipc of an engine asleep", "vLLM", asleep, "s")
    after = differences(ours, policy, "vLLM", table, " after an update in sleep")
    check(after, before, "after an update in sleep", moved_by(ours, said))


# ---------------------------------------------------------------------- training


def decoder_run(model: str, quick: bool, table: Table) -> None:
    """A short run of GRPO whose own model generates."""
    training(model, quick, table, "our decoder")


def vllm_run(model: str, quick: bool, table: Table) -> None:
    """The same with vLLM, which sleeps during the update where there is a GPU."""
    options: dict[str, Any] = {"transfer": "ipc", "max_model_len": CONTEXT, "gpu_memory": GPU_MEMORY}
    options |= {"sleep": True} if PLACE == "cuda" else {}
    training(model, quick, table, "vLLM", engine="vllm", engine_options=options)


def training(model: str, quick: bool, table: Table, name: str, **engine: Any) -> None:
    """What the run says about itself; its first iteration warms up and does not count."""
    from agentrl.trainers.algorithms.grpo import GRPO, train

    episodes, iterations = EPISODES[PLACE], 2 if quick else 4
    with tempfile.TemporaryDirectory() as folder, most_used() as peak:
        arguments = GRPO(
            env=(ENV,),
            model=model,
            output=f"{folder}/run",
            iterations=iterations,
            episodes=episodes,
            group_size=8,
            num_envs=episodes,
            generation_batch_size=episodes,
            max_new_tokens=MAX_LENGTH,
            save_every=iterations,
            save_trajectories=0,
            report=False,
            device=PLACE,
            **engine,
        )
        lines = (train(arguments) / "metrics.jsonl").read_text().splitlines()
    first, *found = [line for line in map(json.loads, lines) if line["kind"] == "train"]
    shape = {"num_envs": episodes, "obs": "text"}
    made = [line["tokens"]["generated"] / line["seconds"]["generate"] for line in found]
    table.add("GRPO, tokens generated", name, made, "tokens/s", **shape)
    for part in ("generate", "environment", "update", "other", "total"):
        table.add(f"GRPO, an iteration: {part}", name, [line["seconds"].get(part, 0.0) for line in found], "s", **shape)
    for figure in ("mismatch_mean", "mismatch_max", "effective_sample_size"):
        if figure in found[-1]["loss"]:
            table.add(f"GRPO, {figure}", name, [line["loss"][figure] for line in found], "", **shape)
    if "engine" in first:
        spent, count = (found[-1]["engine"][what] - first["engine"][what] for what in ("update_seconds", "updates"))
        table.add("GRPO, an iteration: handing the weights over", name, spent / count, "s", **shape)
    if PLACE == "cuda":
        if peak:
            table.add("GRPO, most GPU memory in use", name, peak, "GiB", **shape)
        table.add("GRPO, most that the trainer's tensors took", name, torch.cuda.max_memory_allocated() / 2**30, "GiB")


# ---------------------------------------------------------------------- helpers


def engine_for(ours: LoadedModel, **options: Any) -> VLLMEngine:
    """An engine with the trainer's type and room for the largest batch."""
    kind = str(ours.model.dtype).removeprefix("torch.")
    room = {"batch_size": max(ROWS[PLACE]), "max_model_len": CONTEXT, "gpu_memory": GPU_MEMORY}
    return VLLMEngine(ours.folder, dtype=kind, **room, **options)


def used() -> float:
    """GiB of the GPU that are not free, whoever has them."""
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    return (total - free) / 2**30


@contextlib.contextmanager
def most_used() -> Iterator[list[float]]:
    """The most of the GPU's memory that was in use meanwhile, in GiB; empty where nothing can say it.

    Another process watches: a question to the GPU could disturb the recording of a graph.
    """
    found: list[float] = []
    command = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "--loop-ms=200"]
    if PLACE == "cpu" or shutil.which(command[0]) is None:
        yield found
        return
    with tempfile.TemporaryFile("w+") as said:
        watcher = subprocess.Popen(command, stdout=said)
        try:
            yield found
        finally:
            watcher.terminate()
            watcher.wait()
            said.seek(0)
            found += [max((int(line) for line in said if line.strip().isdigit()), default=0) / 2**10]


def seconds(work: Callable[[], Any]) -> float:
    """Of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


PARTS: dict[str, Callable[[str, bool, Table], None]] = {
    "generation": generation,
    "ipc": ipc,
    "decoder-run": decoder_run,
    "vllm-run": vllm_run,
}


def main() -> None:
    """Measure one part; what was found before a failure is written all the same, with the failure."""
    part, model, path, *flags = sys.argv[1:]
    table, trouble = Table(), ""
    print(f"{part}:", file=sys.stderr, flush=True)
    try:
        PARTS[part](model, "--quick" in flags, table)
    except Exception as error:
        traceback.print_exc()
        trouble = f"{type(error).__name__}: {str(error)[:300]}"
    Path(path).write_text(json.dumps([table.rows, trouble]))


if __name__ == "__main__":
    main()
