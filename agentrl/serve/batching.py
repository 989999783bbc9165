"""Requests of many clients in one batch: those that arrive while the model is busy share its next forward pass."""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from agentrl.core.arguments import whole_number
from agentrl.core.errors import EngineFault
from agentrl.models.chat import Prompt
from agentrl.models.loading import LoadedModel
from agentrl.policies.hf import engine_faults, evaluating
from agentrl.serve.api import Overloaded

CLOSING = "the server is closing"


@dataclass
class Job:
    """One prompt and how to sample its answer; `answer` will hold an `agentrl.models.sampling.Answer`.

    `watch` is called with each token, its log-probability and the `alternatives` likeliest tokens with theirs, while
    the model decodes; where it gives True, the answer ends.
    """

    prompt: Prompt
    how: Any  # agentrl.models.sampling.Sampling
    seed: int | None
    watch: Callable[[int, float, list[tuple[int, float]]], bool] | None = None
    alternatives: int = 0
    answer: Future = field(default_factory=Future)


class Batcher:
    """One thread that owns the model. After the first request it waits `gather` seconds for others."""

    def __init__(
        self, loaded: LoadedModel, *, max_batch: int = 64, max_waiting: int = 1024, gather: float = 0.003
    ) -> None:
        self.loaded, self.gather = loaded, gather
        self.max_batch = whole_number("max_batch", max_batch, at_least=1)
        self._waiting: queue.Queue[Job | None] = queue.Queue(whole_number("max_waiting", max_waiting, at_least=1))
        self.batches = self.answered = 0
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="agentrl-model", daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> Future:
        """Queue a request; `Overloaded` when the queue is full."""
        try:
            if self._closed:
                raise queue.Full
            self._waiting.put_nowait(job)
        except queue.Full:
            raise Overloaded("too many requests are waiting for the model; try again later") from None
        return job.answer

    def close(self) -> None:
        """Fail waiting and running requests with a fault, and end the thread."""
        if not self._closed:
            self._closed = True
            with contextlib.suppress(queue.Empty):
                while (job := self._waiting.get_nowait()) is not None:
                    if job.answer.set_running_or_notify_cancel():  # its client may have left
                        job.answer.set_exception(EngineFault(CLOSING))
            self._waiting.put(None)
            self._thread.join(60)

    # ------------------------------------------------------------------ on the thread

    def _run(self) -> None:
        ended = False
        while not ended and (first := self._waiting.get()) is not None:
            jobs, until = [first], time.monotonic() + self.gather
            while len(jobs) < self.max_batch and not ended:
                try:
                    job = self._waiting.get(timeout=max(0.0, until - time.monotonic()))
                except queue.Empty:
                    break
                if job is None:
                    ended = True
                else:
                    jobs.append(job)
            groups: dict[tuple, list[Job]] = {}  # by sampling parameters; limits may differ
            for job in jobs:
                how = job.how
                groups.setdefault((how.temperature, how.top_p, how.top_k, how.greedy), []).append(job)
            for group in groups.values():
                wanted = [job for job in group if job.answer.set_running_or_notify_cancel()]
                try:
                    for job, answer in zip(wanted, self._decode(wanted), strict=True):
                        job.answer.set_result(answer)
                except Exception as error:  # one request must not end the thread
                    fault = error if isinstance(error, EngineFault) else EngineFault(f"the model failed: {error}")
                    for job in wanted:
                        if not job.answer.done():
                            job.answer.set_exception(fault)

    def _decode(self, jobs: Sequence[Job]) -> list[Any]:
        if not jobs:
            return []
        import torch

        from agentrl.models.sampling import Decoder
        from agentrl.models.scoring import pack

        loaded = self.loaded
        limits = [min(job.how.max_new_tokens, loaded.context - len(job.prompt.ids)) for job in jobs]
        noise = torch.zeros(len(jobs), max(limits))
        for row, (job, limit) in enumerate(zip(jobs, limits, strict=True)):
            generator = torch.Generator().manual_seed(secrets.randbits(63) if job.seed is None else job.seed)
            noise[row, :limit] = torch.rand(limit, generator=generator)  # independent of the batch
        with engine_faults(self.max_batch), torch.inference_mode(), evaluating(loaded.model):
            # So that `close` ends the work at the next token: a thread in the model would abort the process at exit.
            hook = loaded.model.register_forward_pre_hook(self._refuse_when_closed)
            try:
                batch = pack(loaded.model, [job.prompt for job in jobs], loaded.pad, loaded.encoder.image_token)
                decoder = Decoder(loaded.model, batch, sorted(loaded.stops), limits)
                answers = decoder.run(noise, jobs[0].how, _watch(jobs))
            finally:
                hook.remove()
        self.batches += 1
        self.answered += len(answers)
        return answers

    def _refuse_when_closed(self, *_: Any) -> None:
        if self._closed:
            raise EngineFault(CLOSING)


def _watch(jobs: Sequence[Job]) -> Any:
    """What shows every token to the jobs that want to see it; None where none does."""
    if all(job.watch is None for job in jobs):
        return None
    from agentrl.models.sampling import likeliest

    most, temperature = max(job.alternatives for job in jobs), jobs[0].how.temperature

    def show(rows: list[int], tokens: list[int], logprobs: list[float], logits: Any) -> list[int]:
        likely = likeliest(logits, temperature, most) if most else [[] for _ in rows]
        ended = []
        for row, token, logprob, others in zip(rows, tokens, logprobs, likely, strict=True):
            job = jobs[row]
            if job.watch is not None and job.watch(token, logprob, others[: job.alternatives]):
                ended.append(row)
        return ended

    return show
