"""A back end of hand-made pages, for evaluators: addresses with HTML, and what a REST interface answers."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from lxml import html

from agentrl.core.errors import EnvFault
from agentrl.envs.webarena.evaluators.locators import evaluate_locator
from agentrl.envs.webarena.tasks.schema import WebTask, task_from_json


class HandMadePage:
    """One page; addresses that are not in the table do not answer."""

    def __init__(self, pages: Mapping[str, str], url: str, replies: Mapping[str, Any]) -> None:
        self.pages, self.url, self.replies = pages, url, replies

    def goto(self, url: str) -> None:
        if url not in self.pages:
            raise EnvFault(f"{url} does not answer")
        self.url = url

    def content(self) -> str:
        return self.pages[self.url]

    def evaluate(self, expression: str) -> str:
        return evaluate_locator(expression, html.document_fromstring(self.pages[self.url]))

    def request(self, method: str, url: str, body: Any = None, headers: Mapping[str, str] | None = None) -> Any:
        path = url.partition("?")[0]
        if path not in self.replies:
            raise EnvFault(f"{url} does not answer")
        return self.replies[path]


class HandMadeBackend:
    """As much of a back end as evaluators use."""

    def __init__(
        self, pages: Mapping[str, str], url: str, replies: Mapping[str, Any] | None = None, status: int = 200
    ) -> None:
        self.pages, self.url, self.replies, self.status = pages, url, replies or {}, status

    def view(self) -> Any:
        return SimpleNamespace(url=self.url, status=self.status)

    def evaluation_page(self, *, last: bool = False, quick: bool = False) -> HandMadePage:
        return HandMadePage(self.pages, self.url if last else "about:blank", self.replies)


def task_with(evaluation: dict[str, Any], intent: str = "Do it", **fields: Any) -> WebTask:
    """A task with this evaluator."""
    return task_from_json({"intent": intent, "sites": ["shopping"], "eval": evaluation, **fields})


def answer_task(answers: dict[str, Any], intent: str = "What is it?", note: str | None = None) -> WebTask:
    """A task that asks for an answer."""
    return task_with({"eval_types": ["string_match"], "reference_answers": answers, "string_note": note}, intent)
