"""What `benchmarks.libero.official` has measured, in few figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from agentrl.core.measure import machine
from benchmarks.learning.results import commit

ALIKE = 10.0  # millimetres between the places where things come to rest
Record = dict[str, Any]


def summary(records: Sequence[Record]) -> dict[str, Any]:
    """Figures of each suite, and of all goals and programs."""
    done = [record for record in records if "error" not in record]
    suites = {suite: [r for r in done if r["suite"] == suite] for suite in dict.fromkeys(r["suite"] for r in records)}
    return {
        "schema": 1,
        "name": "libero_official",
        "commit": commit(),
        "machine": machine(),
        "failed": [record for record in records if "error" in record],
        "tasks": {suite: tasks(found) for suite, found in suites.items()},
        "starts": {suite: starts(found) for suite, found in suites.items()},
        "pictures": {suite: pictures(found) for suite, found in suites.items()},
        "programs": {f"{r['suite']}/{r['task']}": r["programs"] for r in done if r.get("programs")},
        "goals": goals([goal for record in done for goal in record.get("goals", [])]),
        "replays": {suite: replays([r["replay"] for r in found if "replay" in r]) for suite, found in suites.items()},
    }


def spread(values: Iterable[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum."""
    found = list(values)
    if not found:
        return {}
    median, most = np.percentile(found, [50, 95])
    return {"median": round(float(median), 3), "p95": round(float(most), 3), "max": round(max(found), 3)}


def tasks(records: Sequence[Record]) -> Record:
    """How many were reset, drawn (a picture is not of one colour) and moved by a full step."""
    cameras = [record["pictures"].values() for record in records]
    return {
        "reset": len(records),
        "drawn": sum(all(camera["spread"] > 10 for camera in found) for found in cameras),
        "moved": sum(2 < record["stepped_mm"] < 15 for record in records),
    }


def starts(records: Sequence[Record]) -> Record:
    """How far apart things, fixtures, joints and arms are after the settling steps."""
    found = [record["start"] for record in records]
    parts = ("things_mm", "turned_deg", "fixtures_mm", "joints")
    figures: Record = {part: spread(value for start in found for value in start[part].values()) for part in parts}
    figures |= {part: spread(start[part] for start in found) for part in ("arm_mm", "hand_rad", "fingers_mm")}
    return {**figures, "same_conditions": sum(start["goal"][0] == start["goal"][1] for start in found)}


def pictures(records: Sequence[Record]) -> Record:
    """How far apart cameras and pictures are."""
    parts = ("apart_mm", "turned_deg", "fovy_deg", "difference")
    return {
        camera: {part: spread(record["pictures"][camera][part] for record in records) for part in parts}
        for camera in (records[0]["pictures"] if records else ())
    }


def goals(states: Sequence[Record]) -> Record:
    """In how many settled states all conditions agree; by predicate; and which do not."""
    alike = [state for state in states if state["apart_mm"] <= ALIKE]
    asked, agreed, held = Counter[str](), Counter[str](), Counter[str]()
    for state in states:
        for text, ours in state["ours"].items():
            predicate = text.split()[0]
            asked[predicate] += 1
            agreed[predicate] += ours == state["theirs"][text]
            held[predicate] += state["theirs"][text]
    return {
        "states": len(states),
        "agree": sum(state["ours"] == state["theirs"] for state in states),
        "alike": len(alike),
        "alike_agree": sum(state["ours"] == state["theirs"] for state in alike),
        "by_predicate": {name: {"asked": asked[name], "agreed": agreed[name], "true": held[name]} for name in asked},
        "differ": [state for state in states if state["ours"] != state["theirs"]],
    }


def replays(found: Sequence[Record]) -> Record:
    """How often the oracle's actions reach the goal in our world and, without looking, in theirs."""
    return {
        "tasks": len(found),
        "ours": sum(replay["solved"] for replay in found),
        "theirs": sum(replay["theirs"] for replay in found),
        "apart_mm": spread(replay["apart_mm"]["median"] for replay in found),
        "most_mm": spread(replay["apart_mm"]["most"] for replay in found),
    }


# ---------------------------------------------------------------------- tables of docs/results/libero.md


def tables(found: Record) -> str:
    """The tables of the page, as Markdown."""
    suites = list(found["tasks"])
    parts = [
        table(
            ("suite", "tasks", "reset", "drawn by both cameras", "moved by a step"),
            [(s, total(found, s), *(found["tasks"][s][part] for part in ("reset", "drawn", "moved"))) for s in suites],
        ),
        table(
            ("hand after 20 full steps and 40 of rest, mm", "procedural", "official", "apart"),
            [
                (f"{task}, {name}", vector(row["ours_mm"]), vector(row["theirs_mm"]), row["apart_mm"])
                for task, rows in found["programs"].items()
                for name, row in rows.items()
            ],
        ),
        table(
            ("suite", "things, mm", "turned, degrees", "fixtures, mm", "hand, mm", "hand, rad", "fingers, mm"),
            [(s, *(shown(found["starts"][s][part]) for part in STARTS)) for s in suites],
        ),
        table(
            ("suite", "camera", "apart, mm", "turned, degrees", "field of view, degrees", "pixels, of 255"),
            [
                (s, camera, *(shown(row[part]) for part in ("apart_mm", "turned_deg", "fovy_deg", "difference")))
                for s in suites
                for camera, row in found["pictures"][s].items()
            ],
        ),
        table(
            ("predicate", "asked", "the same answer", "true in the official source"),
            [(name, *row.values()) for name, row in found["goals"]["by_predicate"].items()],
        ),
        table(
            ("suite", "tasks", "solved, procedural", "solved, official", "apart, mm", "most, mm"),
            [(s, *map(shown, found["replays"][s].values())) for s in suites if found["replays"][s]["tasks"]],
        ),
    ]
    return "\n\n".join(parts) + "\n"


STARTS = ("things_mm", "turned_deg", "fixtures_mm", "arm_mm", "hand_rad", "fingers_mm")


def total(found: Record, suite: str) -> int:
    """Tasks that were tried."""
    return found["tasks"][suite]["reset"] + sum(record["suite"] == suite for record in found["failed"])


def shown(value: Any) -> str:
    """A number, or the median and the maximum of several."""
    if not isinstance(value, dict):
        return str(value)
    return f"{value['median']:g} (most {value['max']:g})" if value else "-"


def vector(values: Sequence[float]) -> str:
    """Three coordinates."""
    return ", ".join(f"{value:.1f}" for value in values)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
