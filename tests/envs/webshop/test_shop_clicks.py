"""What actions do: pages, option rules, special searches, and every kind of bad input."""

from __future__ import annotations

import numpy as np
import pytest

from agentrl.envs.common.catalogue.product import Product
from agentrl.envs.webshop.actions import MAX_SEARCH, Action, read_turn
from agentrl.envs.webshop.env import WebShopEnv
from tests.envs.webshop.shop_kit import small_shop


@pytest.fixture
def env() -> WebShopEnv:
    made = small_shop(max_turns=500)
    made.reset(seed=1)
    return made


def product_with_options(env: WebShopEnv, least: int = 2) -> Product:
    products = (env.shop.catalogue.product(number) for number in range(len(env.shop.catalogue)))
    return next(p for p in products if sum(len(values) > 1 for values in p.options.values()) >= least)


def open_product(env: WebShopEnv, product: Product) -> None:
    env.step(f"search[{product.title}]")
    while product.asin not in env.state().results:
        env.step("click[next >]")
    env.step(f"click[{product.asin.lower()}]")
    assert env.state().product == product.asin


# ---------------------------------------------------------------------- reading actions


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("search[red shoes]", Action("search", "red shoes")),
        ("SEARCH[ Red\n Shoes ]", Action("search", "red shoes")),
        ("  click[ Buy Now ]  ", Action("click", "buy now")),
        ("<think>so</think><answer>click[< Prev]</answer>", Action("click", "< prev")),
        ("search[a [b] c]", Action("search", "a [b] c")),
        ("search[]]", Action("search", "]")),
        ("search[<r>]", Action("search", "<r>")),
        ("search[caf\u00e9 \u97f3]", Action("search", "caf\u00e9 \u97f3")),
        ("search[\ud800x]", Action("search", "?x")),
        ("search[(a+)+$ .* \\d{9}]", Action("search", "(a+)+$ .* \\d{9}")),
        ("search[x] now", Action("search", "x")),
        ("click[Buy Now], since it fits.", Action("click", "buy now")),
    ],
)
def test_one_action_is_read(text: str, action: Action) -> None:
    turn = read_turn(text)
    assert turn.actions == [action] and turn.error is None and turn.surplus == 0


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "search", "search[", "search[]", "search[ ]", "click[]", "buy now", "search red", "[x]", "find[x]",
        "search[x", "search x]", "<answer>search[x]", "</answer>search[x]<answer>", "<answer></answer>",
        "search[x] because [y] is good", "search[] now", "search[x [y] z] now", "please search[x]",
        f"search[{'x' * (MAX_SEARCH + 1)}]", f"click[{'x' * 501}]",
    ],
)  # fmt: skip
def test_what_is_no_action_says_why(text: str) -> None:
    turn = read_turn(text)
    assert turn.actions == [] and turn.error


def test_surplus_actions_are_dropped_with_a_word(env: WebShopEnv) -> None:
    *_, info = env.step("search[shirt], click[next >]\nclick[buy now]")
    assert info["valid"] and info["actions"] == ["search[shirt]"]
    assert "2 dropped" in info["feedback"]


def test_a_megabyte_is_read_at_once_and_answered_in_a_line() -> None:
    # Quadratic reading would take minutes, and run into the time-out.
    for text in ("search[" * 150_000, "]" * 1_000_000, "] " * 500_000, "[" * 1_000_000):
        turn = read_turn(text)
        assert not turn.actions and turn.error is not None and len(turn.error) < 200
    turn = read_turn("search[a]," * 100_000)
    assert len(turn.actions) == 1 and turn.error is None and turn.surplus == 99_999


# ---------------------------------------------------------------------- pages


def test_results_come_ten_a_page_and_fifty_at_most(env: WebShopEnv) -> None:
    env.step("search[made for every day]")
    pages = []
    for _ in range(5):
        pages.append(env.state().results)
        env.step("click[next >]")
    assert [len(page) for page in pages] == [10] * 5
    assert len(set().union(*pages)) == 50
    beyond = env.state()
    assert (beyond.results, beyond.results_page, beyond.total_results) == ((), 6, 50)
    assert "next >" in env.available_actions["clickables"]  # even behind the end


def test_the_first_results_page_has_no_way_back(env: WebShopEnv) -> None:
    env.step("search[made for every day]")
    before = env.state()
    *_, info = env.step("click[< prev]")
    assert not info["valid"] and env.state() == before
    env.step("click[next >]")
    env.step("click[< prev]")
    assert env.state() == before


def test_a_search_works_on_every_page_and_forgets_the_options(env: WebShopEnv) -> None:
    product = product_with_options(env)
    open_product(env, product)
    env.step(f"click[{next(iter(product.options.values()))[0]}]")
    env.step("click[description]")
    *_, info = env.step("search[lamp]")
    assert info["valid"] and env.state().page == "results" and env.state().options == {}
    open_product(env, product)
    assert env.state().options == {}


def test_options_are_kept_on_sub_pages_and_dropped_on_the_way_to_the_results(env: WebShopEnv) -> None:
    product = product_with_options(env)
    open_product(env, product)
    (first, values), (second, others) = list(product.options.items())[:2]
    env.step(f"click[{values[0]}]")
    env.step(f"click[{others[0]}]")
    env.step(f"click[{values[1]}]")
    assert env.state().options == {first: values[1], second: others[0]}  # the same name overwrites
    for page in ("description", "features", "reviews"):
        env.step(f"click[{page}]")
        assert env.state().page == page
        env.step("click[< prev]")
        assert env.state().page == "item" and env.state().options == {first: values[1], second: others[0]}
    env.step("click[< prev]")
    assert env.state().page == "results" and env.state().product == ""
    env.step(f"click[{product.asin.lower()}]")
    assert env.state().options == {}


def test_choosing_what_is_chosen_is_valid_and_changes_nothing(env: WebShopEnv) -> None:
    product = product_with_options(env)
    open_product(env, product)
    value = next(iter(product.options.values()))[0]
    assert env.step(f"click[{value}]")[4]["effective"]
    info = env.step(f"click[{value}]")[4]
    assert info["valid"] and not info["effective"]


def test_back_to_search_forgets_everything(env: WebShopEnv) -> None:
    open_product(env, product_with_options(env))
    env.step("click[back to search]")
    state = env.state()
    assert (state.page, state.query, state.results_page, state.product) == ("search", "", 0, "")


def test_attributes_are_a_page_only_where_they_are_shown(env: WebShopEnv) -> None:
    open_product(env, product_with_options(env))
    assert not env.step("click[attributes]")[4]["valid"]
    shown = small_shop(show_attributes=True)
    shown.reset(seed=1)
    product = product_with_options(shown)
    open_product(shown, product)
    text = shown.step("click[attributes]")[0]["text"]
    assert all(attribute in text for attribute in product.attributes) and product.category_path in text


# ---------------------------------------------------------------------- special searches


def found(env: WebShopEnv) -> list[Product]:
    asins = list(env.state().results)
    while env.state().results:
        env.step("click[next >]")
        asins += env.state().results
    return [env.shop.known(asin) for asin in asins]


def test_the_random_search_shows_products_by_lot_and_repeats_with_the_seed(env: WebShopEnv) -> None:
    env.step("search[<r>]")
    first = [product.asin for product in found(env)]
    env.step("search[<r>]")
    second = [product.asin for product in found(env)]
    assert len(first) == 50 and first != second
    assert all(len(set(env.shop.hits("<r>", lot))) == 50 for lot in range(40))
    env.reset(seed=1)
    env.step("search[<r>]")
    assert [product.asin for product in found(env)] == first


def test_rich_text_remembers_opened_products_until_the_search_page() -> None:
    env = small_shop(observation_mode="text_rich")
    env.reset(seed=1)
    env.step("search[made for every day]")
    opened, untouched = env.state().results[:2]
    env.step(f"click[{opened.lower()}]")
    for action in ("click[< prev]", "search[made for every day]"):
        text = env.step(action)[0]["text"]
        assert f"[clicked button] {opened} [clicked button_]" in text and f"[button] {untouched} [button_]" in text
    other = small_shop(observation_mode="text_rich")
    other.reset(seed=2)
    other.restore(env.snapshot())
    assert other.step("click[next >]")[0] == env.step("click[next >]")[0]
    assert other.step("click[< prev]")[0]["text"] == text
    env.step("click[back to search]")
    assert "[clicked" not in env.step("search[made for every day]")[0]["text"]
    env.reset(seed=1)
    assert "[clicked" not in env.step("search[made for every day]")[0]["text"]


def test_special_searches_find_exactly_what_has_the_property(env: WebShopEnv) -> None:
    catalogue = env.shop.catalogue
    products = [catalogue.product(number) for number in range(len(catalogue))]
    sample = products[37]
    cases = {
        f"<a> {sample.attributes[0]}": lambda product: sample.attributes[0] in product.attributes,
        f"<c> {sample.category}": lambda product: product.category == sample.category,
        f"<q> {sample.query}": lambda product: product.query == sample.query,
    }
    for query, holds in cases.items():
        env.step(f"search[{query}]")
        expected = [product.asin for product in products if holds(product)][:50]
        assert [product.asin for product in found(env)] == expected, query


@pytest.mark.parametrize("query", ["<a>", "<a> no such attribute", "<c> fash", "<q> shir", "<c>", "<q>"])
def test_special_searches_for_nothing_find_nothing(env: WebShopEnv, query: str) -> None:
    *_, info = env.step(f"search[{query}]")
    assert info["valid"] and info["feedback"] == "Nothing was found." and env.state().total_results == 0


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "action",
    [
        "search[]", "click[b000000000]", "click[search]", "click[next >]", "click[.*]", "click[\u0000]", "buy now",
        f"search[{'a' * 1_000_000}]", f"click[{'((a+)+' * 100_000}]", "search[\ud800" + "]" * 5000, 7, None,
        b"search[x]",
    ],
)  # fmt: skip
def test_after_bad_input_the_page_stays_and_feedback_says_why(env: WebShopEnv, action: object) -> None:
    state, page = env.state(), env.page
    observation, reward, terminated, truncated, info = env.step(action)
    assert env.state() == state and env.page == page
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert not info["valid"] and info["feedback"].startswith("Invalid: ") and len(info["feedback"]) < 500
    assert (
        observation["text"] == f"{info['feedback']}\nWebShop [SEP] Instruction: [SEP] {state.instruction} [SEP] Search"
    )


def test_feedback_can_be_left_out_for_the_benchmarks_exact_text() -> None:
    env = small_shop(show_feedback=False)
    before = env.reset(seed=1)[0]["text"]
    observation, *_, info = env.step("nonsense")
    assert observation["text"] == before and info["feedback"]


def test_words_that_nobody_knows_find_nothing_but_are_a_search(env: WebShopEnv) -> None:
    for query in ("qqqqzzzz", "\u97f3\u697d", "\U0001f600", "((((a+)+)+", "the of and"):
        *_, info = env.step(f"search[{query}]")
        assert info["valid"] and "(Total results: 0)" in env.page.parts[3].text, query


def mutations(rng: np.random.Generator, env: WebShopEnv) -> str:
    """Half of the time something that works here, otherwise something like it."""
    legal = env.legal_actions() or ["search[shirt]"]
    text = legal[rng.integers(len(legal))]
    if rng.random() < 0.5 and "buy now" not in text:
        return text
    at = int(rng.integers(len(text)))
    odd = ["[", "]", "<", "\x00", "\ud83d", "\u202e", " ", ",", "<answer>", "]click[", "\U0001f6d2", "a" * 40, "%s", ""]
    return text[:at] + odd[rng.integers(len(odd))] + text[at + int(rng.integers(3)) :]


def test_ten_thousand_mutated_actions_leave_a_shop_in_order() -> None:
    env, rng = small_shop(max_turns=200), np.random.default_rng(0)
    env.reset(seed=0)
    valid = 0
    for _ in range(10_000):
        before = env.state()
        observation, reward, terminated, truncated, info = env.step(mutations(rng, env))
        observation["text"].encode()
        assert 0.0 <= reward <= 1.0 and "\n" not in info["feedback"]
        assert info["valid"] or env.state() == before
        assert info["available_actions"]["clickables"] or terminated or truncated
        valid += info["valid"]
        if terminated or truncated:
            env.reset()
    assert 4_000 < valid < 9_500  # both kinds were really tried
