"""Who and what the code host's base data is about, and the small programs in its repositories."""

from __future__ import annotations

import re
from random import Random
from typing import NamedTuple

from agentrl.envs.webarena.data_files import data_file

PACKAGE = "agentrl.envs.webarena.sites.code"
AGENT = "byteblaze"
CATALOGUE, PROGRAMS = data_file(PACKAGE, "catalogue.toml"), data_file(PACKAGE, "programs.toml")
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


def words(nouns: list[str], random: Random, noun: str = "") -> dict[str, str]:
    """Values for the placeholders of a text; `noun` decides what it is about."""
    noun = noun or random.choice(nouns)
    other = random.choice([word for word in nouns if word != noun])
    verb, quality = random.choice(VERBS), random.choice(PROGRAMS["qualities"])
    return {
        "noun": noun, "Noun": noun.capitalize(), "NOUN": noun.upper(), "other": other, "Other": other.capitalize(),
        "verb": verb, "Verb": verb.capitalize(), "agent": AGENTS[verb], "Agent": AGENTS[verb].capitalize(),
        "quality": quality, "Quality": quality.capitalize(), "QUALITY": quality.upper(),
        "n": str(random.choice((8, 10, 12, 16, 20, 24, 32, 50, 64, 100))),
        "m": str(random.randint(1, 9)), "sep": random.choice((":", ";", "=", ",")),
    }  # fmt: skip


def sentence(pattern: str, values: dict[str, str]) -> str:
    """A text with its words filled in, and with the articles and plurals that English wants for them."""
    text = re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", pattern.format(**values))
    text = re.sub(r"(?<=[^aeiou\W])ys\b", "ies", text).replace("lenss", "lenses")
    return re.sub(r"(?<=[cs]h)s\b", "es", text)


def function(language: str, values: dict[str, str], random: Random) -> list[str]:
    """The lines of one function (or section) in that language."""
    fill = sentence if language in ("Markdown", "HTML") else str.format_map
    return fill(random.choice(LANGUAGES[language]["functions"]), values).split("\n")


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
    first, second, third = nouns[:3]
    start = LANGUAGES[language]["start"].format(title=title)
    verb = random.choice(VERBS)
    return [
        f"# {title}", "", description, "", "## Getting started", "", "```", start, "```", "", "## What it can do", "",
        f"* {verb.capitalize()} every {first} together with its {second}", f"* Keep every {third} in one place",
        f"* Tell you when the {nouns[3]} has changed", "", "## Contributing", "",
        f"Open an issue before you change how the {nouns[4]} works. Small fixes are welcome at any time.", "",
        "## Licence", "", "See the file LICENSE.", "",
    ]  # fmt: skip


def package_file(title: str, language: str) -> list[str]:
    """The file that names the package and its version, on its second line."""
    if language == "JavaScript":
        return ["{", '  "version": "0.1.0",', f'  "name": "{title}",', '  "private": false', "}", ""]
    return [f"# {title}", 'version = "0.1.0"', f'name = "{title}"', "strict = true", ""]
