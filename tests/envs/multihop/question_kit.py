"""What the tests of this family share: a small encyclopaedia, and files in the layouts of the public data sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentrl.envs.multihop.env import MultiHopQAEnv

SMALL = 1_000
PAGES = {
    "Tide House": "Tide House is a novel by Ola Brandt.",
    "Ola Brandt": "Ola Brandt was born in Merrow.",
    "Merrow": "Merrow stands on the River Lune.",
    "Salt Road": "Salt Road is a novel by Ines Corvo.",
    "Ines Corvo": "Ines Corvo was born in Padua.",
}


def small_env(**arguments: Any) -> MultiHopQAEnv:
    """A thousand pages, quick to write."""
    return MultiHopQAEnv(**{"pages": SMALL, "split": "test", **arguments})


def play(env: MultiHopQAEnv, task: str) -> tuple[list[str], dict[str, Any]]:
    """The oracle's turns, and the last info."""
    _, info = env.reset(options={"task": task})
    turns, over = [], False
    while not over:
        turn = env.oracle()
        assert turn is not None
        turns.append(turn)
        _, _, terminated, truncated, info = env.step(turn)
        over = terminated or truncated
    return turns, info


def hotpot_row(number: int = 0) -> dict[str, Any]:
    """A question as HotpotQA and 2WikiMultiHopQA write it."""
    return {
        "_id": f"q{number}",
        "question": f"In which town was the author of Tide House born ({number})?",
        "answer": "Merrow",
        "answer_id": "Q1",
        "type": "bridge",
        "level": "easy",
        "supporting_facts": [["Tide House", 0], ["Ola Brandt", 0]],
        "context": [[title, [text]] for title, text in PAGES.items()],
    }


def musique_row(number: int = 0) -> dict[str, Any]:
    """A question as MuSiQue writes it: of the three steps the second asks for nothing that was found before."""
    titles = ["Salt Road", "Tide House", "Ola Brandt", "Ines Corvo"]
    steps = [("Who wrote Tide House?", 1), ("Who wrote Salt Road?", 0), ("Where was #1 born?", 2)]
    return {
        "id": f"3hop2__{number}",
        "question": f"Where was the author born whose novel is Tide House, not Salt Road ({number})?",
        "answer": "Merrow",
        "answer_aliases": ["Merrow upon Lune"],
        "answerable": True,
        "paragraphs": [
            {"idx": 10 + place, "title": title, "paragraph_text": PAGES[title], "is_supporting": place < 3}
            for place, title in enumerate(titles)
        ],
        "question_decomposition": [
            {"id": place, "question": text, "answer": "", "paragraph_support_idx": 10 + page}
            for place, (text, page) in enumerate(steps)
        ],
    }


def written(path: Path, value: Any) -> Path:
    """A file of JSON, or of lines of it where the name says so."""
    lines = path.suffix == ".jsonl"
    path.write_text("\n".join(map(json.dumps, value)) if lines else json.dumps(value, indent=1), encoding="utf-8")
    return path
