"""`ORMJudge`: an outcome reward model in this process. Was the task done? The probability that the model says YES."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from agentrl.core.arguments import whole_number
from agentrl.core.claims import Claims
from agentrl.core.errors import ConfigError, JudgeFault
from agentrl.core.judging import JudgeRequest, Purpose, Verdict
from agentrl.judges.fitting import what_works
from agentrl.judges.outcome_form import OutcomeForm, read_form

if TYPE_CHECKING:
    from agentrl.models.loading import LoadedModel

DIGITS = 6  # of a score: what is beyond depends on which requests are read together


class ORMJudge:
    """The probability that a task was done: P(YES) / (P(YES) + P(NO)) of the first token of a local model's answer.

    `model` is the folder of a run of `agentrl train orm` (its newest checkpoint), one of its checkpoints'
    `policy` folders, or any other chat model by folder or built-in name, which then judges untrained. A trained one
    keeps the form of the question and its limits beside its weights. Requests are those of the endpoint judge
    `outcome`, and so is the question; several are read together, at most `token_budget` tokens at a time. What does
    not fit the model's context is cut, the page first.

    Judges with the same model share it within a process, and one thread at a time uses it. Equal requests get equal
    scores.
    """

    kind: ClassVar[str] = "orm"

    def __init__(self, model: str, *, device: str = "auto", dtype: str = "auto", token_budget: int = 16_384) -> None:
        if not isinstance(model, (str, Path)) or not str(model):
            raise ConfigError(f"model must be a folder or a built-in name; got {model!r}")
        self.model, self.device, self.dtype = str(model), device, dtype
        self.token_budget = whole_number("token_budget", token_budget, at_least=1)

    def to_json(self) -> dict[str, Any]:
        """A spec that builds this judge again."""
        given = {"model": self.model, "device": self.device, "dtype": self.dtype, "token_budget": self.token_budget}
        return {"kind": self.kind, **given}

    def check_env(self, env_id: str, claims: Claims | None, representation: str, purposes: Sequence[Purpose]) -> None:
        """Refuse everything but outcomes."""
        for purpose in purposes:
            if purpose != "outcome":
                raise ConfigError(f"judge 'orm' scores finished tasks, not {purpose!r}; {what_works(claims)}")

    async def score(self, requests: Sequence[JudgeRequest]) -> list[Verdict | JudgeFault]:
        """Verdicts in the order of the requests, a `JudgeFault` where there is none."""
        return await asyncio.to_thread(self.score_sync, requests)

    def score_sync(self, requests: Sequence[JudgeRequest]) -> list[Verdict | JudgeFault]:
        """The same for callers without an event loop."""
        folder = orm_folder(self.model)
        path = Path(folder).expanduser()
        files = path.iterdir() if path.is_dir() else ()
        with _loading:  # once for each model, and again when its folder has changed
            changed = tuple(sorted((file.name, file.stat().st_mtime_ns) for file in files))
            reader = _load_reader(folder, self.device, self.dtype, changed)
        answers: list[Verdict | JudgeFault | None] = [None] * len(requests)
        asked: dict[int, list[int]] = {}
        for place, request in enumerate(requests):
            try:
                asked[place] = reader.tokens(request)
            except Exception as error:  # one bad request must not cost the others their verdicts
                answers[place] = JudgeFault(f"the request cannot be encoded: {type(error).__name__}: {error}"[:500])
        chances: list[Any]
        try:
            chances = reader.chances(list(asked.values()), self.token_budget)
        except (RuntimeError, MemoryError) as error:  # out of memory, a lost device
            chances = [JudgeFault(f"the model failed: {type(error).__name__}: {error}"[:500])] * len(asked)
        for place, chance in zip(asked, chances, strict=True):
            if isinstance(chance, JudgeFault):
                answers[place] = chance
            else:
                score, mass = (round(each, DIGITS) for each in chance)
                answers[place] = Verdict(score, "orm", {"yes": score, "mass": mass, "model": self.model})
        return [answer for answer in answers if answer is not None]

    def __repr__(self) -> str:
        return f"ORMJudge(model={self.model!r})"


class OutcomeReader:
    """A loaded model that answers questions about outcomes in one form."""

    def __init__(self, loaded: LoadedModel, form: OutcomeForm) -> None:
        self.loaded, self.form = loaded, form
        self._lock = threading.Lock()

    def tokens(self, request: JudgeRequest) -> list[int]:
        """The prompt of a request, cut to what the model can read before it answers."""
        return self.form.fitted(request, lambda messages: self.loaded.encoder.encode(messages).ids, self.room)

    @property
    def room(self) -> int:
        """Tokens of a prompt."""
        return self.loaded.context - 1

    def chances(self, prompts: Sequence[Sequence[int]], token_budget: int) -> list[Any]:
        """(share of YES, probability of either) after each prompt."""
        from agentrl.models.yes_no import yes_chances

        with self._lock:
            return yes_chances(self.loaded, prompts, token_budget)


def orm_folder(model: str) -> str:
    """The folder of the model itself: of a run, that of its newest checkpoint."""
    steps = [path for path in (Path(model).expanduser() / "checkpoints").glob("step_*") if path.name[5:].isdecimal()]
    newest = max(steps, key=lambda path: int(path.name[5:]), default=None)
    return model if newest is None else str(newest / "policy")


_loading = threading.Lock()


@lru_cache(maxsize=2)
def _load_reader(folder: str, device: str, dtype: str, changed: tuple[tuple[str, int], ...]) -> OutcomeReader:
    from agentrl.models.loading import load_model

    loaded = load_model(folder, device, dtype)
    return OutcomeReader(loaded, read_form(loaded.folder) or OutcomeForm())
