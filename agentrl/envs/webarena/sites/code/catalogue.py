"""Who and what the code host's base data is about, and the small programs in its repositories."""

from __future__ import annotations

import re
from random import Random
from typing import NamedTuple

from agentrl.envs.common.data_files import data_file
from agentrl.envs.webarena.sites.prose import expand, sentences

PACKAGE = "agentrl.envs.webarena.sites.code"
AGENT = "byteblaze"
CATALOGUE, PROGRAMS = data_file(PACKAGE, "catalogue.toml"), data_file(PACKAGE, "programs.toml")
TEXTS = data_file(PACKAGE, "conversations.toml")
LANGUAGES, AGENTS = PROGRAMS["languages"], PROGRAMS["agents"]
VERBS = list(AGENTS)


class Source(NamedTuple):
    """A project: where it lives, what it is written in, and the words its texts are made of."""

    namespace: str  # a group's path, a user name, or "" for any user
    path: str
    language: str
    description: str
    nouns: str
    size: int  # commits, roughly
    visibility: str = "public"


PROJECTS = [Source(*row) for row in CATALOGUE["projects"]]


Words = dict[str, str | list[str]]
_SPOKEN: Words = {name: [f"[{choices}]"] for name, choices in TEXTS["words"].items()}


def words(nouns: list[str], random: Random, noun: str = "") -> Words:
    """Values for the placeholders of a text; `noun` decides what it is about."""
    noun = noun or random.choice(nouns)
    other = random.choice([word for word in nouns if word != noun])
    verb, quality = random.choice(VERBS), random.choice(PROGRAMS["qualities"])
    return {
        **_SPOKEN, "noun": noun, "Noun": noun.capitalize(), "NOUN": noun.upper(),
        "other": other, "Other": other.capitalize(),
        "verb": verb, "Verb": verb.capitalize(), "agent": AGENTS[verb], "Agent": AGENTS[verb].capitalize(),
        "quality": quality, "Quality": quality.capitalize(), "QUALITY": quality.upper(),
        "n": str(random.choice((8, 10, 12, 16, 20, 24, 32, 50, 64, 100))),
        "m": str(random.randint(1, 9)), "sep": random.choice((":", ";", "=", ",")),
    }  # fmt: skip


def sentence(pattern: str, values: Words, random: Random) -> str:
    """A text with its words filled in, and with the capitals, articles and plurals that English wants."""
    return sentences(_filled(pattern, values, random))


def _filled(pattern: str, values: Words, random: Random) -> str:
    text = re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", expand(pattern, random, values))
    text = re.sub(r"(?<=[^aeiou\W])ys\b", "ies", text).replace("axiss", "axes").replace("boundss", "bounds")
    return re.sub(r"(?<=[cs]h)s\b|(?<=alias)s\b|(?<=lens)s\b|(?<=canvas)s\b|(?<=address)s\b", "es", text)


def function(language: str, values: Words, random: Random) -> list[str]:
    """The lines of one function (or section) in that language."""
    pattern = random.choice(LANGUAGES[language]["functions"])
    is_text = language in ("Markdown", "HTML")
    return (_filled(pattern, values, random) if is_text else pattern.format_map(values)).split("\n")


def new_file(language: str, nouns: list[str], noun: str, random: Random) -> list[str]:
    """The first version of a file about a noun."""
    values = words(nouns, random, noun)
    lines = LANGUAGES[language]["header"].format(**values).split("\n")
    for _ in range(random.randint(1, 3)):
        lines += [*function(language, words(nouns, random, noun), random), ""]
    return lines


def language_of(path: str) -> str:
    """The language of a file by its name; "" for files that are left as they are."""
    suffix = path[path.rfind(".") :]
    return next((language for language, about in LANGUAGES.items() if about["suffix"] == suffix), "")


def readme(title: str, description: str, language: str, nouns: list[str], random: Random) -> list[str]:
    """The README of a project."""
    goals, remarks = TEXTS["goals"], TEXTS["remarks"]
    start = LANGUAGES[language]["start"].format(title=title)
    can = [f"* {sentence(pattern, words(nouns, random), random)}" for pattern in random.sample(goals, 4)]
    return [
        f"# {title}", "", description, "", "## Getting started", "", "```", start, "```", "", "## What it can do", "",
        *can, "", "## Contributing", "", sentence(random.choice(remarks), words(nouns, random), random), "",
        "## Licence", "", "See the file LICENSE.", "",
    ]  # fmt: skip


def package_file(title: str, language: str) -> list[str]:
    """The file that names the package and its version, on its second line."""
    if language == "JavaScript":
        return ["{", '  "version": "0.1.0",', f'  "name": "{title}",', '  "private": false', "}", ""]
    return [f"# {title}", 'version = "0.1.0"', f'name = "{title}"', "strict = true", ""]
