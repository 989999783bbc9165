"""The model that reads the shop: its words are the shop's, ids can be copied, kin begin alike, nothing is lost."""

from __future__ import annotations

import re
import runpy
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoModelForCausalLM

from agentrl.envs.webshop.catalogue.words import words
from agentrl.envs.webshop.env import WebShopEnv
from agentrl.policies.models import resolve_model
from agentrl.policies.models.shop_vocabulary import any_of, kin, shop_words
from agentrl.policies.models.tokenizer import build_shop_tokenizer, spell

TOKENIZER = build_shop_tokenizer()
ROOT = Path(__file__).resolve().parents[2]
PRODUCT_ID = re.compile(r"B0[0-9A-Z]{8}")


def ids(text):
    return TOKENIZER(text)["input_ids"]


def pieces(text):
    return [TOKENIZER.decode([index]) for index in ids(text)]


def pages():
    """Every goal of a small shop: its pages on the way to the purchase, and all that is said of the product."""
    for split in ("train", "dev", "test"):
        env = WebShopEnv(catalogue_size=1_000, split=split)
        for task in env.tasks():
            observation, _ = env.reset(options={"task": task})
            yield env, "search", observation["text"]
            while (action := env.oracle()) is not None:
                if action == "click[buy now]":
                    for page in ("description", "features"):
                        yield env, page, env.step(f"click[{page}]")[0]["text"]
                        env.step("click[< prev]")
                observation = env.step(action)[0]
                yield env, env.state().page, observation["text"]


@pytest.fixture(scope="module")
def shown():
    """(page, text) of all goals: 120 in a shop of 1,000 products."""
    return [(page, text) for _, page, text in pages()]


def test_nearly_every_word_of_the_pages_is_one_token(shown):
    broken, count = Counter(), 0
    for _, text in shown:
        taken = TOKENIZER(text, return_offsets_mapping=True)["offset_mapping"]
        product_ids = {place for found in PRODUCT_ID.finditer(text) for place in range(*found.span())}
        for word in re.finditer("[A-Za-z]+", text):
            if word.start() not in product_ids:
                count += 1
                whole = any(start <= word.start() and word.end() <= end for start, end in taken)
                broken[word[0]] += not whole
    assert count > 50_000
    assert broken.total() <= 0.01 * count, broken.most_common(20)


def test_every_page_comes_back_from_its_tokens(shown):
    assert all(TOKENIZER.decode(ids(text)) == text for _, text in shown)


def test_pages_are_short(shown):
    sizes = {page: [len(ids(text)) for kind, text in shown if kind == page] for page in ("search", "results", "item")}
    assert max(sizes["search"]) <= 30
    assert sum(sizes["results"]) / len(sizes["results"]) <= 200 and max(sizes["results"]) <= 240
    assert sum(sizes["item"]) / len(sizes["item"]) <= 60
    assert len(ids(WebShopEnv(catalogue_size=1_000).system_prompt)) <= 20


@given(st.text())
def test_any_text_comes_back(text):
    assert TOKENIZER.decode(ids(text)) == text


PARTS = ["click[", "b0", "ab12cd34", "]", " [SEP]", " B0", "AB12CD34", " $", "134.99", " navy blue", "Navy", "USB", "é"]


@given(st.lists(st.sampled_from([*PARTS, " ", "\n", ",", "search[", "acne scars", "<|im_end|>", "10", ".5"])))
def test_any_mixture_of_shop_pieces_comes_back(parts):
    text = "".join(parts)
    assert TOKENIZER.decode(ids(text)) == text


def test_a_product_is_clicked_by_the_pairs_that_stand_on_the_page():
    page = pieces("Next > [SEP] B0JQ7ZK2X9 [SEP] Zeldora")
    click = pieces("click[b0jq7zk2x9]")
    assert page[-7:-1] == [" [SEP] B0", "JQ", "7Z", "K2", "X9", " [SEP]"]
    assert click == ["click[b0", "jq", "7z", "k2", "x9", "]"]
    assert [kin(piece)[0] for piece in page[-6:-2]] == [kin(piece)[0] for piece in click[1:-1]]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("search[acne scars face cleanser navy blue]", ["search[", "acne scars", " face cleanser", " navy blue", "]"]),
        ("click[28w x 30l]", ["click[", "28w x 30l", "]"]),
        (" [SEP] $134.99 to $8.0", [" [SEP] $13", "4.99", " to", " $", "8.0"]),
        ("click[buy now]", ["click[buy now]"]),
        (" navy bluebird", [" navy", *" bluebird"]),  # the beginning of another word is no phrase
    ],
)
def test_names_and_prices_are_taken_whole(text, wanted):
    assert pieces(text) == wanted


def test_forms_of_a_word_are_kin_and_strangers_are_not():
    assert kin(" Acne Scars")[0] == kin("acne scars")[0] == kin(" acne scars")[0]
    assert kin(" Acne Scars").form != kin(" acne scars").form != kin("acne scars").form
    assert kin(", and price lower than 130.00 dollars")[0] == kin(" $13")[0] == kin(" [SEP] $13")[0]
    assert kin(" [SEP]")[0] != kin(" [SEP] Next >")[0]
    sorts = {kin(token).sort for token in (" Acne Scars", " acne scars", "acne scars")}
    assert sorts == {"attributes"} and kin(" navy blue").sort == "values" and kin(" Face Cleanser").sort == "kinds"
    assert kin("IN").sort == "id" and kin("IN").meaning == kin("in").meaning != kin(" in").meaning


def test_kin_begin_alike_and_amounts_like_their_neighbours():
    model = AutoModelForCausalLM.from_pretrained(resolve_model("tiny-shop"))
    vectors = model.get_input_embeddings().weight.detach()

    def likeness(one, other):
        first, second = (TOKENIZER.convert_tokens_to_ids(spell(text)) for text in (one, other))
        return float(vectors[first] @ vectors[second] / vectors[first].norm() / vectors[second].norm())

    assert likeness(" Acne Scars", " acne scars") > 0.6 > likeness(" acne scars", " dry skin")
    assert likeness(" $13", ", and price lower than 140.00 dollars") > 0.4 > likeness(" $13", " $70")


def test_the_longest_of_the_texts_is_found_also_where_one_begins_another():
    found = re.compile(f"(?:{any_of(['dry', 'dry skin', 'dry skin care', 'acne'])})(?![a-z])")
    assert [found.match(text)[0] for text in ("dry skin care", "dry skin cares", "dry skinny", "acne")] == [
        "dry skin care",
        "dry skin",
        "dry",
        "acne",
    ]
    assert found.match("drying") is None


def test_the_word_list_is_what_the_catalogue_says_today():
    script = runpy.run_path(str(ROOT / "scripts" / "make_shop_words.py"))
    assert script["TARGET"].read_text(encoding="utf-8") == script["content"](words())
    assert len(shop_words()["makers"]) > 1_000
