"""Generators: on a GPU a stream of their own, which the thread that answers works in."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import Any

import torch

from agentrl.trainers.algorithms import grpo
from agentrl.trainers.parallel import generators
from agentrl.trainers.parallel.generators import Generator, Weights
from agentrl.trainers.run import run
from tests.trainers import toys


class Model(torch.nn.Linear):
    """Pretends to be on a GPU."""

    device = torch.device("cuda")


def test_a_generator_on_a_gpu_answers_in_a_stream_of_its_own(monkeypatch) -> None:
    streams, chosen = list[Any](), list[Any]()

    def stream(device: Any, priority: int) -> Any:
        streams.append(SimpleNamespace(device=device, priority=priority))
        return streams[-1]

    monkeypatch.setattr(torch.cuda, "Stream", stream)
    monkeypatch.setattr(torch.cuda, "set_stream", lambda one: chosen.append((threading.current_thread().name, one)))
    monkeypatch.setattr(generators, "own_copy", lambda engine: engine)
    engine: Any = SimpleNamespace(model=Model(2, 2))
    policy: Any = lambda model: SimpleNamespace()  # noqa: E731
    made = [Generator(engine, policy, Weights(engine.model, 0)) for _ in range(2)]
    assert not chosen  # the trainer's thread keeps its own
    for number, generator in enumerate(made):
        thread = threading.Thread(target=generator.refresh, name=f"generator {number}")
        thread.start()
        thread.join()
    assert chosen == [("generator 0", streams[0]), ("generator 1", streams[1])]
    assert all(one.priority < 0 for one in streams)  # before the kernels of an update


def test_weights_on_a_gpu_are_there_before_another_stream_reads_or_writes_them(monkeypatch) -> None:
    """Copies are asked for in one stream and read in another: each side waits until its own are done."""
    waited = list[Any]()
    monkeypatch.setattr(generators, "finish", waited.append)
    trained, copy = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
    weights = Weights(trained, 0)
    weights.publish(3)
    assert weights.copy_to(copy) == 3 and [id(one) for one in waited] == [id(trained), id(copy)]
    assert torch.equal(copy.weight, trained.weight)


def test_threads_of_an_asynchronous_run_take_short_turns(undecided, tmp_path) -> None:
    usual, turns = sys.getswitchinterval(), list[float]()
    for way in (False, True):
        args = toys.grpo(undecided, tmp_path / str(way), iterations=1, asynchronous=way)
        grpo.train(args, lambda line: turns.append(sys.getswitchinterval()) if line.startswith("[1/1]") else None)
        assert sys.getswitchinterval() == usual
    assert turns == [usual, run.TURN]
