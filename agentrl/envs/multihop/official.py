"""Files of HotpotQA, 2WikiMultiHopQA and MuSiQue, and of projects that wrote them in layouts of their own.

Whatever does not fit is one `ConfigError` that names the file and the line.
"""

from __future__ import annotations

import hashlib
import os
import re
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

from agentrl.core.env import SPLITS
from agentrl.core.errors import ConfigError
from agentrl.core.files import read_regular, sha256_of
from agentrl.envs.common.json_values import json_values
from agentrl.envs.common.search import kept_index
from agentrl.envs.multihop.actions import MAX_ANSWER, plain
from agentrl.envs.multihop.collection import Collection, documents, kept_questions
from agentrl.envs.multihop.questions import Find, Question, normalised

VERSION = 1
CUTS = ("hash", "none")
_REFERENCE = re.compile(r"#(\d+)")
KEYS = {"question", "question_text", "title", "contents", "Q_id"}  # of a question or a page; else a table of pages
Files = tuple[tuple[str, str], ...]  # split, or "" for all splits, and file
T = TypeVar("T")


class Paragraph(NamedTuple):
    """A page of the corpus."""

    title: str
    text: str


class Row(NamedTuple):
    """One question as a file has it: its paragraphs, and the supporting ones by stages."""

    id: str
    text: str
    answers: list[str]
    kind: str
    entity: str  # of the answer, in 2WikiMultiHopQA's list of aliases
    paragraphs: list[Paragraph]
    stages: list[list[Paragraph]]


# ---------------------------------------------------------------------- JSON, and JSON lines


def read_items(path: str) -> Iterator[tuple[str, Any]]:
    """Every object of a file, and where it stands. One object alone may be a table of pages: titles and texts."""
    try:
        content = read_regular(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}") from None
    values = json_values(content, path)
    known, is_list = list(islice(values, 2)), content.removeprefix(BOM_UTF8).lstrip().startswith(b"[")
    if len(known) == 1 and isinstance(known[0][1], dict) and KEYS.isdisjoint(known[0][1]) and not is_list:
        for title, text in known[0][1].items():
            yield f"{path}, entry {title[:60]!a}", {"title": title, "text": text}
        return
    for line, item in chain(known, values):
        yield f"{path}, line {line}", item


# ---------------------------------------------------------------------- the layouts


def read_each(path: str, what: str, read: Callable[[Any], T]) -> Iterator[T]:
    """What `read` makes of every object of a file."""
    for where, item in read_items(path):
        try:
            yield read(item)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            said = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise ConfigError(f"{where}: this is no {what} of a known layout ({said[:120]})") from None


def read_row(item: Any) -> Row | None:
    """One question; None where it has no answer, or one that is too long to be given."""
    extra = item.get("metadata")
    item = {**(extra if isinstance(extra, Mapping) else {}), **item}  # FlashRAG keeps the rest of a question there
    text = _text(item["question"] if "question" in item else item["question_text"])
    answers = [answer for answer in _answers(item) if answer and len(answer) <= MAX_ANSWER]
    if item.get("answerable") is False or not answers or not normalised(answers[0]):
        return None
    name = _text(str(item.get("_id") or item.get("id") or item.get("question_id") or ""))[:80]
    name = name or hashlib.sha256(text.encode()).hexdigest()[:16]
    paragraphs, stages = _paragraphs(item)
    kind = item.get("type") or (name.partition("_")[0] if "hop" in name[:6] else "unknown")  # MuSiQue: 3hop1__...
    return Row(name, text, answers, _text(kind), str(item.get("answer_id") or ""), paragraphs, stages)


def _answers(item: Mapping[str, Any]) -> list[str]:
    if "answers_objects" in item:  # IRCoT
        found = [span for each in item["answers_objects"] for span in each["spans"]]
    else:
        given = item["golden_answers"] if "golden_answers" in item else item["answer"]
        found = [given] if isinstance(given, str) else list(given)
    return list(dict.fromkeys(_text(each) for each in (*found, *item.get("answer_aliases", ()))))


def _paragraphs(item: Mapping[str, Any]) -> tuple[list[Paragraph], list[list[Paragraph]]]:
    if listed := item.get("paragraphs") or item.get("contexts"):  # MuSiQue, IRCoT
        found = [Paragraph(_text(each["title"]), _text(each["paragraph_text"])) for each in listed]
        steps = item.get("question_decomposition")
        if isinstance(steps, list) and all(isinstance(step.get("paragraph_support_idx"), int) for step in steps):
            places = {each.get("idx", place): place for place, each in enumerate(listed)}
            return found, _by_reference(steps, [found[places[step["paragraph_support_idx"]]] for step in steps])
        return found, [[page] for page, each in zip(found, listed, strict=True) if each.get("is_supporting")]
    context, facts = item.get("context", ()), item.get("supporting_facts", ())
    if isinstance(context, Mapping):  # as the datasets library writes it
        sentences = context["sentences" if "sentences" in context else "content"]
        context = list(zip(context["title"], sentences, strict=True))
    titles = facts["title"] if isinstance(facts, Mapping) else [fact[0] for fact in facts]
    found = [Paragraph(_text(title), _joined(sentences)) for title, sentences in context]
    known = {page.title: page for page in reversed(found)}
    wanted = dict.fromkeys(map(_text, titles))
    return found, [[known.get(title, Paragraph(title, ""))] for title in wanted]


def _by_reference(steps: Sequence[Mapping[str, Any]], pages: Sequence[Paragraph]) -> list[list[Paragraph]]:
    """A step that mentions the answer of another ("#1") comes after it."""
    levels: list[int] = []
    for step in steps:
        before = [int(number) - 1 for number in _REFERENCE.findall(str(step.get("question", "")))]
        levels.append(1 + max((levels[place] for place in before if 0 <= place < len(levels)), default=-1))
    return [
        [page for level, page in zip(levels, pages, strict=True) if level == wanted] for wanted in sorted(set(levels))
    ]


def read_page(item: Any) -> Paragraph:
    """One page of a corpus."""
    if "contents" in item:  # Pyserini's layout: the title in quotes, then the text
        title, _, text = item["contents"].partition("\n")
        return Paragraph(_text(title).strip('"'), _text(text))
    return Paragraph(_text(item["title"]), _joined(item["text"] if "text" in item else item["paragraph_text"]))


def read_names(item: Any) -> tuple[str, list[str]]:
    """An entity and its other names, as 2WikiMultiHopQA lists them."""
    return str(item["Q_id"]), [_text(each) for each in item["aliases"]]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text was expected, not {type(value).__name__}")
    return plain(value).replace("<", "(").replace(">", ")")


def _joined(sentences: Any) -> str:
    return _text(sentences) if isinstance(sentences, str) else " ".join(_text(each) for each in sentences if each)


# ---------------------------------------------------------------------- the collection


def read_data_set(
    files: Files, corpus: str | None, aliases: str | None, cuts: str
) -> tuple[list[Paragraph], dict[str, list[Question]]]:
    """The corpus, every page once, and the questions of each split."""
    rows = [(split, row) for split, path in files for row in read_each(path, "question", read_row) if row is not None]
    if not rows:
        raise ConfigError(f"there is no question with an answer in {', '.join(path for _, path in files)}")
    every: Iterable[Paragraph] = (page for _, row in rows for page in row.paragraphs)
    pages = list(dict.fromkeys(read_each(corpus, "page", read_page) if corpus else every))
    if not pages:
        raise ConfigError("there are no pages to search: the questions come without paragraphs; give a file as corpus")
    exact = {page: number for number, page in enumerate(pages)}
    titled = {page.title: number for number, page in reversed(list(enumerate(pages)))}
    other_names = dict(read_each(aliases, "list of names", read_names)) if aliases else {}
    questions: dict[str, list[Question]] = {split: [] for split in SPLITS}
    taken: set[str] = set()
    for split, row in rows:
        stages = [[(page, exact.get(page, titled.get(page.title))) for page in stage] for stage in row.stages]
        finds = [tuple(Find(number, page.title) for page, number in stage if number is not None) for stage in stages]
        name = row.id if row.id not in taken else f"{row.id}-{len(taken)}"
        taken.add(name)
        names = (*row.answers[1:], *other_names.get(row.entity, ()))
        question = Question(name, row.text, row.answers[0], names, row.kind, tuple(filter(None, finds)))
        for each in (split,) if split else SPLITS if cuts == "none" else (_split_of(row),):
            questions[each].append(question)
    return pages, questions


def _split_of(row: Row) -> str:
    lot = int(hashlib.sha256(normalised(row.text).encode()).hexdigest()[:8], 16) % 10
    return {8: "dev", 9: "test"}.get(lot, "train")


def build_official(files: Files, corpus: str | None, aliases: str | None, cuts: str) -> Collection:
    """The pages and questions of files, which are read once, and only if something of them is missing in the cache."""
    key = hashlib.sha256(f"{VERSION} {cuts}".encode())
    for split, path in (*files, ("corpus", corpus), ("aliases", aliases)):
        if path is not None:
            try:
                key.update(f"{split} {sha256_of(path)} ".encode())
            except OSError as error:
                raise ConfigError(f"{os.fspath(path)} cannot be read: {error.strerror or error}") from None
    fingerprint = f"files-{key.hexdigest()[:24]}"
    folder, read = f"multihop/{fingerprint}", cache(lambda: read_data_set(files, corpus, aliases, cuts))
    questions = kept_questions(folder, lambda: read()[1])
    index = kept_index(
        folder, lambda: documents(read()[0]), "indexing pages, once", fingerprint=fingerprint, processes=2
    )
    return Collection(folder, index, questions)
