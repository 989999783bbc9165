"""Tool calls: the schema of a tool, and whether arguments fit it. Total on hostile arguments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentrl.core.parsing import quote

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def function_schema(
    name: str, description: str, properties: Mapping[str, Mapping[str, Any]], required: list[str] | None = None
) -> dict[str, Any]:
    """One entry of an OpenAI-style `tools` list; every property is required unless said otherwise."""
    parameters = {
        "type": "object",
        "properties": {key: dict(value) for key, value in properties.items()},
        "required": list(properties) if required is None else list(required),
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def fit_arguments(parameters: Mapping[str, Any], arguments: Any) -> tuple[dict[str, Any], str | None]:
    """(the arguments with enum values spelled as the schema spells them, None) or ({}, problem).

    Knows what our schemas use: types, enums, required and no further names. Strings of an enum are compared without
    regard to case, as action names are everywhere.
    """
    if not isinstance(arguments, dict):
        return {}, "arguments must be an object"
    properties = parameters["properties"]
    for name in parameters["required"]:
        if name not in arguments:
            return {}, f"argument {name} is missing"
    fitted = {}
    for name, value in arguments.items():
        if not isinstance(name, str) or name not in properties:
            return {}, f"there is no argument {_show(name)}"
        fitted[name], problem = _fit(properties[name], value)
        if problem:
            return {}, f"{name} {problem}"
    return fitted, None


def _fit(schema: Mapping[str, Any], value: Any) -> tuple[Any, str | None]:
    kind = schema.get("type")
    # bool is an int to Python and not to JSON.
    if kind in _TYPES and (not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return None, f"must be of type {kind}"
    if "enum" not in schema:
        return value, None
    for allowed in schema["enum"]:
        if value == allowed or (
            isinstance(value, str) and isinstance(allowed, str) and value.strip().casefold() == allowed.casefold()
        ):
            return allowed, None
    return None, f"must be one of {', '.join(map(str, schema['enum']))}, not {_show(value)}"


def _show(value: Any) -> str:
    return quote(value) if isinstance(value, str) else f"a value of type {type(value).__name__}"
