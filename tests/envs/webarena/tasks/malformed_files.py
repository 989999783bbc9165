"""Task files with one thing wrong in each: (content, line, a part of the sentence that says what)."""

from __future__ import annotations

import json
from typing import Any

GOOD: dict[str, Any] = {"intent": "Open the cart", "sites": ["shopping"], "start_url": "__SHOPPING__"}
STRING = {"eval_types": ["string_match"], "reference_answers": {"exact_match": "5"}}
TARGET = {"url": "last", "locator": "", "required_contents": {"must_include": ["x"]}}


def with_eval(**changes: Any) -> dict[str, Any]:
    """A good task with another evaluator."""
    return {**GOOD, "eval": {**STRING, **changes}}


def with_target(**changes: Any) -> dict[str, Any]:
    """A good task with one HTML target."""
    return with_eval(eval_types=["program_html"], program_html=[{**TARGET, **changes}])


def second_line(task: Any) -> bytes:
    """A file of two lines whose second task is this one."""
    return (json.dumps(GOOD) + "\n" + json.dumps(task)).encode()


def third_line(task: Any) -> bytes:
    """A list whose second task, on the third line, is this one."""
    return ("[\n" + json.dumps(GOOD) + ",\n" + json.dumps(task) + "\n]").encode()


MALFORMED: dict[str, tuple[bytes, int, str]] = {
    "empty": (b"", 1, "at least one task"),
    "only spaces": (b" \n \n", 1, "at least one task"),
    "an empty list": (b"[\n]", 1, "at least one task"),
    "not JSON": (b"intent: open the cart", 1, "not JSON"),
    "not JSON on a later line": (json.dumps(GOOD).encode() + b"\n\n{oops}", 3, "not JSON"),
    "cut off": (b'[\n{"intent": "x",\n "sites', 3, "not JSON"),
    "a list that is not closed": (b"[\n" + json.dumps(GOOD).encode() + b"\n", 3, "not closed"),
    "a comma is missing": (b"[\n" + json.dumps(GOOD).encode() + b"\n{}]", 3, "a comma"),
    "a comma too many": (b"[\n" + json.dumps(GOOD).encode() + b",\n]", 3, "a comma"),
    "something after the list": (b"[" + json.dumps(GOOD).encode() + b"]\n{}", 1, "nothing may follow"),
    "not UTF-8": (b'{"intent":\n "\xff\xfe"}', 2, "UTF-8"),
    "nested too deeply": (b"[" + b"[" * 100_000, 1, "nested"),
    "a number of thousands of digits": (b'{"intent": 1' + b"0" * 10_000 + b"}", 1, "cannot be read"),
    "a text for a task": (second_line("open the cart"), 2, "must be a JSON object; got a text"),
    "a number for a task": (third_line(7), 3, "must be a JSON object; got a number"),
    "null for a task": (third_line(None), 3, "must be a JSON object; got null"),
    "a list for a task": (third_line([GOOD]), 3, "must be a JSON object; got a list"),
    "no intent": (second_line({"sites": ["map"]}), 2, "must have 'intent'"),
    "an empty intent": (third_line({**GOOD, "intent": "  "}), 3, "intent must say what to do"),
    "an intent that is no text": (second_line({**GOOD, "intent": 5}), 2, "intent must be text; got a whole number"),
    "no sites": (second_line({"intent": "x"}), 2, "must have 'sites'"),
    "an empty list of sites": (third_line({**GOOD, "sites": []}), 3, "sites must name at least one"),
    "an unknown site": (third_line({**GOOD, "sites": ["shoping"]}), 3, 'Did you mean "shopping"?'),
    "sites that are no list": (second_line({**GOOD, "sites": {}}), 2, "sites must be a list; got an object"),
    "a start address that is no text": (second_line({**GOOD, "start_url": [1]}), 2, "start_url must be text"),
    "an evaluator that is no object": (third_line({**GOOD, "eval": 5}), 3, "eval must be an object"),
    "no kinds of evaluation": (third_line({**GOOD, "eval": {}}), 3, "eval_types"),
    "an empty list of kinds": (third_line(with_eval(eval_types=[])), 3, "eval.eval_types must name at least one"),
    "an unknown kind": (third_line(with_eval(eval_types=["page_image_query"])), 3, "got 'page_image_query'"),
    "no answers": (third_line(with_eval(reference_answers=None)), 3, "eval.reference_answers must hold an answer"),
    "empty answers": (third_line(with_eval(reference_answers={})), 3, "eval.reference_answers must hold an answer"),
    "answers that are no object": (second_line(with_eval(reference_answers=["5"])), 2, "must be an object; got a list"),
    "an answer that is no text": (
        second_line(with_eval(reference_answers={"must_include": [None]})),
        2,
        "must be text",
    ),
    "no address": (third_line(with_eval(eval_types=["url_match"])), 3, "eval.reference_url must be an address"),
    "an unknown note": (third_line(with_eval(url_note="FUZZY")), 3, "eval.url_note must be one of"),
    "no targets": (third_line(with_eval(eval_types=["program_html"])), 3, "eval.program_html must hold a target"),
    "a target that is no object": (
        second_line(with_eval(program_html=["x"])),
        2,
        "program_html[0] must be an object",
    ),
    "no contents": (third_line(with_target(required_contents=None)), 3, "required_contents"),
    "empty contents": (third_line(with_target(required_contents={})), 3, "required_contents must have one of"),
    "an unknown locator": (third_line(with_target(locator="$('#a')")), 3, "locator must be empty or begin with"),
    "a target without address": (third_line(with_target(url=" ")), 3, "url must be an address"),
}
