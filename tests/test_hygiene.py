"""Habits of the package that no other tool checks: nothing dangerous, everything public documented and typed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "agentrl").rglob("*.py"))
DANGEROUS = {
    "pickle": r"\b(pickle|cPickle|dill|marshal|shelve)\b(?!\.?\s*(?:is|=)\s*False)",
    "eval": r"(?<![\w.])eval\(",
    "exec": r"(?<![\w.])exec\(",
    "yaml.load": r"\byaml\.load\(",
    "shell": r"shell\s*=\s*True|os\.system\(|os\.popen\(",
}
# (file, what): every exception with its reason. Words about pickling in prose are not code and need none.
ALLOWED: dict[tuple[str, str], str] = {
    ("agentrl/testing", "pickle"): "the test kit checks that environments can be pickled, on its own blobs only",
    (
        "agentrl/trainers/parallel/generator_processes.py",
        "pickle",
    ): "between a run and processes that it starts itself, through pipes and memory that nobody else has",
    ("agentrl/envs/libero/package.py", "pickle"): "an unpickler that resolves no name but its own stand-ins",
}


def code_lines(source: str) -> Iterator[tuple[int, str]]:
    """The lines of a module with comments, docstrings and other strings blanked out."""
    text = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.end_lineno is not None:
            for number in range(node.lineno, node.end_lineno + 1):
                line = text[number - 1]
                start = node.col_offset if number == node.lineno else 0
                end = node.end_col_offset if number == node.end_lineno else len(line)
                # Columns count UTF-8 bytes; good enough, as what is blanked is never read.
                text[number - 1] = line[:start] + " " * (end - start) + line[end:]
    yield from ((number, line.partition("#")[0]) for number, line in enumerate(text, 1))


def dangers(path: str, source: str) -> list[str]:
    """Every dangerous thing in a module that the table above does not allow."""
    if not any(re.search(pattern, source) for pattern in DANGEROUS.values()):
        return []  # not even in a comment
    return [
        f"{path}:{number}: {what}: {line.strip()}"
        for number, line in code_lines(source)
        for what, pattern in DANGEROUS.items()
        if re.search(pattern, line) and not any(path.startswith(p) and what == w for p, w in ALLOWED)
    ]


def test_nothing_dangerous_in_the_package() -> None:
    assert len(SOURCES) > 15
    assert [found for path in SOURCES for found in dangers(path.relative_to(ROOT).as_posix(), path.read_text())] == []


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from pickle import loads",
        "x = pickle.loads(b)",
        "eval(text)",
        "exec(text)",
        "yaml.load(text)",
        "run(c, shell=True)",
        "os.system(c)",
    ],
)
def test_the_search_finds_what_it_looks_for(line: str) -> None:
    assert dangers("agentrl/x.py", f"if True:\n    {line}\n")


@pytest.mark.parametrize(
    "line",
    [
        '"never pickle.loads this"',
        "x = 1  # no eval() here",
        "np.load(f, allow_pickle=False)",
        "retrieval(x)",
        "model.eval()",
    ],
)
def test_the_search_leaves_harmless_lines_alone(line: str) -> None:
    assert dangers("agentrl/x.py", line + "\n") == []


# ---------------------------------------------------------------------- documented and typed

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def public_definitions(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, Definition]]:
    """Name and node of everything public at module and class level."""
    for node in body:
        if isinstance(node, Definition) and not node.name.startswith("_"):
            yield f"{owner}{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from public_definitions(node.body, f"{node.name}.")


def faults(source: str) -> list[str]:
    """Public things without a docstring, the module among them, or functions without a return type."""
    module = ast.parse(source)
    found = [] if ast.get_docstring(module) else ["the module has no docstring"]
    for name, node in public_definitions(module.body):
        # Protocol members and overloads; web task templates, whose decorator holds the instructions in words.
        last = node.body[-1]
        stub = isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant) and last.value.value is ...
        stub |= any(ast.unparse(decorator).startswith("template(") for decorator in node.decorator_list)
        if ast.get_docstring(node) is None and not stub:
            found.append(f"{name} has no docstring")
        # Triton compiles what it decorates: such a signature has no types of Python.
        kernel = any(ast.unparse(decorator) == "triton.jit" for decorator in node.decorator_list)
        if not isinstance(node, ast.ClassDef) and node.returns is None and not kernel:
            found.append(f"{name} has no return type")
    return found


def test_everything_public_has_a_docstring_and_a_return_type() -> None:
    found = {path.relative_to(ROOT).as_posix(): faults(path.read_text()) for path in SOURCES}
    assert {name: lacking for name, lacking in found.items() if lacking} == {}


def test_a_bare_function_is_noticed() -> None:
    assert faults("def f(): pass\n") == ["the module has no docstring", "f has no docstring", "f has no return type"]
    assert faults("'''Doc.'''\nclass A:\n    'Doc.'\n    def m(self) -> None: pass\n") == ["A.m has no docstring"]
    assert faults("'''Doc.'''\ndef _private(): pass\n") == []
