"""Compact text has at most 800 tokens by SmolLM2's own tokenizer, and does not leave much of them unused."""

from __future__ import annotations

import random
import string
from functools import cache
from typing import Any

import pytest

from agentrl.core.errors import MissingExtra
from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.observing.compact import MAX_TOKENS, compact_text, token_bound
from agentrl.envs.webarena.sites.places import PLACES, cookies
from agentrl.envs.webarena.sites.world import World
from agentrl.models.smollm2 import packed_file
from tests.envs.webarena.web_views import view_of


@pytest.fixture(autouse=True)
def needs_the_tokenizer(request: pytest.FixtureRequest) -> None:
    """Where it is missing, tests are left out; `make test` refuses."""
    try:
        tokenizer()
    except (MissingExtra, ImportError):
        (pytest.fail if request.config.getoption("--require-all") else pytest.skip)("needs the extra smollm2")


@cache
def tokenizer() -> Any:
    """SmolLM2's tokenizer, out of the package that carries the model; reading the model itself would take long."""
    import gguf
    from tokenizers import Tokenizer, models, pre_tokenizers

    fields = gguf.GGUFReader(packed_file()).fields
    words, merges = (fields[f"tokenizer.ggml.{name}"].contents() for name in ("tokens", "merges"))
    pairs = [tuple(merge.split(" ")) for merge in merges]
    made = Tokenizer(models.BPE({word: place for place, word in enumerate(words)}, pairs))
    digits, bytes_ = pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.pre_tokenizer = pre_tokenizers.Sequence([digits, bytes_])
    return made


def tokens(text: str) -> int:
    return len(tokenizer().encode(text).ids)


ENGLISH = (
    "The chair arrived on Monday, and my sister put it together in ten minutes. Its seat is wider than I expected from "
    "the photographs; the arms could be softer. For this price (39.99 dollars) nobody should complain. I would buy it "
    "again, perhaps in green. Delivery to Pittsburgh took six days, order 000000189 of 2025-06-16."
)
ALPHABETS = {
    "letters": string.ascii_lowercase,
    "consonants": "bcdfghjklmnpqrstvwxz",
    "capitals": string.ascii_uppercase,
    "mixed": string.ascii_letters,
    "signs": string.punctuation,
    "printable": string.printable[:94],
    "digits": string.digits,
    "accents": "éüñçßåøœ",
    "cyrillic": "абвгдежзиклмнопрст",
    "han": "".join(map(chr, range(0x4E00, 0x4F00))),
    "emoji": "".join(map(chr, range(0x1F600, 0x1F640))),
}


def nonsense(name: str, words: int, seed: int = 0) -> str:
    rng = random.Random(f"{name} {seed}")

    def word() -> str:
        if name == "syllables":  # words that could be names
            return "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(rng.randint(1, 5)))
        return "".join(rng.choice(ALPHABETS[name]) for _ in range(rng.randint(1, 11)))

    return " ".join(word() for _ in range(words))


@pytest.mark.parametrize("name", [*ALPHABETS, "syllables"])
def test_the_estimate_is_not_too_low_for_nonsense(name):
    text = nonsense(name, 400)
    assert tokens(text) <= token_bound(text)


def test_the_estimate_is_close_for_english():
    assert 1 <= token_bound(ENGLISH) / tokens(ENGLISH) < 1.4


@pytest.mark.parametrize("name", [*ALPHABETS, "syllables", "english"])
def test_crowded_pages_fit(name):
    def text(number: int) -> str:
        return ENGLISH[number % 60 :] if name == "english" else nonsense(name, 12, number)

    parts = "".join(
        f"<p></p><a act href='/{number}'></a><select act live=''><option></option><option></option></select>"
        for number in range(60)
    )
    view = view_of(f"<html><body><nav>{parts}</nav><main>{parts}</main></body></html>", title=text(0), height=2_000)
    for number, element in enumerate(view.root.iter("p", "a", "option")):
        element.text = text(number)
    shown = compact_text(view, header=True)
    assert tokens(shown) <= MAX_TOKENS
    assert tokens(shown) > (MAX_TOKENS // 2 if name == "english" else 250)


PAGES = {
    "shopping": ["/", "/catalogsearch/result/?q=chair", "/sales/order/history/"],
    "shopping_admin": ["/dashboard", "/sales/order/"],
    "reddit": ["/", "/f/books"],
    "gitlab": ["/", "/byteblaze/dotfiles", "/dashboard/issues?assignee_username=byteblaze"],
    "map": ["/", "/search?query=coffee"],
}


@pytest.mark.parametrize("site", PAGES)
def test_pages_of_the_sites_fit_with_all_their_elements(site):
    backend = DomBackend(World())
    for path in PAGES[site]:
        backend.start([PLACES[site].url + path], cookies((site,)))
        view = backend.view()
        assert view.status == 200
        text = compact_text(view)
        assert tokens(text) <= MAX_TOKENS
        assert all(f"[{number}] " in text for number in range(len(view.labels)))
