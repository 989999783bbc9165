"""Memory that runs out while training: fewer tokens at a time, the same step; a fault where nothing can be halved."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from agentrl.trainers.arguments.run import RunArguments
from agentrl.trainers.update.batch import Row
from agentrl.trainers.update.learner import Learner, OutOfMemory, TokenBudget, TrainingFault

LENGTHS = (30, 30, 20, 40, 25, 30)
ROOM = 2 << 30  # bytes that the process of the last test may take beyond what it has


def rows() -> list[Row]:
    found = []
    for number, length in enumerate(LENGTHS):
        row = Row(number, [3 + (number + 7 * place) % 40 for place in range(length)])
        row.add(length - 5, row.ids[-5:], [0.0] * 5, 0, acted=True)
        found.append(row)
    return found


def trained(nano: Path, budget: int, fits: int) -> tuple[Learner, list[torch.Tensor]]:
    """A learner after a step on a machine where `fits` tokens fit, and the old log-probabilities of the rows."""
    learner = Learner(RunArguments(model=str(nano), lr=1e-2, device="cpu", dtype="float32", token_budget=budget))
    hidden = learner.reader.hidden

    def narrow(model: Any, some: list[Row]) -> Any:
        if sum(len(row.ids) for row in some) > fits:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return hidden(model, some)

    object.__setattr__(learner.reader, "hidden", narrow)
    every = rows()

    def loss_of(indices: list[int]) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
        found = learner.outputs([every[index] for index in indices], values=False)
        return -(found.logprobs * found.mask).sum() / 30, {}

    old = learner.logprobs(every)
    learner.step(every, loss_of)
    return learner, old


def test_a_step_is_repeated_with_fewer_tokens_and_gives_the_same_weights(nano: Path, caplog) -> None:
    with caplog.at_level(logging.WARNING):
        tight, old = trained(nano, budget=16_384, fits=64)
    assert tight.steps == 1 and tight.budget.tokens <= 64 and "token_budget is" in caplog.text
    wide, expected = trained(nano, budget=16_384, fits=10_000)
    assert wide.budget.tokens == 16_384
    for one, other in zip(tight.policy.parameters(), wide.policy.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=0)  # a step moves by 1e-2; Adam magnifies rounding
    for one, other in zip(old, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5)


def test_a_row_that_does_not_fit_is_a_fault_and_moves_nothing(nano: Path) -> None:
    with pytest.raises(TrainingFault, match=r"lower token_budget \(now 20\)"):
        trained(nano, budget=16_384, fits=39)


def test_halving_begins_with_what_there_is_to_read() -> None:
    budget, tried = TokenBudget(16_384), []

    def work(tokens: int) -> int:
        tried.append(tokens)
        if tokens > 30:
            raise OutOfMemory("too much")
        return tokens

    assert budget.fit([10] * 10, work) == 25 and tried == [16_384, 50, 25]
    assert budget.fit([10] * 10, work) == 25  # and it stays there
    double = TokenBudget(16_384)
    assert double.fit([10] * 10, work, times=2) == 26 and double.tokens == 13


def test_processes_that_read_in_step_do_not_go_back_alone() -> None:
    def work(tokens: int) -> None:
        raise OutOfMemory("too much")

    budget = TokenBudget(64, alone=False)
    with pytest.raises(OutOfMemory):
        budget.fit([8, 8], work)
    assert budget.tokens == 64


def test_other_faults_are_not_tried_again() -> None:
    tried = []

    def work(tokens: int) -> None:
        tried.append(tokens)
        raise TrainingFault("the loss is nan")

    with pytest.raises(TrainingFault, match="nan"):
        TokenBudget(64).fit([8, 8], work)
    assert tried == [64]


SCRIPT = """
import json, resource, sys
import torch
from agentrl.trainers.arguments.run import RunArguments
from agentrl.trainers.update.learner import Learner
from agentrl.trainers.update.batch import Row

torch.set_num_threads(1)
learner = Learner(RunArguments(model="tiny-text", lr=1e-3, device="cpu", dtype="float32", token_budget=1 << 20))
rows = []
for number in range(256):
    row = Row(number, [5 + (number + 7 * place) % 200 for place in range(256)])
    row.add(250, row.ids[250:], [0.0] * 6, 0, acted=True)
    rows.append(row)

def loss_of(indices):
    found = learner.outputs([rows[index] for index in indices], values=False)
    return -(found.logprobs * found.mask).sum() / 1536, {}

used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + int(sys.argv[1]),) * 2)
learner.step(rows, loss_of)
print(json.dumps({"tokens": learner.budget.tokens, "steps": learner.steps}))
"""


@pytest.mark.long
def test_real_memory_that_runs_out_costs_time_and_nothing_else() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(ROOM)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["steps"] == 1 and 256 <= found["tokens"] < 1 << 16, found
    assert "memory ran out while training" in done.stderr
