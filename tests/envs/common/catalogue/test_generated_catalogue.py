"""The generated shop: the same everywhere, any product alone, and the distributions of the benchmark's products."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import Counter
from hashlib import sha256
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

import pytest

from agentrl.core.errors import ConfigError
from agentrl.envs.common.catalogue import Catalogue, GeneratedCatalogue
from agentrl.envs.common.catalogue.families import BLOCK, PLANS
from agentrl.envs.common.catalogue.generated import SPACE, VERSION, AsinCode
from agentrl.envs.common.catalogue.product import Product, listing_note

ROOT = Path(__file__).resolve().parents[4]
SAMPLE = 8_000


@pytest.fixture(scope="module")
def products() -> list[Product]:
    shop = GeneratedCatalogue(1, 100_000)
    return [shop.product(index) for index in range(SAMPLE)]


def digest(shop: GeneratedCatalogue, indexes: Any) -> str:
    """One hash over everything that some products say."""
    total = sha256()
    for index in indexes:
        total.update(repr(shop.product(index)).encode())
    return total.hexdigest()


def test_it_is_a_catalogue() -> None:
    assert isinstance(GeneratedCatalogue(0, 1_000), Catalogue)


def test_a_product_made_alone_is_the_one_made_in_sequence() -> None:
    in_sequence = [GeneratedCatalogue(3, 2_000).product(index) for index in range(600)]
    for index in (599, 0, 250, 411):
        assert GeneratedCatalogue(3, 2_000).product(index) == in_sequence[index]


def test_products_do_not_depend_on_the_size_of_the_catalogue() -> None:
    small, large = GeneratedCatalogue(3, 1_000), GeneratedCatalogue(3, 1_180_000)
    assert [small.product(index) for index in range(0, 1_000, 41)] == [
        large.product(index) for index in range(0, 1_000, 41)
    ]


def test_other_processes_with_other_hash_seeds_make_the_same_shop() -> None:
    code = """
from hashlib import sha256
from agentrl.envs.common.catalogue import GeneratedCatalogue
shop, total = GeneratedCatalogue(5, 1_180_000), sha256()
for index in range(0, 1_180_000, 9_973):
    total.update(repr(shop.product(index)).encode())
print(total.hexdigest(), shop.fingerprint, sep="|")
"""
    said = set()
    for seed in ("0", "424242"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=60)
        assert done.returncode == 0, done.stderr
        said.add(done.stdout)
    shop = GeneratedCatalogue(5, 1_180_000)
    here = (digest(shop, range(0, 1_180_000, 9_973)), shop.fingerprint)
    assert said == {"|".join(map(str, here)) + "\n"}


def test_the_seed_changes_everything() -> None:
    one, other = GeneratedCatalogue(0, 1_000), GeneratedCatalogue(1, 1_000)
    assert one.fingerprint != other.fingerprint
    assert sum(one.product(index).title == other.product(index).title for index in range(1_000)) == 0
    assert one.docid(0) != other.docid(0)


def test_what_the_shop_says_changes_only_with_its_version() -> None:
    # If this fails on purpose, raise VERSION: indexes on disk are found by it.
    assert VERSION == 1
    assert GeneratedCatalogue(0, 1_000).fingerprint == "generated-1000-2aa3699b18caffb2"
    assert digest(GeneratedCatalogue(0, 1_000), range(1_000))[:16] == "329b94ae49cf7b70"


def test_the_entry_is_id_text_and_listing_of_the_product() -> None:
    shop = GeneratedCatalogue(2, 1_037)
    for index in range(1_037):
        product = shop.product(index)
        assert shop.entry(index) == (product.asin, product.document(), listing_note(product.title, product.price_tag))
    with pytest.raises(IndexError):
        shop.entry(1_037)


def test_a_catalogue_remembers_some_products_and_travels_without_them() -> None:
    shop = GeneratedCatalogue(2, 2_000)
    assert shop.product(5) is shop.product(5)
    first = shop.product(0)
    for index in range(1, 2_000):
        shop.product(index)
    assert shop.product(0) is not first and shop.product(0) == first  # written anew: only so many are kept
    again = pickle.loads(pickle.dumps(shop))
    assert repr(again) == repr(shop) and again.product(5) == shop.product(5)


@pytest.mark.parametrize(
    "arguments", [{"size": 999}, {"size": 1_180_001}, {"size": "1000"}, {"seed": -1}, {"seed": 0.5}]
)
def test_bad_arguments_are_named(arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(arguments))):
        GeneratedCatalogue(**arguments)


@pytest.mark.parametrize("index", [-1, 1_000, 10**9])
def test_an_index_outside_is_refused(index: int) -> None:
    shop = GeneratedCatalogue(0, 1_000)
    for read in (shop.product, shop.entry, shop.docid):
        with pytest.raises(IndexError):
            read(index)


# ---------------------------------------------------------------------------------------------------- ids


def test_ids_are_unique_look_like_a_shops_and_lead_back() -> None:
    code = AsinCode(11)
    ids = [code.encode(index) for index in range(50_000)]
    assert len(set(ids)) == len(ids)
    assert all(len(asin) == 10 and asin.startswith("B0") and asin.isalnum() and asin.isupper() for asin in ids[:500])
    assert [code.decode(asin) for asin in ids[::997]] == list(range(0, 50_000, 997))
    assert code.decode(code.encode(SPACE - 1)) == SPACE - 1


def test_products_are_found_by_their_id_in_either_case() -> None:
    shop = GeneratedCatalogue(0, 1_000)
    for index in (0, 17, 999):
        asin = shop.docid(index)
        assert shop.find(asin) == shop.find(asin.lower()) == shop.product(index)
        assert shop.product(index).asin == asin


@pytest.mark.parametrize(
    "asin", ["", "B0", "B0ZZZZZZZZ", "A012345678", "B0#$%^&*()", "B0\u0130\u0130\u0130\u0130AAAA", "B" * 10**6]
)
def test_what_is_no_id_of_the_shop_is_not_found(asin: str) -> None:
    assert GeneratedCatalogue(0, 1_000).find(asin) is None


def test_an_id_of_a_larger_shop_is_not_found_in_a_smaller() -> None:
    small, large = GeneratedCatalogue(0, 1_000), GeneratedCatalogue(0, 2_000)
    assert large.find(large.docid(1_500)) is not None
    assert small.find(large.docid(1_500)) is None


# ---------------------------------------------------------------------------------------------------- distributions


def test_categories_have_the_benchmarks_shares(products: list[Product]) -> None:
    counts = Counter(product.category for product in products)
    wanted = {"beauty": 0.238, "electronics": 0.229, "garden": 0.216, "fashion": 0.200, "grocery": 0.117}
    for category, share in wanted.items():
        assert counts[category] / SAMPLE == pytest.approx(share, abs=0.04)


def test_options_per_product(products: list[Product]) -> None:
    counts = Counter(len(product.options) for product in products)
    for number, share in {0: 0.577, 1: 0.245, 2: 0.165, 3: 0.013}.items():
        assert counts[number] / SAMPLE == pytest.approx(share, abs=0.03)


def test_option_names_and_values(products: list[Product]) -> None:
    names = Counter(name for product in products for name in product.options)
    total = sum(names.values())
    assert set(names) == {"color", "size", "style", "flavor name", "fit type", "scent"}
    assert names["color"] / total == pytest.approx(0.47, abs=0.1)
    assert names["size"] / total == pytest.approx(0.44, abs=0.1)
    assert names["style"] / total < 0.1
    sizes = [len(values) for product in products for values in product.options.values()]
    assert mean(sizes) == pytest.approx(5.7, abs=0.8)
    assert median(sizes) == pytest.approx(4, abs=1)
    assert min(sizes) >= 1 and 30 <= max(sizes) <= 45


def test_prices(products: list[Product]) -> None:
    marks = quantiles((product.price for product in products), n=20)
    found = [marks[0], marks[4], marks[9], marks[14], marks[18]]
    for amount, wanted in zip(found, (6.7, 15, 29, 100, 333), strict=True):
        assert wanted * 0.7 <= amount <= wanted * 1.35
    unknown = sum(product.pricing == (100.0,) for product in products) / SAMPLE
    assert unknown == pytest.approx(0.089, abs=0.02)


def test_attributes_per_product(products: list[Product]) -> None:
    counts = Counter(0 if product.attributes == ("DUMMY_ATTR",) else len(product.attributes) for product in products)
    for number, share in {0: 0.185, 1: 0.191, 2: 0.189, 3: 0.134, 4: 0.120, 5: 0.065}.items():
        assert counts[number] / SAMPLE == pytest.approx(share, abs=0.03)
    assert sum(count for number, count in counts.items() if number >= 6) / SAMPLE == pytest.approx(0.116, abs=0.03)


def test_lengths_of_titles_and_documents(products: list[Product]) -> None:
    titles = [len(product.title.split()) for product in products]
    assert mean(titles) == pytest.approx(18, abs=1) and min(titles) >= 10 and max(titles) <= 32
    lengths = [len(product.document().split()) for product in products]
    assert mean(lengths) == pytest.approx(124, rel=0.12)
    assert median(lengths) == pytest.approx(88, rel=0.12)
    assert quantiles(lengths, n=20)[18] == pytest.approx(322, rel=0.12)


def test_where_attributes_are_stated(products: list[Product]) -> None:
    places: Counter[str] = Counter()
    for product in products:
        listed = () if product.attributes == ("DUMMY_ATTR",) else product.attributes
        behind = f"{product.description} {' '.join(product.bullets)}".lower()
        for attribute in listed:
            titled = attribute in product.title.lower()
            places["title" if titled else "behind" if attribute in behind else "hidden"] += 1
    total = places.total()
    assert 0.2 <= places["behind"] / total <= 0.4
    assert 0.08 <= places["hidden"] / total <= 0.2


def test_texts_are_varied_and_complete(products: list[Product]) -> None:
    assert len({product.title for product in products}) > 0.999 * SAMPLE
    assert len({product.document() for product in products}) == SAMPLE
    for product in products[:2_000]:
        text = " ".join((product.title, product.description, *product.bullets))
        assert "{" not in text and "}" not in text and "  " not in text and ",," not in text
        assert 3 <= len(product.bullets) <= 12 and len(set(product.bullets)) == len(product.bullets)


def test_blocks_hold_what_they_should() -> None:
    assert sum(plan.size for plan in PLANS) < BLOCK
    assert all(7 <= plan.size <= 13 for plan in PLANS)
    shop = GeneratedCatalogue(0, 1_150)
    assert shop.families() == 5 * len(PLANS)
    assert max(shop.members(shop.families() - 1)) < 1_000
