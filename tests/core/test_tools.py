"""Arguments are checked against their schema without ever raising."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrl.core.tools import fit_arguments, function_schema

TYPE = function_schema(
    "type",
    "Write into a field.",
    {
        "id": {"type": "integer"},
        "text": {"type": "string"},
        "mode": {"type": "string", "enum": ["Append", "Replace"]},
    },
    required=["id", "text"],
)["function"]["parameters"]


def test_a_schema_is_json_and_requires_everything_unless_said_otherwise() -> None:
    schema = function_schema("go", "Go.", {"where": {"type": "string"}})
    assert json.loads(json.dumps(schema)) == schema
    assert schema["function"]["parameters"]["required"] == ["where"]
    assert schema["function"]["parameters"]["additionalProperties"] is False


def test_fitting_arguments_pass_and_enums_take_the_schemas_spelling() -> None:
    assert fit_arguments(TYPE, {"id": 3, "text": "x"}) == ({"id": 3, "text": "x"}, None)
    assert fit_arguments(TYPE, {"id": 3, "text": "x", "mode": " replace "})[0]["mode"] == "Replace"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (None, "object"),
        ([3, "x"], "object"),
        ({"id": 3}, "text is missing"),
        ({"id": "3", "text": "x"}, "id must be of type integer"),
        ({"id": True, "text": "x"}, "id must be of type integer"),
        ({"id": 3, "text": "x", "mode": "Delete"}, "mode must be one of Append, Replace, not 'Delete'"),
        ({"id": 3, "text": "x", "extra": 1}, "no argument 'extra'"),
        ({"id": 3, "text": "x", 5: 1}, "no argument a value of type int"),
    ],
)
def test_what_does_not_fit_is_named(arguments: Any, problem: str) -> None:
    fitted, said = fit_arguments(TYPE, arguments)
    assert fitted == {}
    assert said is not None
    assert problem in said


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["id", "text", "mode", "x"]), json_values))
def test_checking_is_total(arguments: dict[str, Any]) -> None:
    fitted, problem = fit_arguments(TYPE, arguments)
    assert (problem is None) == bool(fitted)
