"""Who and what the code host's base data is about (people, groups, projects), and the small programs in its repositories."""

# ruff: noqa: E501  (tables read better with one entry on a line)
from __future__ import annotations

import re
from random import Random
from typing import NamedTuple

AGENT = "byteblaze"
FIRST_NAMES = (
    "Amara", "Anders", "Anita", "Arjun", "Beatriz", "Bruno", "Camille", "Carlos", "Chidi", "Clara", "Dalia", "Daniel",
    "Davina", "Dmitri", "Elena", "Elias", "Emeka", "Esther", "Fatima", "Felix", "Freya", "Gabriel", "Greta", "Hana",
    "Hassan", "Helena", "Hugo", "Ida", "Imran", "Ingrid", "Isaac", "Jana", "Jasper", "Joana", "Jonas", "Kavya", "Keiko",
    "Kofi", "Lars", "Leila", "Liam", "Lina", "Lucia", "Magnus", "Maja", "Marco", "Mei", "Milan", "Mira", "Nadia", "Naomi",
    "Nikhil", "Noor", "Olivia", "Omar", "Otto", "Paula", "Pedro", "Priya", "Quentin", "Rafael", "Rosa", "Ruben", "Sanjay",
    "Sara", "Selma", "Simon", "Sofia", "Tadashi", "Tessa", "Tomas", "Uma", "Viktor", "Wanda", "Wei", "Yara", "Yusuf", "Zoe",
)  # fmt: skip
LAST_NAMES = (
    "Abara", "Adler", "Almeida", "Andersson", "Bakker", "Banerjee", "Becker", "Berger", "Bianchi", "Bouchard", "Brandt",
    "Castillo", "Chowdhury", "Costa", "Dahl", "Delgado", "Dubois", "Eriksen", "Farouk", "Fischer", "Fontaine", "Garcia",
    "Gruber", "Haddad", "Hansen", "Hayashi", "Holm", "Ibrahim", "Ivanov", "Jensen", "Kapoor", "Keller", "Kimura", "Kowalski",
    "Larsen", "Laurent", "Lindgren", "Lopes", "Marchetti", "Mendes", "Meyer", "Moreau", "Mwangi", "Nakamura", "Novak",
    "Nguyen", "Okafor", "Olsen", "Osei", "Pereira", "Petrov", "Quist", "Rahman", "Ramirez", "Richter", "Rossi", "Sato",
    "Schmidt", "Silva", "Singh", "Sorensen", "Suzuki", "Tanaka", "Torres", "Vargas", "Vasquez", "Weber", "Wolff", "Yilmaz", "Zhang",
)  # fmt: skip
CITIES = (
    "Lisbon, Portugal", "Berlin, Germany", "Nairobi, Kenya", "Osaka, Japan", "Toronto, Canada", "Utrecht, Netherlands",
    "Porto Alegre, Brazil", "Pune, India", "Lyon, France", "Gothenburg, Sweden", "Valparaiso, Chile", "Krakow, Poland",
    "Wellington, New Zealand", "Pittsburgh, PA", "Madison, WI", "Accra, Ghana", "Trieste, Italy", "Hanoi, Vietnam",
)  # fmt: skip
JOBS = (
    "Software engineer", "Site reliability engineer", "Front-end developer", "Data engineer", "Technical writer",
    "Research engineer", "Student", "Engineering manager", "Designer", "Security engineer", "Embedded developer",
)  # fmt: skip
COMPANIES = (
    "Tidewater Labs", "Hexfold", "Northlight", "Quarry & Sons", "Blue Finch", "Rivermill", "Self-employed", "Oak Street Bank",
    "University of Leeds", "Lumen Audio", "Stadtwerke", "",
)  # fmt: skip
BIOS = (
    "I like small programs that do one thing.", "Building tools for people who cook.", "Maps, trains and long walks.",
    "Mostly back end, sometimes a front end by accident.", "Maintainer of too many side projects.",
    "I review on Tuesdays and Thursdays.", "Accessibility first.", "Learning one language a year; this year it is Rust.",
    "Ask me about build systems.", "Audio, signal processing and noisy synthesizers.", "Teaching computers to read tables.",
    "Types are documentation.", "Gardener, cyclist, occasional programmer.", "I write the manual first.",
    "Testing everything that does not run away.", "Open data for open cities.", "", "",
)  # fmt: skip
STATUSES = (
    "On vacation until the end of the month", "Heads down, replies may be slow", "Working from home", "Out sick",
    "Studying for exams", "Gone cycling", "Always in for a chat", "On call this week",
)  # fmt: skip


class Group(NamedTuple):
    """A group and what it says about itself."""

    path: str
    name: str
    description: str
    visibility: str = "public"


GROUPS = (
    Group("tidewater-labs", "Tidewater Labs", "Open tools for coastal measurements and forecasts."),
    Group("meadow-ui", "Meadow UI", "An accessible set of interface parts and everything around it."),
    Group("northlight", "Northlight", "Photography software for people who shoot in the dark."),
    Group("open-kitchen", "Open Kitchen", "Recipes, pantries and meal plans as free software."),
    Group("railpath", "Railpath", "Timetables, routing and station data for trains."),
    Group("civic-atlas", "Civic Atlas", "Maps and open data for towns that publish theirs."),
    Group("lumen-audio", "Lumen Audio", "Synthesizers, effects and audio plumbing."),
    Group("hexfold", "Hexfold", "Developer tools: builds, caches and test runners.", "internal"),
)


class Source(NamedTuple):
    """A project: where it lives, what it is written in, and the words its texts are made of."""

    namespace: str  # a group's path, a user name, or "" for any user
    path: str
    language: str
    description: str
    nouns: str
    size: int  # commits, roughly
    visibility: str = "public"


PROJECTS = (
    Source("byteblaze", "dotfiles", "Shell", "My shell, editor and window manager configuration.", "prompt alias theme keymap plugin profile", 120),
    Source("byteblaze", "recipe-cards", "Python", "Turns a folder of plain text recipes into printable cards.", "recipe ingredient serving card unit footnote", 190),
    Source("byteblaze", "tiny-tracker", "JavaScript", "Time tracking in one small page, without an account.", "timer session project report shortcut calendar", 230),
    Source("byteblaze", "byteblaze.dev", "HTML", "Sources of my web site and its blog.", "article feed layout banner footer archive", 110),
    Source("byteblaze", "photo-sorter", "Rust", "Sorts pictures into folders by date, camera and place.", "picture folder camera timestamp duplicate thumbnail", 170),
    Source("byteblaze", "budget-bot", "Python", "A chat bot that keeps a household budget.", "budget expense category receipt reminder currency", 210),
    Source("byteblaze", "trail-notes", "Ruby", "Walking routes with notes, elevation and pictures.", "trail waypoint elevation note marker segment", 140),
    Source("byteblaze", "gift-draw", "Go", "Draws names for a gift exchange and sends the letters.", "participant draw letter wish exclusion deadline", 40, "private"),
    Source("tidewater-labs", "tide-tables", "Python", "Tide predictions from harmonic constants.", "tide station constant datum forecast gauge", 320),
    Source("tidewater-labs", "buoy-relay", "Go", "Receives messages of measuring buoys and passes them on.", "buoy message sensor battery queue position", 240),
    Source("tidewater-labs", "wavebrowser", "JavaScript", "Charts of waves, wind and water levels in the browser.", "chart axis wave wind legend cursor", 210),
    Source("tidewater-labs", "calibration", "Python", "Calibration records of our instruments.", "instrument probe record curve drift certificate", 60, "private"),
    Source("meadow-ui", "components", "JavaScript", "Buttons, dialogs, tables and more, usable with a keyboard.", "button dialog table tooltip menu slider", 420),
    Source("meadow-ui", "tokens", "JavaScript", "Colours, spaces and type sizes as data.", "colour palette space scale contrast shade", 130),
    Source("meadow-ui", "docs-site", "HTML", "The web site with the manual of the components.", "page example sidebar search heading snippet", 160),
    Source("meadow-ui", "linter", "JavaScript", "Finds pages that people with a screen reader cannot use.", "rule attribute landmark report severity fixer", 150),
    Source("northlight", "darkroom", "Rust", "A raw converter with honest noise reduction.", "image noise curve lens histogram preset", 380),
    Source("northlight", "lens-database", "Python", "Distortion and vignetting profiles of lenses.", "lens profile mount aperture distortion sample", 150),
    Source("northlight", "tether", "C", "Controls cameras over USB.", "camera port capture shutter preview driver", 220),
    Source("open-kitchen", "pantry", "Ruby", "Knows what is in the cupboard and what will spoil.", "item shelf barcode expiry quantity shop", 230),
    Source("open-kitchen", "meal-planner", "JavaScript", "Plans a week of meals around what is at home.", "meal week portion diet plan leftover", 260),
    Source("open-kitchen", "nutrition-data", "Python", "Open data about what food contains.", "nutrient food portion source table vitamin", 110),
    Source("railpath", "router", "Rust", "Finds connections through a timetable in milliseconds.", "connection transfer station timetable delay footpath", 400),
    Source("railpath", "timetable-import", "Python", "Reads timetables in a dozen formats.", "timetable calendar feed trip stop platform", 250),
    Source("railpath", "departures", "JavaScript", "A departure board for any screen.", "departure board platform train clock announcement", 160),
    Source("railpath", "station-data", "Python", "Platforms, lifts and entrances of stations.", "station platform lift entrance level path", 100),
    Source("civic-atlas", "mapkit", "JavaScript", "Maps of towns with layers that load fast.", "layer tile marker popup bounds zoom", 310),
    Source("civic-atlas", "permit-watch", "Ruby", "Follows building permits and tells the neighbours.", "permit parcel notice neighbour hearing inbox", 140),
    Source("civic-atlas", "street-trees", "Python", "Every tree of a town with species and age.", "tree species trunk district survey crown", 120),
    Source("civic-atlas", "budget-explorer", "JavaScript", "Shows where the money of a town goes.", "budget department account year chart comparison", 130),
    Source("lumen-audio", "polysynth", "C", "A polyphonic software synthesizer.", "voice oscillator filter envelope patch knob", 340),
    Source("lumen-audio", "reverb", "C", "A reverb with a very long tail.", "room tail mixer delay preset meter", 150),
    Source("lumen-audio", "patchbay", "Rust", "Connects audio programs with each other.", "port cable client session buffer graph", 210),
    Source("lumen-audio", "tuner", "JavaScript", "A guitar tuner for the browser.", "string pitch needle note microphone tuning", 80),
    Source("hexfold", "stonecache", "Go", "A build cache that several machines share.", "cache entry key eviction upload server", 330, "internal"),
    Source("hexfold", "runner", "Go", "Runs tests in parallel and tells which are flaky.", "test shard retry report worker timeout", 290, "internal"),
    Source("hexfold", "graphviz-lite", "Python", "Draws dependency graphs without fuss.", "graph node edge layout rank cluster", 120),
    Source("hexfold", "internal-handbook", "HTML", "How we work.", "chapter policy meeting template glossary review", 90, "internal"),
    Source("", "chess-coach", "Python", "Explains the mistakes of your last games.", "game move opening engine mistake lesson", 160),
    Source("", "seedling", "Ruby", "A garden diary with reminders to water.", "plant bed seed watering harvest season", 90),
    Source("", "markdown-slides", "JavaScript", "Slides out of a Markdown file.", "slide deck theme speaker transition outline", 180),
    Source("", "csv-surgeon", "Python", "Repairs broken CSV files.", "row column delimiter header encoding quote", 150),
    Source("", "palette-thief", "JavaScript", "Takes the colours out of a picture.", "palette colour cluster swatch picture ratio", 70),
    Source("", "nightly-backup", "Go", "Backups that verify themselves.", "backup snapshot archive schedule target checksum", 170),
    Source("", "quiz-master", "Ruby", "Pub quizzes with rounds, teams and buzzers.", "question round team score buzzer host", 100),
    Source("", "tinylog", "Rust", "A logging library with three levels and no macros.", "record level sink format filter span", 130),
    Source("", "ledger-view", "Python", "Reads plain text ledgers and draws reports.", "account posting balance ledger report journal", 140),
    Source("", "bike-counter", "C", "Firmware of a counter for bicycles.", "counter pulse sensor battery radio frame", 90),
    Source("", "podcast-shelf", "JavaScript", "Podcasts with a queue that makes sense.", "episode queue feed chapter player download", 150),
    Source("", "flashcards", "JavaScript", "Learns with you what you forget.", "card deck interval review answer streak", 120),
    Source("", "pixel-loom", "Rust", "Weaving patterns as pixel art.", "pattern thread shaft treadle loom draft", 80),
    Source("", "weather-kiosk", "Python", "A weather display for an old tablet.", "forecast icon screen sensor alert refresh", 110),
    Source("", "font-inspector", "Rust", "Looks into font files.", "glyph table outline kerning script font", 100),
    Source("", "mailroom", "Go", "Sorts incoming letters of a club.", "letter address sender rule folder stamp", 90),
    Source("", "star-atlas", "Python", "The night sky of any place and time.", "star planet horizon catalogue magnitude chart", 130),
    Source("", "regex-tutor", "HTML", "Regular expressions, explained step by step.", "pattern group match exercise hint lesson", 60),
    Source("", "rubber-duck", "Ruby", "A terminal program that listens.", "conversation prompt topic memory reply duck", 50),
    Source("", "queue-lite", "Go", "A job queue on top of a single file.", "job queue worker lease retry payload", 140),
    Source("", "salary-notes", "Python", "Private calculations.", "salary tax bracket month bonus table", 20, "private"),
    Source("", "sketchpad", "JavaScript", "Drawing on a canvas with a pen that feels right.", "stroke canvas pen layer eraser pressure", 110),
    Source("", "home-energy", "Python", "Reads the meters at home and saves power.", "meter reading tariff device schedule phase", 140),
    Source("", "typing-race", "JavaScript", "Race against your former self.", "race text cursor mistake speed ghost", 70),
)  # fmt: skip


# ---------------------------------------------------------------------- programs

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
