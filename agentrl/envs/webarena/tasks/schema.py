"""The benchmark's task JSON as types: what a task asks, where it starts and how it is evaluated."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from agentrl.core.errors import did_you_mean

SITES = ("shopping", "shopping_admin", "reddit", "gitlab", "map", "wikipedia")
SITE_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")  # what a user may call a site of his own
EVALUATIONS = ("string_match", "url_match", "program_html")
URL_NOTES = ("EXACT", "GOLD in PRED")
NOT_ACHIEVABLE = "N/A"
LISTS = ("must_include", "must_exclude", "one_of", "required_values", "fuzzy_match")
LOCATORS = ("document.", "[...document.", "lambda:", "func:")  # how those that are not empty begin


class Requirements(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a text must be like. All that is given must hold."""

    exact_match: str | None = None
    must_include: tuple[str, ...] | None = None
    must_exclude: tuple[str, ...] | None = None
    one_of: tuple[str, ...] | None = None
    required_values: tuple[str, ...] | None = None  # inequalities such as ">= 3"
    fuzzy_match: tuple[str, ...] | None = None  # a judge compares with them
    nothing_else: bool = False  # no other claims beside must_include; not in the benchmark's files

    @property
    def asks_to_refuse(self) -> bool:
        """Is "N/A" the answer: can the task not be done?"""
        single = (self.must_include, self.fuzzy_match)
        return self.exact_match == NOT_ACHIEVABLE or (NOT_ACHIEVABLE,) in single

    @property
    def is_empty(self) -> bool:
        """Does it require nothing?"""
        return self == Requirements()


class HtmlTarget(msgspec.Struct, frozen=True, omit_defaults=True):
    """A place on a page that must look in a certain way once the task is done."""

    required_contents: Requirements
    url: str = "last"  # where the agent ended; else an address or "func:..."
    locator: str = ""  # a JavaScript expression, "func:...", or nothing for the whole page
    prep_actions: tuple[str, ...] = ()  # JavaScript to run first


class Evaluation(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a task is evaluated: the product of all `eval_types`."""

    eval_types: tuple[str, ...]
    reference_answers: Requirements | None = None
    reference_url: str | None = None  # alternatives are joined by " |OR| "
    url_note: str | None = None
    program_html: tuple[HtmlTarget, ...] | None = None
    string_note: str | None = None  # why the task cannot be done
    reference_answer_raw_annotation: str | None = None


class WebTask(msgspec.Struct, frozen=True, omit_defaults=True):
    """One task. Without `eval` nobody but a judge can say whether it was done."""

    intent: str
    sites: tuple[str, ...]
    start_url: str = ""
    eval: Evaluation | None = None
    task_id: int | str | None = None
    old_task_id: int | str | None = None
    intent_template: str | None = None
    intent_template_id: int | str | None = None
    instantiation_dict: dict[str, Any] | None = None
    geolocation: dict[str, Any] | None = None
    require_login: bool = True
    require_reset: bool = False
    storage_state: str | None = None

    @property
    def start_urls(self) -> tuple[str, ...]:
        """The addresses to open, one a tab."""
        return tuple(url.strip() for url in self.start_url.split(" |AND| ") if url.strip())

    def to_json(self) -> dict[str, Any]:
        """The task as in a task file."""
        return msgspec.to_builtins(self)


def task_from_json(raw: Any, sites: Collection[str] = SITES) -> WebTask:
    """A task out of decoded JSON; `ValueError` with a sentence about the first thing that is wrong with it. `sites` are
    the names that its sites may have."""
    if not isinstance(raw, Mapping):
        kinds = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}
        raise ValueError(f"a task must be a JSON object; got {kinds.get(type(raw), 'a number')}")
    missing = [name for name in ("intent", "sites") if raw.get(name) is None]
    if missing:
        raise ValueError(f"a task must have {missing[0]!r}")
    try:
        task = msgspec.convert(_mended(raw), WebTask)
    except msgspec.ValidationError as error:
        raise ValueError(_in_words(error)) from None
    _check(task, sites)
    return task


# ---------------------------------------------------------------------- known faults of the data


def _mended(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Texts where lists belong become lists; what is null or empty counts as not given."""
    task = _given(raw)
    task["sites"] = _listed(task["sites"])
    if not isinstance(task.get("eval"), Mapping):
        return task
    evaluation = _given(task["eval"])
    if "eval_types" in evaluation:
        evaluation["eval_types"] = _listed(evaluation["eval_types"])
    if isinstance(evaluation.get("reference_answers"), Mapping):
        evaluation["reference_answers"] = _mended_requirements(evaluation["reference_answers"])
    if isinstance(evaluation.get("program_html"), Mapping):
        evaluation["program_html"] = [evaluation["program_html"]]
    if isinstance(evaluation.get("program_html"), list):
        targets = [_given(each) if isinstance(each, Mapping) else each for each in evaluation["program_html"]]
        for target in targets:
            if isinstance(target, dict) and isinstance(target.get("required_contents"), Mapping):
                target["required_contents"] = _mended_requirements(target["required_contents"])
            if isinstance(target, dict) and "prep_actions" in target:
                target["prep_actions"] = _listed(target["prep_actions"])
        evaluation["program_html"] = targets
    note = task.pop("string_note", None)  # one official task has it in the wrong place
    if note is not None:
        evaluation.setdefault("string_note", note)
    return {**task, "eval": evaluation}


def _mended_requirements(raw: Mapping[str, Any]) -> dict[str, Any]:
    kept = _given(raw)
    for name in kept.keys() & set(LISTS):
        items = _listed(kept[name])
        kept[name] = [_texted(item) for item in items] if isinstance(items, list) else items
    if "exact_match" in kept:
        kept["exact_match"] = _texted(kept["exact_match"])
    return kept


def _given(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in raw.items() if value is not None}


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, (str, int, float)) else value


def _texted(value: Any) -> Any:
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


# ---------------------------------------------------------------------- what must hold


def _check(task: WebTask, sites: Collection[str]) -> None:
    if not task.intent.strip():
        raise ValueError("intent must say what to do; it is empty")
    if not task.sites:
        raise ValueError(f"sites must name at least one of {', '.join(sites)}")
    for site in task.sites:
        if site not in sites:
            raise ValueError(
                f"sites must be of {', '.join(sites)}; got {site!r}.{did_you_mean(site, sites)}".rstrip(".")
            )
    evaluation = task.eval
    if evaluation is None:
        return
    kinds, answers = evaluation.eval_types, evaluation.reference_answers
    if not kinds:
        raise ValueError(f"eval.eval_types must name at least one of {', '.join(EVALUATIONS)}")
    for kind in kinds:
        if kind not in EVALUATIONS:
            raise ValueError(f"eval.eval_types must be of {', '.join(EVALUATIONS)}; got {kind!r}")
    if "string_match" in kinds and (answers is None or answers.is_empty):
        raise ValueError("eval.reference_answers must hold an answer, because eval_types has string_match")
    _check_requirements("eval.reference_answers", answers)
    if "url_match" in kinds and not (evaluation.reference_url or "").strip():
        raise ValueError("eval.reference_url must be an address, because eval_types has url_match")
    if evaluation.url_note is not None and evaluation.url_note not in URL_NOTES:
        raise ValueError(f"eval.url_note must be one of {', '.join(URL_NOTES)}; got {evaluation.url_note!r}")
    if "program_html" not in kinds:
        return
    if not evaluation.program_html:
        raise ValueError("eval.program_html must hold a target, because eval_types has program_html")
    for place, target in enumerate(evaluation.program_html):
        where = f"eval.program_html[{place}]"
        _check_requirements(f"{where}.required_contents", target.required_contents)
        if target.required_contents.is_empty:
            raise ValueError(f"{where}.required_contents must have one of exact_match, {', '.join(LISTS)}")
        if target.locator.strip() and not target.locator.startswith(LOCATORS):
            raise ValueError(f"{where}.locator must be empty or begin with one of {', '.join(LOCATORS)}")
        if not target.url.strip():
            raise ValueError(f'{where}.url must be an address, "last" or "func:..."')


def _check_requirements(where: str, wanted: Requirements | None) -> None:
    if wanted is not None and wanted.nothing_else and not wanted.must_include:
        raise ValueError(f"{where}.must_include must have a text, because nothing_else is true")


def _in_words(error: msgspec.ValidationError) -> str:
    """`Expected `str`, got `int` - at `$.eval.x`` -> "eval.x must be text; got a number"."""
    text, _, place = str(error).partition(" - at `$")
    where = place.rstrip("`").lstrip(".") or "a task"
    expected, _, got = text.removeprefix("Expected ").partition(", got ")
    if not got:
        return f"{where}: {text}"
    return f"{where} must be {_words(expected)}; got {_words(got)}"


_WORDS = {
    "`str": "text", "`int": "a whole number", "`array": "a list", "`object": "an object", "`bool": "true or false",
    "`null": "null", "`float": "a number",
}  # fmt: skip


def _words(types: str) -> str:
    names = [name for sign, name in _WORDS.items() if sign.strip("`") in types.strip("`").split(" | ")]
    return " or ".join(name for name in names if name != "null" or len(names) == 1) or types
