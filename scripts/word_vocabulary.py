"""The vocabulary of `tiny-words`: what the worlds of text say, in few tokens.

    python scripts/word_vocabulary.py            # writes agentrl/models/tiny_words_vocabulary.json

Texts of the training splits are read, as the oracle and random play see them. One token each are

- the rules, and the fixed parts of observations and actions, each up to where a name begins;
- a thing of a home with its number (`cabinet 12`), words that many texts have, and numbers of up to two digits;
- the syllables of the invented names of an encyclopaedia, so that a name nobody has seen can be copied.

Everything else is spelled in bytes.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium as gym

import agentrl  # noqa: F401
from agentrl.policies.random import RandomPolicy
from benchmarks.learning.texts import HOMES, QUESTIONS

TARGET = Path(__file__).parent.parent / "agentrl" / "models" / "tiny_words_vocabulary.json"
HOME_TASKS = 600  # that are played
PAGES = 5_000  # that are read
WORDS, CAPITALS, PARTS = 5, 20, 10  # texts that have a word, or a part of a name, which is a token
NUMBERED = r"\b[a-z]{3,} [0-9]{1,2}\b"
CAPITAL = r"\b[A-Z][a-z]+\b"
LOWER = r"(?:(?<![A-Za-z])| )[a-z]+(?![A-Za-z])"
SYLLABLE = r" ?[A-Z]?[b-df-hj-np-tv-z]{0,2}[aeiou]{1,2}| ?[A-Z]?[b-df-hj-np-tv-z]{1,2}"
PIECES = rf"{LOWER}|{SYLLABLE}| ?[0-9]{{1,2}}|[A-Z]|\n|[^\sA-Za-z0-9]|\s"
HOME = (
    "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly around you, you see a ",
    ".\n\nYour task is to: ", ".\n\nPossible commands: ", ", go to ", "go to ", "Nothing happens.", "You arrive at ",
    ". On the ", " is closed.", " is open. In it, you see ", ", you see ", ", and a ", ", a ", "You open the ", "open ",
    "You close the ", ", close ", "close ", ", open ", ", take ", "take ", " from ", ", move ", "move ", ", examine ",
    "examine ", ", help, inventory, look", "You pick up the ", " from the ", "You move the ", " to the ", " with ",
    ", clean ", ", heat ", ", cool ", ", slice ", ", use ", "You are carrying: a ", "You are not carrying anything.",
    "You turn on the ", " using the ", "put a ", " and put it in ", "find two ", " and put them in ", "look at ",
    " under the ", "examine the ", " with the ", "put some ", "put two ", " on ", " in ",
)  # fmt: skip
SEARCH = (
    "Question: ",
    "\nSearches so far: ",
    "\n\nPages for: ",
    "search(",
    ")\nsearch(",
    "answer(",
    "<answer>",
    "</answer>",
)
SEARCH += (" more shown above)", "(shown above)", "\n[", "] ", "Nothing was found.")
LATER = tuple(f". {part}" for part in HOME if part.startswith("You "))  # after an action of the past
STORY = ("Your turns so far:\n[", "\nNow:\n", "] You did: ", ".\n[", "Your last ", " turns of ", " (invalid)")


def main() -> None:
    """Read the texts and write the file."""
    homes, house_rules = played(*HOMES)
    pages, asked, question_rules = encyclopaedia(*QUESTIONS)
    turns = [f"Turn {turn} of 5.\n" for turn in range(1, 6)]
    phrases = sorted(
        {*HOME, *LATER, *SEARCH, *STORY, *turns, house_rules, question_rules}, key=lambda one: (-len(one), one)
    )
    things = often(homes, NUMBERED, 1)
    kinds = sorted({thing.partition(" ")[0] for thing in things})
    names = rf" ?\b(?:{'|'.join(often([*homes, *pages, *asked], CAPITAL, CAPITALS))})\b"
    pattern = "|".join([*map(re.escape, phrases), rf" ?\b(?:{'|'.join(kinds)}) [0-9]{{1,2}}\b", names, PIECES])
    words = often([*homes, *pages, *asked], pattern, WORDS)
    parts = {*often(pages, pattern, PARTS), *(word for word in words if re.fullmatch(f"{LOWER}|{names}", word))}
    tokens = list(
        dict.fromkeys(
            [*phrases, *things, *(f" {thing}" for thing in things), *sorted(parts.difference(phrases)), *numbers()]
        )
    )
    TARGET.write_text(json.dumps({"pattern": pattern, "tokens": tokens}, ensure_ascii=False, indent=0) + "\n")
    for name, texts in (("homes", homes), ("pages", pages)):
        pieces, known = [piece for text in texts for piece in re.findall(pattern, text)], set(tokens)
        spelled = sum(piece not in known for piece in pieces)
        print(f"{name}: {len(pieces) / len(texts):.0f} pieces a text, {spelled / len(pieces):.4f} spelled in bytes")
    print(f"{len(tokens)} tokens")


def played(env_id: str, arguments: dict[str, Any]) -> tuple[list[str], str]:
    """What is seen and done in training tasks, by the oracle with a random turn in between; and the rules."""
    env, walker, found = gym.make(env_id, split="train", **arguments), RandomPolicy(seed=0), []
    for seed in range(HOME_TASKS):
        observation, over = env.reset(seed=seed)[0], False
        while not over:
            action = walker.sample(env) if len(found) % 3 == 0 else env.get_wrapper_attr("oracle")()
            found += [observation["text"], action]
            observation, _, terminated, truncated, _ = env.step(action)
            over = terminated or truncated
    return found, env.get_wrapper_attr("system_prompt")


def encyclopaedia(env_id: str, arguments: dict[str, Any]) -> tuple[list[str], list[str], str]:
    """Some of the pages, the questions of training, and the rules."""
    env: Any = gym.make(env_id, split="train", **arguments).unwrapped
    some = range(0, arguments["pages"], arguments["pages"] // PAGES)  # kinds of pages come one after the other
    pages = [f"{page.title}\n{page.text}" for page in env.collection.pages(some)]
    return pages, [env.instruction_of(task) for task in env.tasks()], env.system_prompt


def often(texts: list[str], pattern: str, least: int) -> list[str]:
    """What fits the pattern in so many texts."""
    counts = Counter(word for text in texts for word in set(re.findall(pattern, text)))
    return sorted(word for word, count in counts.items() if count >= least)


def numbers() -> list[str]:
    """Of one and two digits, with and without a space before them."""
    digits = [*map(str, range(10)), *(f"{number:02d}" for number in range(100))]
    return [f"{space}{number}" for number in digits for space in ("", " ")]


if __name__ == "__main__":
    main()
