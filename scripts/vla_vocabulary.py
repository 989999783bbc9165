"""The vocabulary of the tiny VLA models: the words of what robots are asked to do here, one token each.

    python scripts/vla_vocabulary.py            # writes agentrl/models/tiny_vla_vocabulary.json

Read are the instructions of LIBERO's 130 tasks, with their paraphrases, and of Meta-World's fifty in both wordings.
Every other word is spelled in bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from agentrl.envs.libero.paraphrase import paraphrase
from agentrl.envs.libero.task_ids import Chosen
from agentrl.envs.libero.world import suites
from agentrl.envs.metaworld.tasks import WORDS

TARGET = Path(__file__).parent.parent / "agentrl" / "models" / "tiny_vla_vocabulary.json"
PIECES = r" ?[A-Z]?[a-z]+| ?[0-9]|[A-Z]|\n|[^\sA-Za-z0-9]|\s"
LEVELS, DRAWS = (1, 2, 3), 20


def instructions() -> Iterator[str]:
    """All of them."""
    for wording in WORDS.values():
        yield from wording.values()
    for suite, names in suites().items():
        for number in range(len(names)):
            told = Chosen(suite, number, "train", 0).instruction
            yield told
            for level in LEVELS:
                yield from (paraphrase(told, level, np.random.default_rng([number, level, n])) for n in range(DRAWS))


def main() -> None:
    """Write the file."""
    words = {word for told in instructions() for word in re.findall(r"[A-Za-z]+", told)}
    plain = sorted({word.lower() for word in words} | {word.capitalize() for word in words if word != word.lower()})
    tokens = [f"{space}{word}" for word in plain for space in ("", " ")]
    tokens += [*".,;'", *(f"{space}{digit}" for digit in range(10) for space in ("", " "))]
    TARGET.write_text(json.dumps({"pattern": PIECES, "tokens": tokens}, ensure_ascii=False, indent=0) + "\n")
    print(f"{len(tokens)} tokens")


if __name__ == "__main__":
    main()
