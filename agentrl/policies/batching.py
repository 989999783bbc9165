"""Requests of many clients, answered together: whoever asks while the model is busy shares its next forward pass."""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from agentrl.core.arguments import whole_number
from agentrl.core.errors import EngineFault
from agentrl.policies.chat import Prompt
from agentrl.policies.engine import Engine
from agentrl.policies.hf import engine_faults, evaluating

CLOSING = "the server is closing"


class Overloaded(EngineFault):
    """More questions wait than may."""


@dataclass
class Job:
    """One prompt and how it is to be answered; `answer` is an `agentrl.policies.sampling.Answer` one day."""

    prompt: Prompt
    how: Any  # agentrl.policies.sampling.Sampling
    seed: int | None
    answer: Future = field(default_factory=Future)


class Batcher:
    """One thread that owns the model. After the first question it waits `gather` seconds for company."""

    def __init__(self, engine: Engine, *, max_batch: int = 64, max_waiting: int = 1024, gather: float = 0.003) -> None:
        self.engine, self.gather = engine, gather
        self.max_batch = whole_number("max_batch", max_batch, at_least=1)
        self._waiting: queue.Queue[Job | None] = queue.Queue(whole_number("max_waiting", max_waiting, at_least=1))
        self.batches = self.answered = 0
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="agentrl-model", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> Future:
        """Queue a question; `Overloaded` when too many wait already."""
        try:
            if self._closed:
                raise queue.Full
            self._waiting.put_nowait(job)
        except queue.Full:
            raise Overloaded("too many questions wait for the model; ask again later") from None
        return job.answer

    def close(self) -> None:
        """Give up what waits or runs, with a fault, and end the thread."""
        if not self._closed:
            self._closed = True
            with contextlib.suppress(queue.Empty):
                while (job := self._waiting.get_nowait()) is not None:
                    job.answer.set_exception(EngineFault(CLOSING))
            self._waiting.put(None)
            self._thread.join(60)

    # ------------------------------------------------------------------ on the thread

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            jobs, ended = self._company(first)
            for group in _alike(jobs):
                self._answer(group)
            if ended:
                return

    def _company(self, first: Job) -> tuple[list[Job], bool]:
        jobs, until = [first], time.monotonic() + self.gather
        while len(jobs) < self.max_batch:
            with contextlib.suppress(queue.Empty):
                job = self._waiting.get(timeout=max(0.0, until - time.monotonic()))
                if job is None:
                    return jobs, True
                jobs.append(job)
                continue
            break
        return jobs, False

    def _answer(self, jobs: list[Job]) -> None:
        wanted = [job for job in jobs if job.answer.set_running_or_notify_cancel()]
        try:
            for job, answer in zip(wanted, self._decode(wanted), strict=True):
                job.answer.set_result(answer)
        except Exception as error:  # whatever a request did to the model, the thread goes on
            fault = error if isinstance(error, EngineFault) else EngineFault(f"the model failed: {error}")
            for job in wanted:
                if not job.answer.done():
                    job.answer.set_exception(fault)

    def _decode(self, jobs: Sequence[Job]) -> list[Any]:
        if not jobs:
            return []
        import torch

        from agentrl.policies.sampling import Decoder, pack

        engine = self.engine
        limits = [min(job.how.max_new_tokens, engine.context - len(job.prompt.ids)) for job in jobs]
        noise = torch.zeros(len(jobs), max(limits))
        for row, (job, limit) in enumerate(zip(jobs, limits, strict=True)):
            dice = torch.Generator().manual_seed(secrets.randbits(63) if job.seed is None else job.seed)
            noise[row, :limit] = torch.rand(limit, generator=dice)  # its own: neighbours do not change an answer
        with engine_faults(self.max_batch), torch.inference_mode(), evaluating(engine.model), self._stoppable():
            batch = pack(engine.model, [job.prompt for job in jobs], engine.pad, engine.encoder.image_token)
            answers = Decoder(engine.model, batch, sorted(engine.stops), limits).run(noise, jobs[0].how)
        self.batches += 1
        self.answered += len(answers)
        return answers

    @contextlib.contextmanager
    def _stoppable(self) -> Iterator[None]:
        """Inside, closing ends the work at the next token: a thread in the model would abort the whole process."""
        hook = self.engine.model.register_forward_pre_hook(self._refuse_when_closed)
        try:
            yield
        finally:
            hook.remove()

    def _refuse_when_closed(self, *_: Any) -> None:
        if self._closed:
            raise EngineFault(CLOSING)


def _alike(jobs: Sequence[Job]) -> list[list[Job]]:
    """Jobs whose tokens are chosen in the same way; each has a limit of its own."""
    groups: dict[tuple, list[Job]] = {}
    for job in jobs:
        groups.setdefault((job.how.temperature, job.how.top_p, job.how.greedy), []).append(job)
    return list(groups.values())
