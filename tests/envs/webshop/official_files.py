"""Small files in the benchmark's format, written by the tests themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

PATH = "Clothing \u203a Shoes \u203a Boots"


def a_row(asin: str, **changes: Any) -> dict[str, Any]:
    """One element of items_shuffle.json."""
    row: dict[str, Any] = {
        "asin": asin,
        "name": f"Sturdy Boots {asin}",
        "full_description": "Made for mud.",
        "small_description": ["Rubber sole", "Steel toe"],
        "pricing": "$19.99$27.99",
        "images": ["boots.jpg", "side.jpg"],
        "product_category": PATH,
        "category": "fashion",
        "query": " Work Boots ",
        "page": 1,
        "customization_options": {
            "Size": [{"value": "Large/Wide "}, {"value": "SMALL", "image": "s.jpg"}],
            "Fit": None,
        },
        "average_rating": 4.5,
        "seller_id": "dropped",
    }
    return {**row, **changes}


def a_wish(asin: str, text: str = "i want boots.", **changes: Any) -> dict[str, Any]:
    """One human instruction of items_human_ins.json."""
    wish: dict[str, Any] = {
        "asin": asin,
        "instruction": text,
        "attributes": ["steel toe", "rubber sole"],
        "options": ["small"],
        "instruction_attributes": ["steel toe"],
        "instruction_options": ["small"],
        "assignment_id": "x",
        "worker_id": "y",
    }
    return {**wish, **changes}


def write_shop(
    folder: Path,
    rows: list[Any],
    annotations: dict[str, Any] | None = None,
    human: dict[str, Any] | None = None,
    ending: str = "",
) -> Path:
    """The three files of a shop in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (
        ("items_shuffle", rows),
        ("items_ins_v2", annotations or {}),
        ("items_human_ins", human or {}),
    ):
        (folder / f"{name}{ending}.json").write_text(json.dumps(content), encoding="utf-8")
    return folder
