"""A Sphinx extension: docstrings are Markdown, as the rest of the documentation; autodoc reads reStructuredText.

Only what docstrings here use is translated: code between backticks, fenced and indented blocks, headings, lists.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from textwrap import dedent, indent
from typing import Any

from sphinx.util.inspect import stringify_signature

CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
ITEM = re.compile(r"\s*([-*]|\d+\.) ")


def setup(app: Any) -> dict[str, Any]:
    """What Sphinx calls."""
    app.connect("autodoc-process-docstring", lambda *arguments: translate_in_place(arguments[-1]))
    app.connect("autodoc-process-signature", signature_of_init)
    return {"parallel_read_safe": True}


def signature_of_init(
    app: Any, what: str, name: str, documented: Any, options: Any, signature: str, returns: str
) -> tuple[str, str] | None:
    """The arguments of `__init__`, where `__new__` takes anything and would be shown in its place."""
    if what != "class" or not signature or not re.fullmatch(r"\(\*args[^,]*, \*\*kwargs[^,]*\)", signature):
        return None
    _, *others = inspect.signature(documented.__init__).parameters.values()
    return stringify_signature(inspect.Signature(others)), returns


def translate_in_place(lines: list[str]) -> None:
    """Sphinx hands over the lines of a docstring to be changed."""
    lines[:] = to_rst("\n".join(lines)).splitlines()


def to_rst(text: str) -> str:
    """A docstring as reStructuredText."""
    return "\n\n".join(_block(block) for block in _blocks(text)) + "\n"


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs, lists, and code with the blank lines inside it; a list begins a block of its own."""
    block: list[str] = []
    fenced = False
    for line in text.split("\n"):
        fence = line.lstrip().startswith("```")
        in_code = bool(block) and block[0].startswith("    ")
        goes_on = fenced or (in_code and (not line.strip() or line.startswith("    ")))
        begins = fence or in_code or (ITEM.match(line) and block and not ITEM.match(block[0]))
        if block and not goes_on and (not line.strip() or begins):
            yield "\n".join(block).rstrip()
            block = []
        if fenced and fence:
            yield "\n".join([*block, line])
            block, fenced = [], False
            continue
        fenced = fenced or fence
        if line.strip() or goes_on:
            block.append(line)
    if block:
        yield "\n".join(block).rstrip()


def _block(block: str) -> str:
    lines = block.split("\n")
    if lines[0].lstrip().startswith("```"):
        return _code(lines[0].strip(" `") or "text", "\n".join(lines[1:-1]))
    if lines[0].startswith("    "):
        return _code("python", block)
    if heading := re.fullmatch(r"#+ +(.+)", block):
        return f"**{heading[1]}**"
    return _prose(block)


def _code(language: str, text: str) -> str:
    return f".. code-block:: {language}\n\n{indent(dedent(text), '   ')}"


def _prose(text: str) -> str:
    """Code in double backticks; a bar, or an underline at the end of a word, means nothing outside it."""
    parts = CODE.split(text)
    plain = [re.sub(r"_(?!\w)", r"\\_", part.replace("|", "\\|")) for part in parts[::2]]
    literal = [f"``{part}``" for part in parts[1::2]]
    # reStructuredText ends a literal at a space or at punctuation only: `Step`s is one word in Markdown.
    joined = [f"{code}\\ " if re.match(r"\w", after) else code for code, after in zip(literal, plain[1:], strict=True)]
    return "".join(piece for pair in zip(plain, [*joined, ""], strict=True) for piece in pair)
