"""Calls such as `do(action="Click", element="12")` found in any text: Python's syntax for names and literals, read
without Python's parser, which hostile text can crash, and without evaluating anything."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

# Possessive, so that a string that is never closed costs one look at it.
_STRING = (
    r'"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*+"""|'
    r"'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*+'''|"
    r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|'
    r"'[^'\\]*+(?:\\.[^'\\]*+)*+'"
)
_TOKEN = re.compile(
    rf"\s*(?:(?P<string>{_STRING})|(?P<number>[+-]?[0-9]{{1,15}}(?:\.[0-9]{{1,15}})?(?![\w.]))"
    r"|(?P<word>[^\W\d]\w{0,40}(?!\w))|(?P<sign>[=,()\[\]]))",
    re.DOTALL,
)
_STRINGS = re.compile(_STRING, re.DOTALL)
_EQUALS = re.compile(r"\s*=(?!=)")
_WORDS = {"true": True, "false": False, "none": None, "null": None}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(\n|.))", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a", "0": "\0", "\n": ""}
_SIMPLE |= {"\\": "\\", '"': '"', "'": "'"}
_AWKWARD = re.compile("[<\\x00-\\x1f\\x7f-\\xa0\\u2028\\u2029\\ud800-\\udfff]|(?<=do)\\(|(?<=exit)\\(|(?<=backward)\\(")


class Call(NamedTuple):
    """One call. `args` is None where its arguments cannot be read."""

    name: str  # lower case
    args: list[Any] | None
    named: dict[str, Any]
    start: int
    end: int


def pattern(*names: str) -> re.Pattern[str]:
    """What `find_calls` looks for: these names before a bracket; lines that are comments are passed over."""
    return re.compile(rf"(?m:^[ \t]*+#[^\n]*)|(?<![\w.])({'|'.join(names)})\(", re.IGNORECASE)


def find_calls(text: str, names: re.Pattern[str]) -> list[Call]:
    """Calls of these names, in order; not those inside the arguments of another."""
    found: list[Call] = []
    at, budget = 0, 4 * len(text) + 1_000
    while budget > 0 and (start := names.search(text, at)):
        at = start.end()
        if start[1]:
            call, reached = _call(text, start)
            found.append(call)
            # Attempts that fail begin again behind the name: text made to fail often must not cost its square.
            budget -= reached - at
            at = call.end
    return found


def _call(text: str, start: re.Match[str]) -> tuple[Call, int]:
    args: list[Any] = []
    named: dict[str, Any] = {}
    at = start.end()
    while token := _TOKEN.match(text, at):
        if token["sign"] == ")":
            return Call(start[1].lower(), args, named, start.start(), token.end()), token.end()
        equals = _EQUALS.match(text, token.end()) if token["word"] else None
        value, end = _value(text, equals.end() if equals else at)
        if end is None:
            at = token.end()
            break
        at = end
        if equals:
            named[token["word"].lower()] = value
        else:
            args.append(value)
        token = _TOKEN.match(text, at)
        if token is None or token["sign"] not in (",", ")"):
            break
        at = token.end() if token["sign"] == "," else at
    return Call(start[1].lower(), None, {}, start.start(), start.end()), at


def _value(text: str, at: int) -> tuple[Any, int | None]:
    """A literal, or a list of literals in square brackets, and where it ends; no end where there is none."""
    token = _TOKEN.match(text, at)
    if token is None or token["sign"] != "[":
        return _literal(text, at)
    values: list[Any] = []
    at = token.end()
    while token := _TOKEN.match(text, at):
        if token["sign"] == "]":
            return values, token.end()
        if token["sign"] == ",":
            at = token.end()
            continue
        value, end = _literal(text, at)
        if end is None:
            break
        values.append(value)
        at = end
    return None, None


def _literal(text: str, at: int) -> tuple[Any, int | None]:
    token = _TOKEN.match(text, at)
    if token is None:
        return None, None
    if token["number"]:
        number = token["number"]
        return (float(number) if "." in number else int(number)), token.end()
    if token["word"]:
        word = token["word"].lower()
        return (_WORDS[word], token.end()) if word in _WORDS else (None, None)
    pieces = []
    while token and token["string"]:  # neighbouring strings are one, as in Python
        pieces.append(unquoted(token["string"]))
        at = token.end()
        token = _TOKEN.match(text, at)
    return ("".join(pieces), at) if pieces else (None, None)


def breaks_a_line(call: str) -> bool:
    """Does a string run over the end of a line, which Python allows between three quotation marks only?"""
    return any("\n" in found[0] and found[0][:3] not in ('"""', "'''") for found in _STRINGS.finditer(call))


def unquoted(literal: str) -> str:
    """The text that a string literal stands for."""
    size = 3 if literal[:3] in ('"""', "'''") and len(literal) >= 6 else 1
    body = literal[size:-size]
    return _ESCAPE.sub(_meaning, body) if "\\" in body else body


def _meaning(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2] or escape[3]
    if code:
        return chr(int(code, 16)) if int(code, 16) < 0x110000 else escape[0]
    return _SIMPLE.get(escape[4], escape[0])  # an unknown escape stands for itself, as in Python


def quoted(text: str) -> str:
    """A string literal on one line that reads as `text`. It holds no "<", so that no tag inside it ends a reply, and
    nothing that the benchmark's parser takes for a call."""
    body = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{_AWKWARD.sub(_escaped, body)}"'


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    named = {10: "\\n", 9: "\\t", 13: "\\r"}.get(code)
    return named or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
