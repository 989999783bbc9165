"""Attribute values and declarations, one check for each kind of value.

Each check returns the value as it will be written, or refuses it. References are written anew, in one form only, so
that the renderer cannot read another target out of them than the one that was checked.
"""

from __future__ import annotations

import re
from typing import NoReturn

from agentrl.envs.svg.sandbox.refusal import Limits, SvgRefused
from agentrl.envs.svg.sandbox.vocabulary import ATTRIBUTES

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
# Most values: a word or a number of few digits. Anything else takes the long way.
ORDINARY = re.compile(r"-?(?:\d{1,6}(?:\.\d*)?|\.\d+)(?:px|%)?|[a-hj-mo-zA-HJ-MO-Z][a-zA-Z-]{0,30}|none", re.ASCII)
# Where a number could hide that is too large or none at all.
SUSPECT = re.compile(r"(?<![\d.])\d{7,}|[eE]\+?\d|[nN][aA][nN]|[iI][nN][fF]|_", re.ASCII)
NOT_FINITE = re.compile(r"(?<![a-z])(?:nan|inf|infinity)(?![a-z])|\d_\d", re.I | re.ASCII)
SHARE = re.compile(r"\s*(\d{1,9}(?:\.\d{0,9})?)%\s*", re.ASCII)
GLANCE = 1e6  # the limit that the two patterns above are made for
HASH_WORD = re.compile(r"#[\w-]+")
PLAIN = re.compile(r"[\w#%.,()+\-/*!\s]*", re.ASCII)
GEOMETRY = re.compile(r"[MmZzLlHhVvCcSsQqTtAa0-9eE+\-.,\s]*", re.ASCII)
FONT = re.compile(r"(?:[\w .,/%+-]|\"[\w .-]*\"|'[\w .-]*')*")
NAME = re.compile(r"[^\"\\<>\x00-\x1f]*")
FRAGMENT = re.compile(r"\s*#([^\s\"'()\\<>#]+)\s*")
URL = re.compile(r"\s*url\(\s*([\"']?)#([^\s\"'()\\<>#]+)\1\s*\)\s*([\w#%.,()+\-/\s]*)", re.I | re.ASCII)


def checked_value(name: str, value: str, limits: Limits) -> str:
    """The value of an allowed attribute or property as it may be written; refused if it may not."""
    kind = ATTRIBUTES[name]
    if kind == "geometry":
        return _geometry(name, value, limits)
    if len(value) > limits.value:
        raise SvgRefused("attribute", f"{name} has {len(value)} characters, at most {limits.value} are allowed")
    if kind == "plain":
        return _plain(name, value, limits)
    if kind in ("paint", "target"):
        return _reference_or_plain(name, value, limits)
    return _font(name, value, limits) if kind == "font" else _name(name, value)


def target_of(value: str) -> str | None:
    """The id that a checked value refers to, if it is a reference."""
    return value[5 : value.index(")")] if value.startswith("url(#") else None


def checked_href(value: str) -> str:
    """The id that an href names; only the document itself can be referred to."""
    found = FRAGMENT.fullmatch(value)
    if not found:
        raise SvgRefused("reference", f"href may only be #id of this drawing, not {value[:60]!a}")
    return found[1]


def _plain(name: str, value: str, limits: Limits) -> str:
    if name.endswith("opacity") and (share := SHARE.fullmatch(value)):
        value = f"{float(share[1]) / 100:g}"  # models write 50%, which the renderer does not read
    if limits.number >= GLANCE and ORDINARY.fullmatch(value):
        return _bounded_font(name, value, limits)
    if not PLAIN.fullmatch(value):
        _complain(name, value)
    _no_url(name, value)
    refuse_wild_numbers(name, value, limits.number)
    return _bounded_font(name, value, limits)


def _bounded_font(name: str, value: str, limits: Limits) -> str:
    if name == "font-size":
        refuse_wild_numbers(name, value, limits.font_size)
    return value


def _geometry(name: str, value: str, limits: Limits) -> str:
    if not GEOMETRY.fullmatch(value):
        raise SvgRefused("attribute", f"{name} holds more than letters of path commands and numbers: {value[:60]!a}")
    refuse_wild_numbers(name, value, limits.number)
    return value


def _reference_or_plain(name: str, value: str, limits: Limits) -> str:
    if "(" not in value:
        return _plain(name, value, limits)
    found = URL.fullmatch(value)
    if found is None:
        return _plain(name, value, limits)
    _, target, fallback = found.groups()
    written = f"url(#{target})"
    return f"{written} {_plain(name, fallback.strip(), limits)}" if fallback.strip() else written


def _no_url(name: str, value: str) -> None:
    if "url" in value.lower():
        raise SvgRefused("reference", f"{name} may only refer to url(#id) of this drawing, not {value[:60]!a}")


def _font(name: str, value: str, limits: Limits) -> str:
    if not FONT.fullmatch(value):
        _complain(name, value)
    if name == "font":
        refuse_wild_numbers(name, value, limits.font_size)
    return value


def _name(name: str, value: str) -> str:
    if not NAME.fullmatch(value):
        _complain(name, value)
    return value


def _complain(name: str, value: str) -> NoReturn:
    if re.search(r"url\s*\(|://|data:", value, re.I):
        raise SvgRefused("reference", f"{name} refers to something outside of this drawing: {value[:60]!a}")
    raise SvgRefused("attribute", f"{name} cannot be {value[:60]!a}")


def refuse_wild_numbers(name: str, value: str, largest: float) -> None:
    """Refuse NaN, infinity and everything above `largest`; a glance is enough for most values."""
    text = HASH_WORD.sub(" ", value) if "#" in value else value  # colours such as #1e9999 are no numbers
    if largest >= GLANCE and not SUSPECT.search(text):
        return
    if NOT_FINITE.search(text):
        raise SvgRefused("number", f"{name} must hold finite numbers, not {value[:60]!a}")
    for number in NUMBER.findall(text):
        if abs(float(number)) > largest:
            raise SvgRefused("number", f"{name} holds {number[:30]}; at most {largest:g} is allowed")
