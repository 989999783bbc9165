"""The words of `tiny-shop`: pages, wishes and actions of WebShop in few tokens.

A results page of the shop has two hundred words and ten product ids. Here names of things ("acne scars", "navy blue"),
fixed parts of pages and stock phrases of wishes are one token each, an id four pairs of letters behind its beginning,
a price its tens and the rest. Everything else is read word by word, and what is no word in bytes.

Forms of a word that mean the same ("Navy Blue" in a title, "navy blue" in a wish and after a bracket) are different
tokens, because nothing may be lost; `kin` says which belong together, so that a model can begin with them alike.
"""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from itertools import product
from typing import NamedTuple

from agentrl.policies.models.vocabulary import DIGITS

SMALL, LARGE = "0123456789abcdefghijklmnopqrstuvwxyz", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
MOST_RESULTS, MOST_PAGES, MOST_TURNS, LONGEST_HISTORY = 50, 5, 15, 4
ASKED, TITLED = ("attributes", "kinds", "values"), ("titled_attributes", "titled_kinds")
LIMITS = range(10, 1000, 10)
TENS = range(100)

BACK = " [SEP] Back to Search"
TAIL = " [SEP] Rating: N.A. [SEP] Description [SEP] Features [SEP] Reviews [SEP] Buy Now"
RECEIPT = (
    "Thank you for shopping with us! [SEP] Your code: [SEP] None [SEP] Purchased [SEP] asin",
    " [SEP] Your score (min 0.0, max 1.0)",
    " [SEP] Reward Details [SEP] None",
)
ID, CLICK_ID = " [SEP] B0", "click[b0"
_PAIR = "(?<={mark}|{mark}{c}{{2}}|{mark}{c}{{4}}|{mark}{c}{{6}}){c}{{2}}"
# The pieces of an id are its pairs; elsewhere two letters are just two letters.
IDS = (
    r" \[SEP\] B0(?=[0-9A-Z]{8}(?![0-9A-Za-z]))",
    r"click\[b0(?=[0-9a-z]{8}\])",
    _PAIR.format(mark="P\\] B0", c="[0-9A-Z]"),
    _PAIR.format(mark="k\\[b0", c="[0-9a-z]"),
)
# "$134.99": the tens, then "4.99". Limits are multiples of ten, so that the tens decide.
PRICES = (r"(?: \[SEP\])? \$[0-9]{0,2}(?=[0-9]\.[0-9])", r"(?<=[$0-9])[0-9]\.[0-9]{1,2}(?![0-9])")
CAPITALS = r" ?[A-Z]{2,}(?![a-z])"  # "USB" is a word here


@cache
def shop_words() -> dict[str, list[str]]:
    """The lists of the file beside this one, which `scripts/make_shop_words.py` writes."""
    raw = tomllib.loads(files("agentrl.policies.models").joinpath("shop_words.toml").read_text(encoding="utf-8"))
    lists = {name: text.replace("\n", " ").strip().split("; ") for name, text in raw.items() if isinstance(text, str)}
    return {"sentences": raw["sentences"], **lists}


def joints() -> list[str]:
    """Fixed parts of pages, prompts and actions, each one token wherever it occurs."""
    results = [f" (Total results: {count})" for count in range(MOST_RESULTS + 1)]
    pages = [f"{BACK} [SEP] Page {number}" for number in range(1, MOST_PAGES + 1)]
    turns = [f"[{number}] You did: " for number in range(1, MOST_TURNS + 1)]
    story = [f"Your last {n} turns of {m}:\n" for n in range(1, LONGEST_HISTORY + 1) for m in range(n + 1, MOST_TURNS)]
    return [
        *("WebShop [SEP] Instruction: [SEP]", "Instruction: [SEP]", " [SEP] Search", " [SEP]", BACK),
        *(f"{BACK} [SEP] < Prev", " [SEP] < Prev", " [SEP] Next >", " [SEP] Price:", TAIL, *pages, *results),
        *("search[", "click[", "click[buy now]", "click[< prev]", "click[next >]", "click[back to search]", "]"),
        *("click[description]", "click[features]", "Your turns so far:\n", "\nNow:\n", *turns, *story),
        *(f", and price lower than {limit}.00 dollars" for limit in LIMITS),
        *(" is not on this page; there are ", "Nothing was found.", " -", *shop_words()["sentences"], *RECEIPT),
    ]


def asked() -> list[str]:
    """What wishes ask for: these also stand behind a bracket."""
    return [phrase for name in ASKED for phrase in shop_words()[name]]


def phrases() -> list[str]:
    """Names of one or more words behind a space: one token each. What fills a title takes the comma before it along."""
    known = shop_words()
    plain = [f" {phrase}" for name in (*ASKED, *TITLED, "said", "fillers") for phrase in known[name]]
    return [*plain, *(f", {filler}" for filler in known["fillers"]), ", with", ", for"]


def tokens() -> list[str]:
    """Every token but the bytes, in a fixed order."""
    known = shop_words()
    single = [f" {word}" for name in ("makers", "words") for word in known[name]]
    pairs = ["".join(pair) for letters in (LARGE, SMALL) for pair in product(letters, repeat=2)]
    amounts = [f"{before} ${tens or ''}" for before in ("", " [SEP]") for tens in TENS]
    cents = [f"{digit}.{cent}" for digit in DIGITS for cent in (*DIGITS, *(f"{n:02}" for n in range(100)))]
    digits = [f"{space}{digit}" for digit in DIGITS for space in ("", " ")]
    named = [*phrases(), *asked(), *single]
    return list(dict.fromkeys([ID, CLICK_ID, *joints(), *named, *pairs, *amounts, *cents, *digits]))


def pattern() -> str:
    """What to take whole, in order of preference, before the pieces of plain text."""
    behind_bracket = f"(?<=\\[){any_of(asked())}"
    named = f"(?:{any_of(phrases())}|{behind_bracket})(?![A-Za-z0-9])"
    return "|".join([*IDS, *PRICES, any_of(joints()), named, CAPITALS])


def any_of(texts: list[str]) -> str:
    """An expression for the longest of these texts: a tree of letters, since a row of thousands is tried one by one."""
    tree: dict[str, dict] = {}
    for text in texts:
        node = tree
        for letter in text:
            node = node.setdefault(letter, {})
        node[""] = {}
    return _expression(tree)


def _expression(node: dict[str, dict]) -> str:
    branches = [re.escape(letter) + _expression(below) for letter, below in node.items() if letter]
    if not branches:
        return ""
    whole = branches[0] if len(branches) == 1 and "" not in node else f"(?:{'|'.join(branches)})"
    return f"{whole}?" if "" in node else whole


class Kin(NamedTuple):
    """What a token has in common with others."""

    meaning: str  # tokens of one meaning differ in space and capitals only, or are the same amount of tens
    sort: str  # attribute, kind, value, maker ...: how a shopper uses the word
    form: str  # space and capitals


def kin(token: str) -> Kin:
    """Where a token belongs."""
    if found := re.fullmatch(r"(?: \[SEP\])? \$([0-9]*)|, and price lower than ([0-9]+)0\.00 dollars", token):
        return Kin(f"{int(found[1] or found[2] or 0)} tens", "amount", "price" if found[2] is None else "limit")
    if re.fullmatch("[0-9A-Z]{2}|[0-9a-z]{2}", token):
        return Kin(f"id {token.lower()}", "id", "large" if token == token.upper() else "small")
    bare = token.strip(" ,")
    if not bare or not bare[0].isalnum():
        return Kin(token, "", "")
    case = "small" if bare == bare.lower() else "large" if bare == bare.upper() else "title"
    return Kin(bare.lower(), _sorts().get(bare, ""), f"{case}{' after a space' if token[0] == ' ' else ''}")


@cache
def _sorts() -> dict[str, str]:
    """The list that a word stands in; where it stands in several, the one that says most about its use."""
    order = ("makers", "said", "fillers", "titled_attributes", "attributes", "titled_kinds", "kinds", "values")
    return {word: name.removeprefix("titled_") for name in order for word in shop_words()[name]}
