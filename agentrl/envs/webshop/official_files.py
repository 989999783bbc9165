"""The benchmark's own files: JSON of gigabytes, read one element at a time, and what its records say by its rules."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, NoReturn

from agentrl.core.errors import ConfigError
from agentrl.core.files import open_regular
from agentrl.envs.common.catalogue.product import NO_ATTRIBUTES, NO_PRICE, Product, price_within
from agentrl.envs.webshop.goals import price_clause, price_limit

CHUNK = 1 << 20  # bytes
MAX_ELEMENT = 1 << 26  # characters: beyond this an element is broken rather than long
_SPACE = " \t\r\n"
_AFTER_A_VALUE = frozenset(_SPACE + ",:]}")


class JsonStream:
    """The elements of a top-level array, or the members of a top-level object, in order and without keeping them.

    `digest` is the SHA-256 of what was read; after the last element it is that of the whole file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._decoder = json.JSONDecoder(parse_constant=lambda _: None)  # NaN and Infinity are no JSON: missing
        self._text, self._at, self._passed, self._ended = "", 0, 0, False
        self._hash = hashlib.sha256()
        self._leftover = b""

    @property
    def digest(self) -> str:
        """The SHA-256 of the bytes read so far, in hexadecimal."""
        return self._hash.hexdigest()

    def elements(self) -> Iterator[Any]:
        """The elements of an array; a `ConfigError` that names file and place where it is broken."""
        with self._opened() as file:
            for _ in self._between(file, "[", "]"):
                yield self._value(file)

    def members(self) -> Iterator[tuple[str, Any]]:
        """The (key, value) pairs of an object."""
        with self._opened() as file:
            for _ in self._between(file, "{", "}"):
                key = self._value(file)
                if not isinstance(key, str) or self._peek(file) != ":":
                    self._broken("a key and a colon were expected")
                self._at += 1
                yield key, self._value(file)

    def _opened(self) -> BinaryIO:
        try:
            return open_regular(self._path)
        except OSError as error:
            raise ConfigError(f"cannot read {self._path}: {error.strerror}") from None

    def _between(self, file: BinaryIO, opening: str, closing: str) -> Iterator[None]:
        """Yields before each element; sees to brackets, commas and the end."""
        if self._peek(file) != opening:
            self._broken(f"{opening!r} was expected")
        self._at += 1
        if self._peek(file) != closing:
            yield
            while self._peek(file) == ",":
                self._at += 1
                yield
        if self._peek(file) != closing:
            self._broken(f"a comma or {closing!r} was expected")
        self._at += 1
        if self._peek(file):
            self._broken("nothing more was expected")

    def _peek(self, file: BinaryIO) -> str:
        """The next character that is not space, left where it is; nothing at the end of the file."""
        while True:
            while self._at < len(self._text):
                if self._text[self._at] not in _SPACE:
                    return self._text[self._at]
                self._at += 1
            if not self._more(file, CHUNK):
                return ""

    def _value(self, file: BinaryIO) -> Any:
        self._peek(file)
        size = CHUNK
        while True:
            why = "it goes on without end"
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
                if self._ended or self._text[end : end + 1] in _AFTER_A_VALUE:  # else a number may go on: 1 | .5
                    self._at = end
                    return value
            except RecursionError:
                self._broken("it is nested too deeply")
            except ValueError as error:
                why = str(error).partition(":")[0]
                if self._ended:
                    self._broken(why)
            if len(self._text) - self._at > MAX_ELEMENT:
                self._broken(why)
            self._more(file, size)
            size *= 2  # an element of n characters is tried log(n) times

    def _more(self, file: BinaryIO, size: int) -> bool:
        """Read on, forgetting what has been used; False at the end of the file."""
        raw = file.read(size)
        self._hash.update(raw)
        raw = self._leftover + raw
        self._ended = not raw or len(raw) == len(self._leftover)
        try:
            self._leftover, text = b"", raw.decode("utf-8")
        except UnicodeDecodeError as error:  # the start of a character that is cut off waits for the next piece
            if self._ended or error.start < len(raw) - 3:
                self._broken("it is not UTF-8")
            self._leftover, text = raw[error.start :], raw[: error.start].decode("utf-8")
        if self._passed == 0 and self._at == 0 and not self._text:
            text = text.removeprefix("\ufeff")
        self._passed += self._at
        self._text, self._at = self._text[self._at :] + text, 0
        return not self._ended

    def _broken(self, why: str) -> NoReturn:
        raise ConfigError(f"{self._path} is broken near character {self._passed + self._at}: {why}")


# ---------------------------------------------------------------------- records

MAX_ASIN = 10
MAX_COMBINATIONS = 10_000  # of one product's options: more can only be a mistake, and would never end
_NOT_A_NUMBER = re.compile(r"[^\d.]")


class Skipped(Exception):
    """A record that cannot be used; the message is the reason to count it under."""


class RawGoal(NamedTuple):
    """What a goal adds to its product."""

    instruction: str
    attributes: tuple[str, ...]
    options: tuple[str | tuple[str, str], ...]
    price_upper: float


def read_product(row: Any, annotation: Any, seed: int) -> Product:
    """The product in one element of `items_shuffle*.json`, with its entry of `items_ins_v2*.json`."""
    if not isinstance(row, dict):
        raise Skipped("not an object")
    asin = _required(row, "asin")
    if not asin or asin == "nan" or len(asin) > MAX_ASIN:
        raise Skipped("unusable asin")
    pricing = read_pricing(row.get("pricing"))
    images = row.get("images")
    listed = annotation.get("attributes") if isinstance(annotation, dict) else None
    return Product(
        asin=asin,
        title=_required(row, "name"),
        description=clean(row.get("full_description")),
        bullets=_texts(row.get("small_description")),
        category=_required(row, "category"),
        category_path=_required(row, "product_category"),
        query=_required(row, "query").lower().strip(),
        pricing=pricing,
        price=price_within(pricing, seed, asin),
        options=read_options(row.get("customization_options")),
        attributes=_texts(listed) if isinstance(listed, list) else NO_ATTRIBUTES,
        image=next(iter(_texts(images)), "") if isinstance(images, list) else "",
    )


def read_pricing(text: Any) -> tuple[float, ...]:
    """ "$12.99" or "$19.99$27.99"; what is missing or unreadable costs 100 dollars, as in the benchmark."""
    if not isinstance(text, str) or not text:
        return NO_PRICE
    try:
        amounts = tuple(float(_NOT_A_NUMBER.sub("", part)) for part in text.split("$")[1:3])
    except ValueError:
        return NO_PRICE
    return amounts if amounts and all(math.isfinite(amount) for amount in amounts) else NO_PRICE


def read_options(entry: Any) -> dict[str, tuple[str, ...]]:
    """{name: values}, in lower case, with " | " for "/"; an option without a list is left out."""
    if not isinstance(entry, dict):
        return {}
    options: dict[str, tuple[str, ...]] = {}
    for name, choices in entry.items():
        if isinstance(choices, list):
            values = (choice.get("value") for choice in choices if isinstance(choice, dict))
            options[clean(name).lower()] = tuple(
                clean(value).strip().replace("/", " | ").lower() for value in values if isinstance(value, str)
            )
    return options


def human_goals(product: Product, entry: Any, seed: int) -> Iterator[RawGoal | Skipped]:
    """The goals that people wrote for a product, from its entry of `items_human_ins.json`."""
    limit = price_limit(product.price, seed, product.asin)
    for wish in entry if isinstance(entry, list) else ():
        if not isinstance(wish, dict) or not isinstance(wish.get("instruction"), str):
            yield Skipped("goal without instruction")
        elif not (attributes := _texts(wish.get("instruction_attributes"))):
            yield Skipped("goal without attributes")
        else:
            text = clean(wish["instruction"]).strip(".") + price_clause(limit)
            options = wish.get("instruction_options")  # values, or {name: value}, which the reward reads as pairs
            if isinstance(options, dict):
                chosen = tuple((clean(name), clean(value)) for name, value in options.items() if isinstance(value, str))
            else:
                chosen = _texts(options) if isinstance(options, list) else ()
            yield RawGoal(text, attributes, chosen, limit)


def synthetic_goals(product: Product, annotation: Any, seed: int) -> Iterator[RawGoal | Skipped]:
    """One goal for each combination of a product's options, where its annotation holds an instruction."""
    instruction = annotation.get("instruction") if isinstance(annotation, dict) else None
    if not isinstance(instruction, str):
        return
    attributes = _texts(annotation.get("instruction_attributes"))
    names = sorted(product.options)
    if not attributes:
        yield Skipped("goal without attributes")
    elif math.prod(len(product.options[name]) for name in names) > MAX_COMBINATIONS:
        yield Skipped("too many combinations of options")
    else:
        limit = price_limit(product.price, seed, product.asin)
        for values in itertools.product(*(product.options[name] for name in names)):
            options = tuple(zip(names, values, strict=True))
            chosen = ", and ".join(f"{name}: {value}" for name, value in options)
            text = clean(instruction) + (f" with {chosen}" if chosen else "") + price_clause(limit)
            yield RawGoal(text, attributes, options, limit)


def clean(text: Any) -> str:
    """A text that can be stored: half a surrogate pair, which JSON can spell, becomes a replacement character."""
    if not isinstance(text, str):
        return ""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _required(row: dict[str, Any], key: str) -> str:
    """A text that has to be there; it may be empty, as a name and some categories of the benchmark's products are."""
    if not isinstance(value := row.get(key), str):
        raise Skipped(f"no {key}")
    return clean(value)


def _texts(value: Any) -> tuple[str, ...]:
    """A list of texts, or one text alone; anything else in it is left out."""
    items = value if isinstance(value, list) else [value]
    return tuple(clean(item) for item in items if isinstance(item, str))


def clean_all(value: Any) -> Any:
    """`clean` for every text in a value out of JSON; numbers that only Python can write become nothing."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [clean_all(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): clean_all(item) for key, item in value.items()}
    return value if value is None or isinstance(value, bool) or abs(value) < 1 << 53 else None
