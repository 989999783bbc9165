"""Files of the benchmark's format, with empty fields, signs and every colour: held against the benchmark's rules,
product by product, goal by goal, list by list and reward by reward."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from agentrl.envs.webshop.nouns import title_tagger
from agentrl.envs.webshop.official import OfficialCatalogue
from agentrl.envs.webshop.reward import BENCHMARK_COLOURS, Rules, fit_of, with_options
from agentrl.envs.webshop.shop import Shop, ShopSpec
from benchmarks.webshop.lucene import documents, fingerprint, our_lists, queries
from benchmarks.webshop.official_format import write_files
from tests.envs.webshop import benchmark_rules as benchmark

LUCENE = Path(__file__).with_name("lucene_lists.txt")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The files, and a cache of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AGENTRL_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield write_files(tmp_path_factory.mktemp("files"))


@pytest.fixture(scope="module")
def human(folder: Path) -> OfficialCatalogue:
    return OfficialCatalogue(folder)


@pytest.fixture(scope="module")
def synthetic(folder: Path) -> OfficialCatalogue:
    return OfficialCatalogue(folder, goals="synthetic")


def test_no_product_of_the_benchmark_is_lost(folder: Path, human: OfficialCatalogue) -> None:
    rows, _, _ = benchmark.files(folder)
    assert sum(not row["product_category"] for row in rows) > 10 and sum(not row["name"] for row in rows) == 1
    assert [human.docid(number) for number in range(len(human))] == [row["asin"] for row in rows]
    for number, row in enumerate(rows):
        product = human.product(number)
        assert (product.title, product.category_path) == (row["name"], row["product_category"])
        assert product.document() == benchmark.indexed_text(row)
        assert {name: list(values) for name, values in product.options.items()} == benchmark.options_of(row)


@pytest.mark.parametrize("kind", ["human", "synthetic"])
def test_goals_are_the_benchmarks_goal_by_goal(folder: Path, kind: str, request: pytest.FixtureRequest) -> None:
    rows, annotations, wishes = benchmark.files(folder)
    shop: OfficialCatalogue = request.getfixturevalue(kind)
    made = {"human": lambda: benchmark.human_goals(rows, wishes)}
    made["synthetic"] = lambda: benchmark.synthetic_goals(rows, annotations)
    expected = made[kind]()
    found = shop.goals("train", cuts="none")
    assert len(found) == len(expected) > 800
    for goal, wanted in zip(found, expected, strict=True):
        assert goal.asin == wanted["asin"] and goal.weight == pytest.approx(wanted["weight"])
        assert goal.instruction.partition(", and price lower than")[0] == wanted["text"]
        assert list(goal.attributes) == wanted["attributes"] and list(goal.options) == wanted["options"]


def test_splits_of_human_goals_are_the_benchmarks(folder: Path, human: OfficialCatalogue) -> None:
    rows, _, wishes = benchmark.files(folder)
    expected = [goal["asin"] for goal in benchmark.human_goals(rows, wishes)]
    cuts = {"test": expected[:500], "dev": expected[500:1500], "train": expected[1500:]}
    for split, asins in cuts.items():
        assert [goal.asin for goal in human.goals(split, cuts="benchmark")] == asins
    kept_apart = [goal.asin for goal in human.goals("test")]
    assert kept_apart == expected[: len(kept_apart)] and len(kept_apart) >= 100


def test_what_is_skipped_is_counted_and_said(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="agentrl.envs.webshop.shop"):
        shop = Shop(ShopSpec(catalogue_size=1_000, data_dir=str(folder)))
    assert isinstance(shop.catalogue, OfficialCatalogue)
    assert shop.catalogue.facts.skipped == {"duplicate asin": 4, "goal without attributes": 65, "unusable asin": 8}
    (said,) = [record.getMessage() for record in caplog.records if record.name.endswith(".shop")]
    assert said == (
        f"items_shuffle_1000.json: 1,000 products and {shop.catalogue.facts.goals:,} goals; "
        "skipped: 4 x duplicate asin, 65 x goal without attributes, 8 x unusable asin"
    )


def test_every_result_list_is_lucenes_order_included(human: OfficialCatalogue, tmp_path: Path) -> None:
    """Lists that Lucene made of these files (`python -m benchmarks.webshop.lucene` makes them again)."""
    texts, asked = documents(human), queries(human)
    assert any("\u2122" in text and "\uff9e" in text for _, text in texts)
    found = [fingerprint(one) for one in our_lists(texts, asked, tmp_path)]
    expected = LUCENE.read_text().split()
    equal = sum(left == right for left, right in zip(found, expected, strict=True))
    print(f"{equal:,} of {len(expected):,} lists are Lucene's")
    assert equal == len(expected) > 1_800


def test_rewards_are_the_benchmarks_on_the_same_nouns(folder: Path, human: OfficialCatalogue) -> None:
    rows, annotations, _ = benchmark.files(folder)
    by_asin = {row["asin"]: row for row in rows}
    rules = Rules(title_tagger, BENCHMARK_COLOURS)
    draw = random.Random(0)
    scored = other_colours = 0
    for goal in human.goals("train"):
        wish = {"attributes": list(goal.attributes), "options": list(goal.options)}
        for asin in (goal.asin, draw.choice(rows)["asin"]):
            product = human.find(asin)
            assert product is not None
            fit, cheap = fit_of(product, goal, rules), product.price <= goal.price_upper
            bought = (by_asin[asin], by_asin[goal.asin], wish, annotations[asin]["attributes"], cheap)
            for chosen in choices(product.options):
                expected = benchmark.score(*bought, list(chosen.values()), title_tagger)
                assert with_options(fit, goal, chosen, rules).total == pytest.approx(expected)
                scored += 1
                other_colours += with_options(fit, goal, chosen).total != pytest.approx(expected)
    print(f"{scored:,} purchases, {other_colours} of them worth something else by the colours of generated products")
    assert scored > 2_000 and other_colours > 5


def choices(options: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
    """Every value once: the first of each option, the second ..."""
    most = max(map(len, options.values()), default=1)
    return [{name: values[place % len(values)] for name, values in options.items()} for place in range(most)]


def test_all_colour_words_decide(folder: Path) -> None:
    rows, _, _ = benchmark.files(folder)
    values = {value for row in rows for values in benchmark.options_of(row).values() for value in values}
    assert list(BENCHMARK_COLOURS.words) == benchmark.COLOURS and len(benchmark.COLOURS) == 102
    for colour in benchmark.COLOURS:
        assert any(colour in value for value in values), colour
    assert all(BENCHMARK_COLOURS.normal(value) == benchmark.plain_colour(value) for value in values)
    assert BENCHMARK_COLOURS.normal("heather navy") == "heather" and BENCHMARK_COLOURS.normal("dark red") == "dark"
