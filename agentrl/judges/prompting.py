"""Prompts as files, and hostile text as data inside them.

A prompt is `<name>/<purpose>.<protocol>.txt`, where the name is the beginning of an environment's name, in lower case:
a header (`version: 1`), the system message and the user message, separated by lines of `---`. It is looked up in the
user's folder, in the folder `prompts` beside the environment's module, and in the general ones here. Values are filled
in where `$name` stands; a value is never read for `$` itself.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from agentrl.core.env_class import env_folder
from agentrl.core.errors import ConfigError

FOLDER = Path(__file__).with_name("prompts")
FALLBACK = "general"
CUT = " [cut]"
MAX_MARKS = 30  # accents on one letter, as in Unicode's stream-safe format: sorting a long run takes quadratic time
MAX_PASSES = 8  # in search of markers inside markers

# What could pass for the frame of the conversation rather than its content. No alternative may read a run of characters
# more than once from each of its places (hence the look-behind and the possessive `+`): the text is hostile.
_MARKERS = re.compile(
    r"""
      <\|[^|<>\n]{0,60}\|?>                        # <|im_start|>, <|eot_id|> and their relatives
    | \[/?\s*(?:INST|SYS|AVAILABLE_TOOLS|TOOL_CALLS|SYSTEM_PROMPT)\s*\]
    | <<\s*/?\s*SYS\s*>>
    | </?\s*(?:s|bos|eos|pad|unk|system|user|assistant|developer|human|tool|think|thinking|answer|verdict|instructions?
        |start_of_turn|end_of_turn|text|facts)\s*/?>
    | ^[ \t>*\#_-]*(?:system|assistant|user|human|developer|tool|judge|instructions?)(?:[ \t]+message)?[ \t*_]*:
    | ^[ \t]*\#{1,6}[ \t]*(?:system|assistant|user|human|instructions?|response)\b[ \t]*:?
    | (?<![-=~])[-=~]{3,}+[ \t]*(?:begin|end|start|stop)\b[^\n]{0,80}?(?:[-=~]{3,}|$)   # lines that look like our fence
    | -{5,}
    """,
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_MARKER_PARTS = re.compile(r"[<>\[\]:#]|[-=~]{3,}")  # every marker has one of these


class Prompt(NamedTuple):
    """A template with its name and version."""

    name: str
    version: str
    system: str
    user: str


class Filled(NamedTuple):
    """What is sent, the code the reply must repeat, and the text that stands for the question in cache keys."""

    messages: list[dict[str, str]]
    code: str
    identity: str


def env_name(env_id: str) -> str:
    """ "agentrl/Kitchen-Visual-v0" -> "kitchen"."""
    name = re.match(r"[A-Za-z0-9]*", env_id.rpartition("/")[2])
    return name.group().lower() if name else ""


def find_prompt(env_id: str, purpose: str, protocol: str, folder: Path | None = None) -> Prompt:
    """The prompt of an environment, or else the general one; the user's `folder` is looked into first."""
    beside = env_folder(env_id)
    places = [place for place in (folder, beside and beside / "prompts", FOLDER) if place is not None]
    # Folders whose name the environment's name begins with, the closest first: from the disk, never from a request.
    known = {entry.name for place in places if place.is_dir() for entry in place.iterdir() if entry.is_dir()}
    env = env_name(env_id)
    fitting = sorted((name for name in known if name != FALLBACK and env.startswith(name)), key=len, reverse=True)
    for name in (*fitting, FALLBACK):
        for place in places:
            if (path := place / name / f"{purpose}.{protocol}.txt").is_file():
                return read_prompt(path)
    raise ConfigError(f"there is no {protocol!r} prompt for {purpose!r} of {env_id or 'this environment'!r}")


@lru_cache(maxsize=256)
def read_prompt(path: Path) -> Prompt:
    """A prompt file; `ConfigError` when it has not the three parts or no version."""
    parts = re.split(r"^---\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    header = re.fullmatch(r"version: (\S+)\s*", parts[0])
    if len(parts) != 3 or header is None:
        raise ConfigError(f"{path.name}: a prompt is 'version: N', ---, system message, ---, user message")
    return Prompt(f"{path.parent.name}/{path.stem}", header[1], parts[1].strip(), parts[2].strip())


def fill(prompt: Prompt, values: Mapping[str, str], fence: str | None = None) -> Filled:
    """The messages for values that are clean already, inside a fence that is new in every call unless given."""
    given, code = fence, secrets.token_hex(4)
    fence = given or secrets.token_hex(16)
    while any(fence in value or code in value for value in values.values()):  # one chance in 2**32 a time
        fence, code = given or secrets.token_hex(16), secrets.token_hex(4)
    identity = json.dumps([prompt.name, prompt.version, *_substitute(prompt, values, "FENCE", "CODE")])
    system, user = _substitute(prompt, values, fence, code)
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return Filled(messages, code, identity)


def _substitute(prompt: Prompt, values: Mapping[str, str], fence: str, code: str) -> tuple[str, str]:
    everything = {**values, "fence": fence, "code": code}
    try:
        return Template(prompt.system).substitute(everything), Template(prompt.user).substitute(everything)
    except (KeyError, ValueError) as error:
        raise ConfigError(f"prompt {prompt.name} cannot be filled in: {error!r}") from None


def digest(*parts: Any) -> str:
    """A key of the cache: the hash of plain JSON values."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def clean(text: str, cap: int) -> str:
    """Text of the policy as harmless data: no control or invisible characters, no role markers, at most `cap` long.

    The work grows linearly with `cap`, whatever the text.
    """
    cut, text = len(text) > 4 * cap, text[: 4 * cap]  # the rest of an endless text is not even read
    text = re.sub(r"\r\n?|[\u2028\u2029\x85\v\f]", "\n", text)
    kept, marks = [], 0
    for each in text:  # the visible characters, with at most `MAX_MARKS` accents on one letter
        category = unicodedata.category(each)[0]
        if category == "C" and each not in "\n\t":
            continue
        marks = marks + 1 if category == "M" else 0
        if marks <= MAX_MARKS:
            kept.append(each)
    text = unicodedata.normalize("NFKC", "".join(kept))  # full-width and stylised letters must not hide a marker
    text = re.sub(r"[^\S\n\t]", " ", text).strip()
    if not cut and len(text) <= cap:
        return _without_markers(text)
    # Cut first: the end of a text may complete a marker.
    return (_without_markers(text[: cap - len(CUT)]) + CUT).lstrip()


def _without_markers(text: str) -> str:
    """Taking one marker out may complete another; text that goes on doing so loses all that markers are made of."""
    for _ in range(MAX_PASSES):
        before, text = text, _MARKERS.sub(" ", text).strip()
        if before == text:
            return text
    return _MARKER_PARTS.sub(" ", text).strip()


def tail(text: str, cap: int) -> str:
    """The end of a long text: of a history the newest part matters."""
    return text if len(text) <= cap else text[len(text) - cap :]
