"""The vocabulary of `tiny-web`: what stands on the pages of some short tasks, in as few tokens as possible.

    python scripts/web_vocabulary.py            # writes agentrl/models/tiny_web_vocabulary.json

Pages of the training split are read, as the oracle sees them. One token each are

- runs of lines that are the same on many pages, such as the whole menu, and the whole first page;
- the fixed parts of instructions, actions, addresses and tables: each up to where a name or value begins, so that a
  name is written in the same tokens wherever it stands, and can be copied;
- ids of elements (`[12]`), words, and numbers of up to two digits.

Everything else is spelled in bytes. Words of the other splits are not looked at.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

import gymnasium as gym

import agentrl  # noqa: F401
from agentrl.envs.webarena.tasks.generated import templates
from benchmarks.learning.webrl_worlds import MAPS, READING

TARGET = Path(__file__).parent.parent / "agentrl" / "models" / "tiny_web_vocabulary.json"
PIECES = r"\[[0-9]+\]| ?[0-9]{1,2}| ?[A-Z]?[a-z]+|[A-Z]|\n|[^\sA-Za-z0-9]|\s"
VALUES = re.compile(r"addr:(?!city)|name |phone |cuisine ")  # lines of a page that an instruction may ask about
# Where names and values begin and end.
AROUND = ("Instruction: ", " link ", " textbox ", " button ", ", ", " | ", " = ", " textbox Search = ", " (", " , -")
AROUND += ("# Node: ", "# Way: ", "Results 1 to ", " of ", " · zoom ", "\nwebsite | https://www.", ".example\n")
AROUND += (", Veldhaven, Orrin County, Norrland Shire, ", ", Norrland Shire, ", ", Estermark\n")
ACTIONS = ("click ", "type ", "select ", " [", "] [1]", "] [0]", "stop [", "stop []", "scroll [")
OFTEN, RUN, BARE = 0.01, 0.004, 0.02  # of all pages: a line, a run of such lines, a line without its id


def main() -> None:
    """Read the pages and write the file."""
    arguments = json.loads(MAPS.task["env_kwargs"])
    texts, rules = demonstrated(arguments)
    pages = [text.partition("\n")[2] for text, _ in texts]
    phrases = {*runs(pages), *bare_lines(pages), *table_keys(pages), *instructions(), *AROUND, *ACTIONS, rules}
    ordered = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    pattern = "|".join([*map(re.escape, ordered), PIECES])
    tokens = [*ordered, *(f"[{number}]" for number in range(80)), *spaced(numbers()), *spaced(words(texts, pattern))]
    TARGET.write_text(json.dumps({"pattern": pattern, "tokens": tokens}, ensure_ascii=False, indent=0) + "\n")
    print(f"{len(tokens)} tokens, of which {len(ordered)} are phrases, from {len(pages)} pages")


def demonstrated(arguments: dict[str, Any]) -> tuple[list[tuple[str, str]], str]:
    """Every observation of the training tasks with the right action, and the system prompt."""
    env = gym.make(MAPS.env, split="train", **arguments).unwrapped
    found = []
    for task in env.tasks():  # pyright: ignore[reportAttributeAccessIssue]
        observation, over = env.reset(options={"task": task})[0], False
        while not over:
            action = env.oracle()  # pyright: ignore[reportAttributeAccessIssue]
            found.append((observation["text"], action))
            observation, _, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
    return found, env.system_prompt  # pyright: ignore[reportAttributeAccessIssue]


def runs(pages: list[str]) -> list[str]:
    """Neighbouring lines that many pages share."""
    lines = [page.splitlines(keepends=True) for page in pages]
    counts = Counter(line for page in lines for line in set(page))
    often = {line for line, count in counts.items() if count >= OFTEN * len(pages) and not VALUES.match(line)}
    found = Counter("".join(run) for page in lines for shared, run in groupby(page, often.__contains__) if shared)
    return [run for run, count in found.items() if count >= RUN * len(pages)]


def bare_lines(pages: list[str]) -> list[str]:
    """Lines that many pages share but for the number of the element."""
    counts = Counter(re.sub(r"^\[\d+\]", "", line) for page in pages for line in set(page.splitlines(keepends=True)))
    return [line for line, n in counts.items() if n >= BARE * len(pages) and len(line) > 3 and " | " not in line]


def table_keys(pages: list[str]) -> list[str]:
    """Left columns of the table on a place's page."""
    counts = Counter(key for page in pages for key in re.findall(r"(?m)^[a-z_:]+ \| ", page))
    keys = [key for key, count in counts.items() if count >= 5]
    menu = "[11] link Directions from here\n[12] link Directions to here\n# Tags\n"
    town = "addr:city | Veldhaven\naddr:housenumber | "
    return [*keys, *(f"\n{key}" for key in keys), f"\n{town}", f"{menu}{town}"]


def instructions() -> list[str]:
    """What stands before and behind the name in an instruction."""
    parts = {part for name in READING for text in templates()[name].intents for part in re.split(r"\{\w+\}", text)}
    long = [part for part in parts if len(part) > 1]
    return [
        *(f"Instruction: {part}" for part in long),
        *(part for part in long if len(part) > 2),
        *(f"{p}\n" for p in long),
    ]


def numbers() -> list[str]:
    """Of one and two digits."""
    return [*map(str, range(10)), *(f"{number:02d}" for number in range(100))]


def words(texts: Iterable[tuple[str, str]], pattern: str) -> list[str]:
    """Outside of the phrases."""
    pieces = {piece for pair in texts for text in pair for piece in re.findall(pattern, text)}
    return sorted({piece.strip() for piece in pieces if re.fullmatch(r" ?[A-Z]?[a-z]+", piece)})


def spaced(texts: Iterable[str]) -> list[str]:
    """With and without a space before them."""
    return [f"{space}{text}" for text in texts for space in ("", " ")]


if __name__ == "__main__":
    main()
