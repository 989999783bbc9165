"""The benchmark's files: its load rules, its goals, what is skipped and counted, and a store that notices damage."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from agentrl.core.errors import ConfigError, EnvFault
from agentrl.envs.common.catalogue import Catalogue
from agentrl.envs.common.catalogue.product import listing_note
from agentrl.envs.webshop import official_files, official_store
from agentrl.envs.webshop.goals import NO_LIMIT, price_limit
from agentrl.envs.webshop.official import OfficialCatalogue
from agentrl.envs.webshop.reward import best_choices
from tests.envs.webshop.official_files import PATH, a_row, a_wish, write_shop
from tests.envs.webshop.shop_examples import score_purchase

ROOT = Path(__file__).resolve().parents[3]
SPLITS = ("train", "dev", "test")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def asin(number: int) -> str:
    return f"B{number:09}"


def all_goals(shop: OfficialCatalogue) -> list[Any]:
    return [goal for split in SPLITS for goal in shop.goals(split)]


def test_a_product_is_read_by_the_benchmarks_rules(tmp_path: Path) -> None:
    shop = OfficialCatalogue(write_shop(tmp_path, [a_row(asin(1))], {asin(1): {"attributes": ["steel toe"]}}))
    assert isinstance(shop, Catalogue) and len(shop) == 1
    product = shop.product(0)
    assert product.asin == shop.docid(0) == asin(1)
    assert product.title == f"Sturdy Boots {asin(1)}" and product.description == "Made for mud."
    assert product.bullets == ("Rubber sole", "Steel toe")
    assert product.options == {"size": ("large | wide", "small")}
    assert product.attributes == ("steel toe",) and product.query == "work boots" and product.category_path == PATH
    assert product.pricing == (19.99, 27.99) and product.price_tag == "$19.99 to $27.99"
    assert 19.99 <= product.price <= 27.99
    assert product.rating == "N.A." and product.reviews == () and product.image == "boots.jpg"
    text = "sturdy boots b000000001 made for mud. rubber sole size: large | wide, small"
    assert shop.entry(0) == (asin(1), text, listing_note(product.title, product.price_tag))
    assert shop.find(asin(1)) == shop.find(asin(1).lower()) == product and shop.find("B999999999") is None


@pytest.mark.parametrize(
    ("text", "pricing"),
    [
        ("$12.99", (12.99,)),
        ("$19.99$27.99", (19.99, 27.99)),
        ("$1,299.00", (1299.0,)),
        ("$5 - $7 - $9", (5.0, 7.0)),
        ("", (100.0,)),
        (None, (100.0,)),
        ("free", (100.0,)),
        ("$", (100.0,)),
        ("$1.2.3", (100.0,)),
        ("$" + "9" * 400, (100.0,)),
        (["$5"], (100.0,)),
    ],
)
def test_prices_are_read_and_unreadable_ones_are_a_hundred(text: Any, pricing: tuple[float, ...]) -> None:
    assert official_files.read_pricing(text) == pricing


def test_missing_descriptions_options_and_attributes_have_defaults(tmp_path: Path) -> None:
    row = a_row(asin(1), small_description="Just one", customization_options="", images=None, full_description=None)
    product = OfficialCatalogue(write_shop(tmp_path, [row])).product(0)
    assert product.bullets == ("Just one",) and product.options == {} and product.description == ""
    assert product.attributes == ("DUMMY_ATTR",) and product.image == ""


def test_unusable_rows_are_skipped_and_counted(tmp_path: Path) -> None:
    rows = [
        a_row(asin(1)),
        a_row("nan"),
        a_row("B00000000001"),
        a_row(asin(1), name="A second one"),
        {key: value for key, value in a_row(asin(2)).items() if key != "name"},
        a_row(asin(3), query=None),
        a_row(asin(4), product_category=7),
        {key: value for key, value in a_row("x").items() if key != "asin"},
        a_row(""),
        "not a row",
        None,
        [],
        a_row(asin(5), customization_options={"A": [None, {"value": 3}, {}], "B": "text"}),
    ]
    shop = OfficialCatalogue(write_shop(tmp_path, rows))
    assert [shop.docid(index) for index in range(len(shop))] == [asin(1), asin(5)]
    assert shop.product(0).title == f"Sturdy Boots {asin(1)}"
    assert shop.product(1).options == {"a": ()}
    assert shop.facts.skipped == {
        "duplicate asin": 1, "no asin": 1, "no name": 1, "no product_category": 1, "no query": 1, "not an object": 3,
        "unusable asin": 3,
    }  # fmt: skip


def test_empty_texts_are_kept_as_the_benchmark_keeps_them(tmp_path: Path) -> None:
    fields = ("name", "product_category", "category", "query", "full_description")
    rows = [a_row(asin(number), **{field: ""}) for number, field in enumerate(fields)]
    shop = OfficialCatalogue(write_shop(tmp_path, [*rows, a_row(asin(7), name=" ", small_description=[])]))
    assert len(shop) == 6 and shop.facts.skipped == {}
    assert shop.product(0).title == "" and shop.product(1).category_path == "" and shop.product(5).bullets == ()


def test_a_limit_cuts_the_catalogue(tmp_path: Path) -> None:
    folder = write_shop(tmp_path, [a_row(asin(number)) for number in range(9)])
    assert len(OfficialCatalogue(folder, limit=4)) == 4
    again = write_shop(tmp_path / "again", [a_row(asin(number // 2)) for number in range(9)])
    assert len(OfficialCatalogue(again, limit=4)) == 2  # the benchmark cuts the file, then looks for repetitions
    assert OfficialCatalogue(folder, limit=4).fingerprint != OfficialCatalogue(folder).fingerprint


# ---------------------------------------------------------------------------------------------------- goals


def test_human_goals_follow_the_benchmark(tmp_path: Path) -> None:
    human = {asin(1): [a_wish(asin(1), "i want boots..")], asin(7): [a_wish(asin(7))]}
    shop = OfficialCatalogue(write_shop(tmp_path, [a_row(asin(1), pricing="$25")], human=human))
    (goal,) = all_goals(shop)
    limit = price_limit(25.0, 0, asin(1))
    assert goal.instruction == f"i want boots, and price lower than {limit:.2f} dollars"
    assert goal.attributes == ("steel toe",) and goal.options == ("small",)
    assert goal.price_upper == limit and goal.weight == 1.0 and goal.asin == asin(1)
    assert (goal.query, goal.title, goal.category_path) == ("work boots", f"Sturdy Boots {asin(1)}", PATH)


def test_goals_without_attributes_or_text_are_skipped_and_counted(tmp_path: Path) -> None:
    wishes = [a_wish("x", instruction_attributes=[]), a_wish("x", instruction=None), "nonsense", a_wish("x")]
    shop = OfficialCatalogue(write_shop(tmp_path, [a_row(asin(1))], human={asin(1): wishes}))
    assert len(all_goals(shop)) == 1
    assert shop.facts.skipped == {"goal without attributes": 1, "goal without instruction": 2}


def test_a_dear_product_has_no_limit(tmp_path: Path) -> None:
    human = {asin(1): [a_wish(asin(1))]}
    shop = OfficialCatalogue(write_shop(tmp_path, [a_row(asin(1), pricing="$985")], human=human))
    (goal,) = all_goals(shop)
    assert goal.price_upper == NO_LIMIT and goal.instruction == "i want boots"


def test_synthetic_goals_are_all_combinations_of_options(tmp_path: Path) -> None:
    options = {
        "size": [{"value": "S"}, {"value": "L"}],
        "color": [{"value": "Red"}, {"value": "Blue"}, {"value": "Tan"}],
    }
    annotations = {
        asin(1): {"attributes": ["a", "b"], "instruction": "Find me boots", "instruction_attributes": ["a", "b"]},
        asin(2): {"attributes": ["a"], "instruction": "Find me more", "instruction_attributes": ["a"]},
        asin(3): {"attributes": ["a"]},
        asin(4): {"instruction": "Find me nothing", "instruction_attributes": []},
    }
    rows = [a_row(asin(1), customization_options=options, pricing="$25")]
    rows += [a_row(asin(number), customization_options="") for number in (2, 3, 4)]
    shop = OfficialCatalogue(write_shop(tmp_path, rows, annotations), goals="synthetic")
    goals = all_goals(shop)
    assert len(goals) == 7 and shop.facts.skipped == {"goal without attributes": 1}
    limit = price_limit(25.0, 0, asin(1))
    texts = {goal.instruction for goal in goals}
    assert f"Find me boots with color: red, and size: l, and price lower than {limit:.2f} dollars" in texts
    by_asin = {goal.asin: goal for goal in goals}
    # "a" is asked for 6 + 1 times, "b" 6 times
    assert by_asin[asin(1)].weight == pytest.approx((1 / 7 + 1 / 6) / 2)
    assert by_asin[asin(2)].weight == pytest.approx(1 / 7)
    assert by_asin[asin(2)].options == ()
    one = by_asin[asin(1)]
    product = shop.find(asin(1))
    assert product is not None and [name for name, _ in one.options] == ["color", "size"]
    assert score_purchase(product, one, best_choices(product, one)).total == 1.0


def test_too_many_combinations_are_skipped(tmp_path: Path) -> None:
    many = {f"o{name}": [{"value": f"{name} {value}"} for value in range(30)] for name in range(9)}
    annotations = {asin(1): {"instruction": "Find me it", "instruction_attributes": ["a"]}}
    folder = write_shop(tmp_path, [a_row(asin(1), customization_options=many)], annotations)
    shop = OfficialCatalogue(folder, goals="synthetic")
    assert all_goals(shop) == [] and shop.facts.skipped == {"too many combinations of options": 1}


def test_the_order_is_the_benchmarks_shuffle_and_splits_share_no_product(tmp_path: Path) -> None:
    rows = [a_row(asin(number)) for number in range(40)]
    human = {asin(n): [a_wish(asin(n), f"wish {n} {k}") for k in range(3)] for n in range(40)}
    shop = OfficialCatalogue(write_shop(tmp_path, rows, human=human))
    texts = [f"wish {n} {k}" for n in range(40) for k in range(3)]
    random.Random(233).shuffle(texts)
    assert [goal.instruction.partition(",")[0] for goal in shop.goals("test")] == texts[:20]
    products = {split: {goal.asin for goal in shop.goals(split)} for split in SPLITS}
    assert products["train"] and products["dev"]
    assert not products["test"] & products["dev"] and not products["train"] & (products["test"] | products["dev"])
    assert shop.goals("test")[-1] == shop.goals("test")[19] and len(shop.goals("test")[2:5]) == 3
    with pytest.raises(IndexError):
        shop.goals("test")[20]


def test_synthetic_goals_of_a_product_stay_together_and_none_is_lost(tmp_path: Path) -> None:
    options = {"size": [{"value": f"{number} oz"} for number in range(6)]}
    annotations = {asin(n): {"instruction": "Find me it", "instruction_attributes": ["a"]} for n in range(60)}
    rows = [a_row(asin(n), customization_options=options) for n in range(60)]
    shop = OfficialCatalogue(write_shop(tmp_path, rows, annotations), goals="synthetic")
    sizes = {split: len(shop.goals(split)) for split in SPLITS}
    assert sizes == {"train": 240, "dev": 60, "test": 60}
    products = {split: {goal.asin for goal in shop.goals(split)} for split in SPLITS}
    assert {split: len(found) for split, found in products.items()} == {"train": 40, "dev": 10, "test": 10}


def test_prices_and_limits_are_the_same_in_every_process(tmp_path: Path) -> None:
    human = {asin(n): [a_wish(asin(n))] for n in range(30)}
    folder = write_shop(tmp_path / "shop", [a_row(asin(n)) for n in range(30)], human=human)
    code = """
import sys
from agentrl.envs.webshop.official import OfficialCatalogue
shop = OfficialCatalogue(sys.argv[1])
print([shop.product(n).price for n in range(30)], [goal.price_upper for goal in shop.goals("train")])
"""
    said = set()
    for number in range(2):
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": str(number)}
        environment["AGENTRL_CACHE"] = str(tmp_path / f"cache {number}")  # each converts for itself
        done = subprocess.run(
            [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, env=environment, timeout=60
        )
        assert done.returncode == 0, done.stderr
        said.add(done.stdout)
    assert len(said) == 1
    other = OfficialCatalogue(folder, seed=1)
    assert [other.product(n).price for n in range(30)] != [
        OfficialCatalogue(folder).product(n).price for n in range(30)
    ]


# ---------------------------------------------------------------------------------------------------- files


def test_the_full_file_is_preferred_and_endings_belong_together(tmp_path: Path) -> None:
    write_shop(tmp_path, [a_row(asin(1))], {asin(1): {"attributes": ["small file"]}}, ending="_1000")
    assert OfficialCatalogue(tmp_path).product(0).attributes == ("small file",)
    write_shop(tmp_path, [a_row(asin(2)), a_row(asin(3))], {asin(2): {"attributes": ["full file"]}})
    assert OfficialCatalogue(tmp_path).product(0).attributes == ("full file",)
    small = OfficialCatalogue(tmp_path, products="items_shuffle_1000.json")
    assert len(small) == 1 and small.product(0).attributes == ("small file",)


def test_missing_and_ambiguous_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no folder"):
        OfficialCatalogue(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match=r"must hold one items_shuffle\*\.json \(none found\)"):
        OfficialCatalogue(tmp_path)
    (tmp_path / "items_shuffle.json").write_text("[]")
    with pytest.raises(ConfigError, match=r"items_ins_v2\.json"):
        OfficialCatalogue(tmp_path)
    (tmp_path / "items_ins_v2.json").write_text("{}")
    with pytest.raises(ConfigError, match=r"items_human_ins\.json"):
        OfficialCatalogue(tmp_path)
    assert len(OfficialCatalogue(tmp_path, goals="synthetic")) == 0
    for wrong in ("../items_shuffle.json", "other.json"):
        with pytest.raises(ConfigError, match="products must be the name of a file"):
            OfficialCatalogue(tmp_path, products=wrong)


@pytest.mark.parametrize("arguments", [{"goals": "all"}, {"limit": 0}, {"seed": -1}, {"limit": "many"}])
def test_bad_arguments_are_named(tmp_path: Path, arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=next(iter(arguments))):
        OfficialCatalogue(write_shop(tmp_path, []), **arguments)


@pytest.mark.parametrize("name", ["items_shuffle", "items_ins_v2", "items_human_ins"])
def test_a_broken_file_is_named_and_leaves_nothing_behind(tmp_path: Path, own_cache: Path, name: str) -> None:
    folder = write_shop(tmp_path / "shop", [a_row(asin(1))], {asin(1): {}}, {asin(1): [a_wish(asin(1))]})
    whole = (folder / f"{name}.json").read_text()
    (folder / f"{name}.json").write_text(whole[: len(whole) // 2])
    with pytest.raises(ConfigError, match=rf"{name}\.json is broken"):
        OfficialCatalogue(folder)
    assert [path for path in own_cache.rglob("*") if path.is_file()] == []
    (folder / f"{name}.json").write_text(whole)
    assert len(OfficialCatalogue(folder)) == 1


def test_hostile_texts_are_kept_or_replaced_but_never_stop_the_loader(tmp_path: Path) -> None:
    odd = "\ud800 half, \x00 zero, 🧴, \u202e'; DROP TABLE product;--"
    row = a_row(asin(1), name=odd, small_description=[odd, 3], customization_options={odd: [{"value": odd}]})
    annotations = {asin(1): {"attributes": [odd, None]}, "\udfff": {"n": 10**400}}
    human = {asin(1): [a_wish(asin(1), odd, instruction_attributes=[odd])]}
    shop = OfficialCatalogue(write_shop(tmp_path, [row, a_row("\ud800")], annotations, human))
    assert len(shop) == 2
    assert shop.product(0).title == odd.replace("\ud800", "\ufffd")
    assert all_goals(shop)[0].attributes == (odd.replace("\ud800", "\ufffd"),)
    assert shop.find("\ud800") is None and shop.find("'; DROP TABLE product;--") is None


# ---------------------------------------------------------------------------------------------------- the store


def stores(cache: Path) -> list[Path]:
    return sorted(cache.rglob("official-*.sqlite"))


def test_files_are_converted_once(tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_shop(tmp_path / "shop", [a_row(asin(1))])
    first = OfficialCatalogue(folder)
    (path,) = stores(own_cache)
    before = path.stat().st_mtime_ns
    monkeypatch.setattr(official_store, "JsonStream", None)  # reading the files again would now fail
    assert OfficialCatalogue(folder).product(0) == first.product(0)
    assert path.stat().st_mtime_ns == before


def test_a_changed_file_is_converted_again(tmp_path: Path) -> None:
    folder = write_shop(tmp_path / "shop", [a_row(asin(1))])
    old = OfficialCatalogue(folder)
    write_shop(folder, [a_row(asin(1)), a_row(asin(2))])
    new = OfficialCatalogue(folder)
    assert (len(old), len(new)) == (1, 2) and old.fingerprint != new.fingerprint


@pytest.mark.parametrize("damage", ["cut", "overwritten", "emptied"])
def test_a_damaged_store_is_noticed_and_built_again(tmp_path: Path, own_cache: Path, damage: str) -> None:
    folder = write_shop(tmp_path / "shop", [a_row(asin(n)) for n in range(20)])
    expected = [OfficialCatalogue(folder).product(n) for n in range(20)]
    (path,) = stores(own_cache)
    data = path.read_bytes()
    middle = len(data) // 2
    path.write_bytes(
        {"cut": data[:middle], "overwritten": data[:middle] + b"x" * 99 + data[middle + 99 :], "emptied": b""}[damage]
    )
    assert [OfficialCatalogue(folder).product(n) for n in range(20)] == expected


def test_a_record_damaged_after_opening_is_a_fault_not_a_product(tmp_path: Path, own_cache: Path) -> None:
    import sqlite3

    shop = OfficialCatalogue(write_shop(tmp_path / "shop", [a_row(asin(1))]))
    (path,) = stores(own_cache)
    with sqlite3.connect(path) as database:
        database.execute("UPDATE product SET record = zeroblob(50)")
    database.close()
    damaged = official_store.Store(path)
    with pytest.raises(EnvFault, match="damaged"):
        damaged.product(0)
    assert len(shop) == 1


def _titles(shop: OfficialCatalogue) -> list[str]:
    return [shop.product(index).title for index in range(len(shop))]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_catalogue_can_be_used_in_other_processes(tmp_path: Path, method: str) -> None:
    shop = OfficialCatalogue(write_shop(tmp_path / "shop", [a_row(asin(n)) for n in range(5)]))
    with get_context(method).Pool(1) as pool:
        assert pool.apply(_titles, (shop,)) == _titles(shop)


def test_an_index_outside_is_refused(tmp_path: Path) -> None:
    shop = OfficialCatalogue(write_shop(tmp_path, [a_row(asin(1))]))
    for wrong in (-1, 1):
        for read in (shop.product, shop.docid, shop.entry):
            with pytest.raises(IndexError):
                read(wrong)


def test_thousands_of_rows_are_streamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from agentrl.envs.webshop import official_files

    monkeypatch.setattr(official_files, "CHUNK", 4096)
    rows = [a_row(asin(number)) for number in range(3000)]
    human = {asin(n): [a_wish(asin(n))] for n in range(0, 3000, 2)}
    shop = OfficialCatalogue(write_shop(tmp_path, rows, {asin(5): {"attributes": ["x"]}}, human))
    assert len(shop) == 3000 and sum(len(shop.goals(split)) for split in SPLITS) == 1500
    assert shop.product(5).attributes == ("x",)
