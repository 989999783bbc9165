"""Secrets stay out of everything that is written: logs, faults, caches, trajectories.

Code that reads a secret calls `protect` on it; code that writes text calls `redact` on it. Other keys are
caught by their usual shapes, as far as that goes.
"""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Iterable
from html import escape
from typing import Any
from urllib.parse import quote

MASK = "[redacted]"
SHORTEST = 6  # shorter secrets ("EMPTY", "none") are placeholders; masking them would garble ordinary text
_SHAPES = re.compile(
    r"""
      (?i:(?<=\bbearer\ ))[\w.~+/=-]{8,}
    | \b(?i:sk|pk|hf|gsk|r8|gh[opsur]|github_pat|glpat|xox[abp])[-_][\w-]{12,}
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b | \bAIza[\w-]{35}
    | \beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}   # a JSON web token
    | (?<=://)[^\s/@:]{1,200}:[^\s/@]{1,200}(?=@)   # the user and password of a URL
    | (?i:(?<=[?&]key=)|(?<=[?&]token=)|(?<=[?&]api_key=)|(?<=[?&]apikey=)|(?<=[?&]api-key=))[^\s&#"']{6,}
    """,
    re.VERBOSE,
)
# What every shape contains, in small letters: looking for these takes a tenth of the time that the shapes take.
_PREFIXES = ("sk", "pk", "hf", "r8", "gho", "ghp", "ghs", "ghu", "ghr", "github_pat", "glpat", "xoxa", "xoxb", "xoxp")
_HINTS = (
    *("bearer ", "akia", "asia", "aiza", "eyj", "://", "key=", "token="),
    *(prefix + dash for prefix in _PREFIXES for dash in "-_"),
)
_guard = threading.Lock()
_secrets: frozenset[str] = frozenset()


def protect(secret: str) -> None:
    """Remember a secret for the life of this process, in the spellings it may be written in."""
    global _secrets
    secret = secret.strip()
    if len(secret) < SHORTEST:
        return
    with _guard:
        _secrets |= spellings(secret)


def spellings(secret: str) -> set[str]:
    """How a secret may be written: plainly, in a URL, in Python, in JSON, in HTML."""
    in_json = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    return {secret, quote(secret, safe=""), repr(secret)[1:-1], escape(secret), *in_json}


def redact(value: Any) -> Any:
    """The same value without secrets: text, or JSON-like containers of text; other things are returned as they are."""
    if isinstance(value, str):
        for secret in sorted(_secrets, key=len, reverse=True):  # a longer one may contain a shorter one
            value = value.replace(secret, MASK)
        folded = value.casefold()
        return _SHAPES.sub(MASK, value) if any(hint in folded for hint in _HINTS) else value
    if isinstance(value, dict):
        return {redact(key): redact(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(redact, value)) if type(value) in (list, tuple) else [redact(item) for item in value]
    return value


class RedactingFilter(logging.Filter):
    """Masks secrets in the records of a logger, with the arguments already filled in."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always True: records are cleaned, not dropped."""
        try:
            message = record.getMessage()
        except Exception:  # a record that cannot be formatted is the logging module's to report
            return True
        clean = redact(message)
        if clean != message:
            record.msg, record.args = clean, ()
        return True


def guard_loggers(names: Iterable[str]) -> None:
    """Put the filter on these loggers, once. (A filter does not pass down to child loggers: name each.)"""
    for name in names:
        logger = logging.getLogger(name)
        if not any(isinstance(known, RedactingFilter) for known in logger.filters):
            logger.addFilter(RedactingFilter())
