"""Values of JSON files, each with its line, and what is said of files that are no JSON."""

from __future__ import annotations

import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.common.json_values import json_values


@pytest.mark.parametrize(
    ("content", "values"),
    [
        ("", []),
        ("[]", []),
        ('[{"a": 1},\n\n {"b": [2]}]', [(1, {"a": 1}), (3, {"b": [2]})]),
        ('{"a": 1}\n\n{"b":\n 2}\r\n3', [(1, {"a": 1}), (3, {"b": 2}), (5, 3)]),
        ("\ufeff7", [(1, 7)]),
    ],
)
def test_lists_and_lines_give_values_with_the_line_they_begin_on(content: str, values: list) -> None:
    assert list(json_values(content.encode(), "f")) == values


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1\n\xff", "f, line 2: this is not JSON, which must be UTF-8 text"),
        (b'{"a": 1}\n{"a": 1,\n{"a": 2}\n', "f, line 2: this is not JSON"),
        (b'{"a": 1}\n{"a":\n', "f, line 2: this is not JSON"),
        (b"[1\n 2]", "f, line 2: this is not JSON (a comma must stand between two values)"),
        (b"[1, 2,\n]", "f, line 2: this is not JSON (a comma must stand between two values)"),
        (b"[1,\n2", "f, line 2: the list is not closed"),
        (b"[1]\n2", "f, line 1: nothing may follow the list"),
        (b"[" * 100_000, "f, line 1: this cannot be read as JSON (it is nested too deeply)"),
    ],
)
def test_what_is_no_json_is_one_sentence_with_the_line(content: bytes, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        list(json_values(content, "f"))
    assert str(caught.value).startswith(message)
