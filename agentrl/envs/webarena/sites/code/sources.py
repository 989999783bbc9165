"""Small programs in several languages, made of a project's own words: the files of the repositories."""

# ruff: noqa: E501  (tables read better with one entry on a line)
from __future__ import annotations

import re
from random import Random

VERBS = ("load", "parse", "merge", "count", "render", "check", "sort", "store", "find", "split", "update", "convert")
AGENTS = {  # what a class that does it is called
    "load": "loader", "parse": "parser", "merge": "merger", "count": "counter", "render": "renderer", "check": "checker",
    "sort": "sorter", "store": "keeper", "find": "finder", "split": "splitter", "update": "updater", "convert": "converter",
}  # fmt: skip
QUALITIES = ("size", "weight", "age", "order", "score", "depth", "width", "level", "length", "offset")

# Functions by language. {verb} {noun} {other} {quality} {n} {m} are filled in; capitals give capitalised words.
FUNCTIONS: dict[str, tuple[str, ...]] = {
    "Python": (
        'def {verb}_{noun}({other}s: list, limit: int = {n}) -> list:\n    """{Verb} every {noun} of the given {other}s."""\n    found = []\n    for {other} in {other}s:\n        if {other}.{quality} > limit:\n            found.append({other}.{noun})\n    return found',
        'def {verb}_{noun}(text: str) -> dict[str, int]:\n    """{Verb} a {noun} that is written as text."""\n    name, _, rest = text.partition("{sep}")\n    if not name:\n        raise ValueError("a {noun} needs a name")\n    return {{"{noun}": len(name), "{quality}": len(rest) + {m}}}',
        'class {Noun}{Agent}:\n    """Keeps the {other} of a {noun}."""\n\n    def __init__(self, {quality}: int = {n}) -> None:\n        self.{quality} = {quality}\n        self.{other}s: list[str] = []\n\n    def {verb}(self, {other}: str) -> bool:\n        self.{other}s.append({other})\n        return len(self.{other}s) <= self.{quality}',
    ),
    "JavaScript": (
        "export function {verb}{Noun}({other}s, limit = {n}) {{\n  return {other}s\n    .filter(({other}) => {other}.{quality} > limit)\n    .map(({other}) => {other}.{noun});\n}}",
        "export function {verb}{Noun}(state, {other}) {{\n  if (!{other}) {{\n    return state;\n  }}\n  const {quality} = Math.min(state.{quality} + {m}, {n});\n  return {{ ...state, {noun}: {other}, {quality} }};\n}}",
        "export class {Noun}{Agent} {{\n  constructor({quality} = {n}) {{\n    this.{quality} = {quality};\n    this.{other}s = [];\n  }}\n\n  {verb}({other}) {{\n    this.{other}s.push({other});\n    return this.{other}s.length <= this.{quality};\n  }}\n}}",
    ),
    "Go": (
        "// {Verb}{Noun} gives the {noun} of every {other} above the limit.\nfunc {Verb}{Noun}({other}s []{Other}, limit int) []string {{\n\tvar found []string\n\tfor _, {other} := range {other}s {{\n\t\tif {other}.{Quality} > limit {{\n\t\t\tfound = append(found, {other}.{Noun})\n\t\t}}\n\t}}\n\treturn found\n}}",
        "// {Noun}{Agent} keeps at most {n} {other}s.\ntype {Noun}{Agent} struct {{\n\t{quality} int\n\t{other}s []string\n}}\n\nfunc (k *{Noun}{Agent}) {Verb}({other} string) error {{\n\tif len(k.{other}s) >= {n} {{\n\t\treturn errors.New(\"too many {other}s\")\n\t}}\n\tk.{other}s = append(k.{other}s, {other})\n\treturn nil\n}}",
    ),
    "Rust": (
        "/// {Verb} the {noun} of every {other} above the limit.\npub fn {verb}_{noun}({other}s: &[{Other}], limit: u32) -> Vec<String> {{\n    {other}s\n        .iter()\n        .filter(|{other}| {other}.{quality} > limit)\n        .map(|{other}| {other}.{noun}.clone())\n        .collect()\n}}",
        "#[derive(Debug, Default)]\npub struct {Noun}{Agent} {{\n    {quality}: usize,\n    {other}s: Vec<String>,\n}}\n\nimpl {Noun}{Agent} {{\n    pub fn {verb}(&mut self, {other}: &str) -> bool {{\n        self.{other}s.push({other}.to_owned());\n        self.{other}s.len() <= self.{quality} + {m}\n    }}\n}}",
    ),
    "Ruby": (
        "def {verb}_{noun}({other}s, limit = {n})\n  {other}s.select {{ |{other}| {other}.{quality} > limit }}\n    .map(&:{noun})\nend",
        "class {Noun}{Agent}\n  attr_reader :{quality}\n\n  def initialize({quality} = {n})\n    @{quality} = {quality}\n    @{other}s = []\n  end\n\n  def {verb}({other})\n    @{other}s << {other}\n    @{other}s.size <= @{quality}\n  end\nend",
    ),
    "C": (
        "/* {Verb} the {noun} of every {other} above the limit. */\nint {verb}_{noun}(const struct {other} *{other}s, int count, int limit)\n{{\n    int found = 0;\n    for (int i = 0; i < count; i++)\n        if ({other}s[i].{quality} > limit)\n            found++;\n    return found;\n}}",
        "struct {noun}_{agent} {{\n    int {quality};\n    float {other}[{n}];\n}};\n\nvoid {noun}_{verb}(struct {noun}_{agent} *self, float value)\n{{\n    self->{other}[self->{quality}++ % {n}] = value;\n}}",
    ),
    "Shell": (
        '{verb}_{noun}() {{\n  local {other}="${{1:-{n}}}"\n  if [ -z "${other}" ]; then\n    echo "{noun}: no {other} given" >&2\n    return 1\n  fi\n  printf "%s\\n" "${other}"\n}}',
        'export {NOUN}_{QUALITY}={n}\nalias {verb}{other}="{verb} --{noun} --{quality} {m}"',
    ),
    "HTML": (
        '<section class="{noun}">\n  <h2>{Verb} a {noun}</h2>\n  <p>Every {noun} has one {other}; its {quality} is at most {n}.</p>\n  <a href="/{noun}s/">All {noun}s</a>\n</section>',
        '<article id="{noun}-{other}">\n  <h3>{Noun} and {other}</h3>\n  <ul>\n    <li>{Verb} the {noun} first</li>\n    <li>then look at the {other} and its {quality}</li>\n  </ul>\n</article>',
    ),
    "Markdown": (
        "## {Verb} a {noun}\n\nUse the `{verb}` command with the name of the {noun}. The {other} is optional;\nwithout it, the {quality} is {n}.",
        "### {Noun} and {other}\n\n* A {noun} belongs to exactly one {other}.\n* The {quality} of a {noun} is a whole number up to {n}.\n* Nothing is changed until the {other} is saved.",
    ),
}  # fmt: skip
LAYOUTS = {  # folder of the sources, suffix, file of the package, folder of the tests
    "Python": ("src", ".py", "pyproject.toml", "tests"), "JavaScript": ("src", ".js", "package.json", "test"),
    "Go": ("internal", ".go", "go.mod", "cmd"), "Rust": ("src", ".rs", "Cargo.toml", "tests"),
    "Ruby": ("lib", ".rb", "Gemfile", "spec"), "C": ("src", ".c", "Makefile", "include"),
    "Shell": ("bin", ".sh", "install.conf", "config"), "HTML": ("pages", ".html", "site.toml", "partials"),
}  # fmt: skip
HEADERS = {
    "Python": "from __future__ import annotations\n", "JavaScript": '"use strict";\n', "Go": 'package {noun}\n\nimport "errors"\n',
    "Rust": "use crate::{other}::{Other};\n", "Ruby": "# frozen_string_literal: true\n", "C": '#include "{noun}.h"\n',
    "Shell": "#!/usr/bin/env bash\nset -euo pipefail\n", "HTML": "<!doctype html>\n<title>{Noun}</title>\n", "Markdown": "# {Noun}\n",
}  # fmt: skip


def words(nouns: list[str], random: Random, noun: str = "") -> dict[str, str]:
    """Values for the placeholders of a text; `noun` decides what it is about."""
    noun = noun or random.choice(nouns)
    other = random.choice([word for word in nouns if word != noun])
    verb, quality = random.choice(VERBS), random.choice(QUALITIES)
    return {
        "noun": noun, "Noun": noun.capitalize(), "NOUN": noun.upper(), "other": other, "Other": other.capitalize(),
        "verb": verb, "Verb": verb.capitalize(), "agent": AGENTS[verb], "Agent": AGENTS[verb].capitalize(), "quality": quality, "Quality": quality.capitalize(),
        "QUALITY": quality.upper(), "n": str(random.choice((8, 10, 12, 16, 20, 24, 32, 50, 64, 100))),
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
    return fill(random.choice(FUNCTIONS[language]), values).split("\n")


def new_file(language: str, nouns: list[str], noun: str, random: Random) -> list[str]:
    """The first version of a file about a noun."""
    values = words(nouns, random, noun)
    lines = HEADERS[language].format(**values).split("\n")
    for _ in range(random.randint(1, 3)):
        lines += [*function(language, words(nouns, random, noun), random), ""]
    return lines


def language_of(path: str) -> str:
    """The language of a file by its name; "" for files that are left as they are."""
    suffix = path[path.rfind(".") :]
    if suffix == ".md":
        return "Markdown"
    return next((language for language, layout in LAYOUTS.items() if layout[1] == suffix), "")


def readme(title: str, description: str, language: str, nouns: list[str], random: Random) -> list[str]:
    """The README of a project."""
    first, second, third = nouns[:3]
    start = {
        "Python": f"pip install {title}", "JavaScript": f"npm install {title}", "Go": f"go install {title}@latest",
        "Rust": f"cargo install {title}", "Ruby": f"gem install {title}", "C": "make && make install",
        "Shell": "./install.sh", "HTML": "make serve",
    }[language]  # fmt: skip
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


LICENCES = {
    "MIT": "MIT License\n\nCopyright (c) {year} the authors of {title}\n\nYou may use, copy, change and share this software, for any purpose, as long as this\nnotice stays with it. It comes without any warranty.\n",
    "Apache-2.0": "Apache License 2.0\n\nCopyright {year} the authors of {title}\n\nLicensed under the Apache License, Version 2.0. You may not use these files except in\ncompliance with the License. The software is distributed on an \"as is\" basis.\n",
    "GPL-3.0": "GNU General Public License, version 3\n\nCopyright (C) {year} the authors of {title}\n\nThis program is free software: you can share it and change it under the terms of the\nGNU General Public License. It comes without any warranty.\n",
}  # fmt: skip
