"""The figures of official LIBERO beside our own models, out of made-up records."""

from __future__ import annotations

from typing import Any

from benchmarks.libero.summary import spread, summary, tables


def record(task: int, **others: Any) -> dict[str, Any]:
    camera = {"apart_mm": 0.0, "turned_deg": 0.0, "fovy_deg": 0.0, "difference": 40.0 + task, "spread": 30.0}
    start = {"things_mm": {"a": 1.0, "b": 3.0}, "turned_deg": {"a": 0.0}, "fixtures_mm": {}, "joints": {}}
    start |= {"arm_mm": 4.0, "hand_rad": 0.1, "fingers_mm": 1.0, "goal": [{"On a b": False}, {"On a b": False}]}
    return {"suite": "s", "task": task, "start": start, "pictures": {"agentview": camera}, "stepped_mm": 5.0, **others}


def state(ours: bool, theirs: bool, apart: float) -> dict[str, Any]:
    return {"ours": {"On a b": ours}, "theirs": {"On a b": theirs}, "apart_mm": apart}


def test_figures_count_what_agrees_and_what_failed():
    replay = {"actions": 9, "solved": True, "theirs": False, "apart_mm": {"median": 5.0, "most": 9.0}}
    program = {"x": {"ours_mm": [240.0, 0.0, -1.0], "theirs_mm": [267.0, 0.0, 0.0], "apart_mm": 27.0}}
    goals = [state(True, True, 2.0), state(True, False, 90.0), state(False, False, 3.0)]
    records = [
        record(0, goals=goals, replay=replay, programs=program),
        {**record(1), "stepped_mm": 0.0},
        {"suite": "s", "task": 2, "error": "WorkerFault: it died"},
    ]
    found = summary(records)
    assert found["tasks"]["s"] == {"reset": 2, "drawn": 2, "moved": 1} and len(found["failed"]) == 1
    assert {part: found["goals"][part] for part in ("states", "agree", "alike", "alike_agree")} == {
        "states": 3,
        "agree": 2,
        "alike": 2,
        "alike_agree": 2,
    }
    assert found["goals"]["by_predicate"] == {"On": {"asked": 3, "agreed": 2, "true": 1}}
    assert found["replays"]["s"]["ours"] == 1 and found["replays"]["s"]["theirs"] == 0
    assert found["starts"]["s"]["things_mm"] == {"median": 2.0, "p95": 3.0, "max": 3.0}
    page = tables(found)
    assert "| s | 3 | 2 | 2 | 1 |" in page and "| s/0, x | 240.0, 0.0, -1.0 | 267.0, 0.0, 0.0 | 27.0 |" in page
    assert "| s | agentview | 0 (most 0) | 0 (most 0) | 0 (most 0) | 40.5 (most 41) |" in page


def test_nothing_has_no_spread():
    assert spread([]) == {}
