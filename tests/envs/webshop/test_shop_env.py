"""The environment: reward and its terms, the truth, snapshots, sessions in one shop, files, bad arguments."""

from __future__ import annotations

import gc
import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import psutil
import pytest

import agentrl
from agentrl.core.cache import forget_caches
from agentrl.core.errors import ConfigError, SnapshotError
from agentrl.core.snapshot import open_blob, seal_blob
from agentrl.envs.common.catalogue.generated import GeneratedCatalogue
from agentrl.envs.common.search.index import FILE_NAME
from agentrl.envs.webshop.env import WebShopEnv
from agentrl.envs.webshop.reward import Reward, TypeScore, exact_terms
from tests.envs.webshop.shop_kit import SMALL, small_shop


def follow_oracle(env: WebShopEnv, turns: int = 99) -> tuple[float, dict[str, Any]]:
    reward, info = 0.0, {}
    for _ in range(turns):
        action = env.oracle()
        if action is None:
            break
        _, reward, _, _, info = env.step(action)
    return reward, info


def goal_with_options(env: WebShopEnv) -> str:
    goals = env.shop.goals(env.split)
    return next(task for place, task in enumerate(env.tasks()) if len(goals[place].options) > 0)


# ---------------------------------------------------------------------- reward


def test_the_right_purchase_earns_one_in_named_shares() -> None:
    env = small_shop()
    env.reset(options={"task": goal_with_options(env)})
    goal = env.goal
    reward, info = follow_oracle(env)
    asked = len(goal.attributes) + len(goal.options) + 1
    assert reward == 1.0 and info["success"]
    assert info["reward_terms"] == pytest.approx(
        {"attributes": len(goal.attributes) / asked, "options": len(goal.options) / asked, "price": 1 / asked}
    )
    assert info["purchase"]["total"] == info["purchase"]["type"] == info["purchase"]["options"] == 1.0
    assert info["metrics"] == {"score": 1.0} and info["available_actions"]["clickables"] == []


def test_buying_without_the_options_costs_exactly_their_share() -> None:
    env = small_shop()
    env.reset(options={"task": goal_with_options(env)})
    goal = env.goal
    while env.state().product != goal.asin:
        env.step(env.oracle())
    _, reward, terminated, _, info = env.step("click[buy now]")
    asked = len(goal.attributes) + len(goal.options) + 1
    assert terminated and not info["success"]
    assert reward == pytest.approx(1 - len(goal.options) / asked)
    assert info["purchase"]["options"] == 0.0 and info["purchase"]["attributes"] == 1.0
    assert env.state().unmet == tuple(f"option {value}" for value in goal.options)


@pytest.mark.parametrize("asked", range(1, 24))
def test_terms_add_up_to_the_total_to_the_bit(asked: int) -> None:
    for attributes in range(asked):
        for factor in (1.0, 0.5, 0.1, 0.0):
            options = asked - 1 - attributes
            total = (attributes + options + 1) / asked * factor
            kind = TypeScore(factor, 1.0, True, True)
            reward = Reward(total, kind, ("a",) * attributes, ("o",) * options, True, asked)
            assert math.fsum(exact_terms(reward).values()) == total


def test_nothing_is_paid_before_buying_and_the_limit_truncates() -> None:
    env = small_shop(max_turns=3)
    env.reset(seed=0)
    results = [env.step("search[<r>]") for _ in range(3)]
    assert [reward for _, reward, *_ in results] == [0.0, 0.0, 0.0]
    assert [truncated for *_, truncated, _ in results] == [False, False, True]
    assert results[-1][4]["limit"] == "task" and results[-1][4]["metrics"] == {"score": 0.0}


def test_an_invalid_penalty_can_be_chosen() -> None:
    env = small_shop(invalid_penalty=-0.1)
    env.reset(seed=0)
    _, reward, _, _, info = env.step("nonsense")
    assert reward == -0.1 and info["reward_terms"] == {"invalid": -0.1}


# ---------------------------------------------------------------------- the truth


def test_what_is_unmet_shrinks_as_the_right_things_are_chosen() -> None:
    env = small_shop()
    env.reset(options={"task": goal_with_options(env)})
    unmet = [len(env.state().unmet)]
    while (action := env.oracle()) is not None:
        env.step(action)
        unmet.append(len(env.state().unmet))
    goal = env.goal
    assert unmet[0] == len(goal.attributes) + len(goal.options) + 2
    assert unmet[-1] == 0 and unmet == sorted(unmet, reverse=True)


def test_sentences_and_names_say_where_the_shopper_stands() -> None:
    env = small_shop()
    env.reset(seed=5)
    assert env.state().natural()[0] == "The page is the search page."
    env.step("search[<r>]")
    said = " ".join(env.state().natural())
    assert "page 1 of the results" in said and "<" not in said  # nothing that could pass for a tag
    while not env.state().product:
        env.step(env.oracle())
    state = env.state()
    assert state.product in state.natural()[0] and "No option is chosen." in state.natural()
    assert state.structured()["product"] == state.product
    assert env.goal.asin not in str(small_shop_start(7).natural())


def small_shop_start(seed: int) -> Any:
    env = small_shop()
    env.reset(seed=seed)
    return env.state()


def test_tool_calls_are_actions_and_back() -> None:
    env = small_shop()
    env.reset(seed=0)
    assert env.tool_action("search", {"words": "a], click[buy now"}) == "search[a , click buy now]"
    calls = env.tool_calls("click[buy now]")
    assert calls == [{"name": "click", "arguments": {"what": "buy now"}}]
    assert env.tool_action(calls[0]["name"], calls[0]["arguments"]) == "click[buy now]"


def test_history_is_shown_as_asked() -> None:
    env = small_shop(num_prev_obs=1, num_prev_actions=2)
    first = env.reset(seed=0)[0]["text"]
    plain = small_shop()
    plain.reset(seed=0)
    texts = [first]
    for action in ("search[lamp]", "Click[Next >]"):
        plain_text = plain.step(action)[0]["text"]
        shown = env.step(action)[0]["text"]
        texts.append(plain_text)
    assert shown == f"search[lamp] [SEP] {texts[1]} [SEP] click[next >] [SEP] {texts[2]}"


# ---------------------------------------------------------------------- forks


def test_a_snapshot_is_small_and_continues_anywhere() -> None:
    env, fork = (gym.make("agentrl/WebShop-Text-v0", catalogue_size=SMALL, split="test") for _ in range(2))
    env.reset(seed=2)
    for action in ("search[<r>]", "click[next >]"):
        env.step(action)
    blob = agentrl.snapshot(env)
    assert len(blob) < 2_000
    agentrl.restore(fork, blob)
    for action in ("click[< prev]", "search[<r>]"):  # the lots to come are saved as well
        assert env.step(action)[0] == fork.step(action)[0]


def forged(env: WebShopEnv, **place: Any) -> bytes:
    data = open_blob(env.snapshot(), env._identity())
    data["world"]["place"] = {**data["world"]["place"], **place}
    return seal_blob(env._identity(), data)


@pytest.mark.parametrize(
    "place",
    [
        {"page": "till"}, {"page": "results"}, {"page": "item", "asin": "B000"}, {"number": -1}, {"number": 10**9},
        {"query": "x" * 2000}, {"query": "Upper"}, {"options": [["size", "large"]]}, {"page": "done"},
        {"page": "results", "query": "lamp", "number": 1, "lot": -5},
    ],
)  # fmt: skip
def test_forged_places_are_refused_and_change_nothing(place: dict[str, Any]) -> None:
    env = small_shop()
    env.reset(seed=0)
    before = env.snapshot()
    with pytest.raises(SnapshotError):
        env.restore(forged(env, **place))
    assert env.snapshot() == before


def test_a_product_that_the_search_does_not_show_cannot_be_open() -> None:
    env = small_shop()
    env.reset(seed=0)
    while not env.state().product:
        env.step(env.oracle())
    shown = set(env.shop.hits(env.state().query))
    docids = (env.shop.catalogue.docid(number) for number in range(SMALL))
    other = next(asin for asin in docids if asin not in shown)
    with pytest.raises(SnapshotError):
        env.restore(forged(env, asin=other))


# ---------------------------------------------------------------------- one shop for all


def test_a_thousand_sessions_share_one_shop_and_do_not_disturb_each_other() -> None:
    sessions = [small_shop() for _ in range(1_000)]
    assert len({id(env.shop) for env in sessions}) == 1
    for number, env in enumerate(sessions):
        env.reset(options={"task": env.tasks()[number % len(env.tasks())]})
    while running := [env for env in sessions if env.oracle() is not None]:
        for env in running:
            env.step(env.oracle())
    assert all(env.state().score == 1.0 for env in sessions)


@pytest.mark.long
def test_memory_does_not_grow_with_episodes(
    record_property: pytest.RecordProperty, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentrl.envs.webshop.shop.BODIES_KEPT", 500)  # so that the bound is reached soon
    env, process = small_shop(split="train"), psutil.Process()
    env.reset(seed=0)

    def play(episodes: int) -> int:
        for _ in range(episodes):
            env.reset()
            for action in ("search[<r>]", "click[next >]", "click[< prev]"):  # a new page each time
                env.step(action)
            env.step(f"click[{env.state().results[0].lower()}]")
            env.step("click[buy now]")
        gc.collect()
        return process.memory_info().rss

    before = play(1_000)  # fills what is remembered, which has bounds
    grown = play(1_500) - before
    record_property("figures", f"{grown / 2**20:.1f} MiB more after 1,500 further episodes")
    assert grown < 12 * 2**20
    assert len(env.shop._bodies) <= 500


def test_the_index_lives_in_the_cache_and_a_damaged_one_is_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path))
    env = small_shop(catalogue_seed=5)
    env.reset(seed=0)
    expected = env.shop.hits("cotton shirt")
    (file,) = tmp_path.rglob(FILE_NAME)
    data = bytearray(file.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 200_000] = bytes(len(data[middle : middle + 200_000]))
    file.unlink()
    file.write_bytes(data)
    forget_caches()
    again = small_shop(catalogue_seed=5)
    assert again.shop is not env.shop
    goals = again.shop.goals("test")
    for place in range(20):
        assert goals[place].asin in again.shop.hits(goals[place].reference_query)
    assert again.shop.hits("cotton shirt") == expected
    assert file.read_bytes() != bytes(data)


def test_half_an_index_is_never_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path))
    expected = small_shop(catalogue_seed=6).shop.hits("lamp")
    (file,) = tmp_path.rglob(FILE_NAME)
    half = file.read_bytes()[: file.stat().st_size // 2]
    file.unlink()
    file.write_bytes(half)
    forget_caches()
    assert small_shop(catalogue_seed=6).shop.hits("lamp") == expected


# ---------------------------------------------------------------------- the benchmark's own files


def write_official(folder: Path) -> None:
    """Three products and their instructions, in the benchmark's format."""
    shirt = {
        "asin": "B000000001", "name": "Blue <b>Cotton</b> Shirt", "full_description": "Soft.",
        "small_description": ["Machine wash", "Slim fit"], "pricing": "$19.99$27.99", "images": [],
        "product_category": "Clothing \u203a Men \u203a Shirts", "category": "fashion", "query": "men's shirts",
        "customization_options": {"size": [{"value": "Large"}, {"value": "S/M"}]}, "average_rating": 4.5,
    }  # fmt: skip
    lamp = {**shirt, "asin": "B000000002", "name": "Desk Lamp", "query": "lamps", "category": "garden"}
    lamp |= {"product_category": "Home \u203a Light \u203a Lamps", "pricing": "$12.00", "customization_options": ""}
    other = {**shirt, "asin": "B000000003", "name": "Red Cotton Shirt", "pricing": ""}
    attributes = {asin: {"attributes": ["machine wash"]} for asin in ("B000000001", "B000000002", "B000000003")}
    wish = {"asin": "B000000001", "instruction": "i want a cotton shirt in large.", "attributes": ["machine wash"],
            "options": ["size: large"], "instruction_attributes": ["machine wash"], "instruction_options": ["large"],
            "assignment_id": "x", "worker_id": "y"}  # fmt: skip
    human = {"B000000001": [wish], "B000000002": [{**wish, "asin": "B000000002", "instruction_options": []}]}
    (folder / "items_shuffle.json").write_text(json.dumps([shirt, lamp, other]))
    (folder / "items_ins_v2.json").write_text(json.dumps(attributes))
    (folder / "items_human_ins.json").write_text(json.dumps(human))


def test_the_benchmarks_files_make_the_same_shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "data").mkdir()
    write_official(tmp_path / "data")
    env = gym.make("agentrl/WebShop-Text-v0", data_dir=str(tmp_path / "data")).unwrapped
    assert isinstance(env, WebShopEnv)
    products = [env.shop.catalogue.product(number) for number in range(len(env.shop.catalogue))]
    assert env.shop.listings(range(len(products))) == [(product.title, product.price_tag) for product in products]
    solved = 0
    for task in env.tasks():
        env.reset(options={"task": task})
        reward, info = follow_oracle(env)
        solved += reward == 1.0 and info["success"]
    assert len(env.tasks()) > 0 and solved == len(env.tasks())


@pytest.mark.parametrize(
    "arguments",
    [
        {"observation_mode": "xml"}, {"kind": "sound"}, {"catalogue_size": 10}, {"catalogue_size": 2_000_000},
        {"catalogue_seed": -1}, {"goals": "robot"}, {"goals": "synthetic"}, {"products": "x.json"}, {"data_dir": 7},
        {"num_prev_obs": -1}, {"num_prev_actions": 1.5}, {"image_size": 10}, {"max_actions_per_turn": 2},
        {"data_dir": "/no/such/folder"}, {"observation_modes": "text"},
    ],
)  # fmt: skip
def test_bad_arguments_are_named(arguments: dict[str, Any]) -> None:
    name = "goals" if "goals" in arguments else "folder" if "/no" in str(arguments) else next(iter(arguments))
    with pytest.raises(ConfigError, match=name):
        small_shop(**arguments)


@pytest.mark.parametrize("task", ["test-99999999", "train-0", "test-00", "test--1", "test-\u0663", "", 3, "test-1 "])
def test_unknown_tasks_are_refused(task: Any) -> None:
    env = small_shop()
    with pytest.raises(ConfigError, match="task"):
        env.reset(options={"task": task})


def test_stored_listings_are_those_that_the_catalogue_writes() -> None:
    shop = small_shop().shop
    catalogue = shop.catalogue
    assert isinstance(catalogue, GeneratedCatalogue)
    assert shop.listings(range(SMALL)) == [
        (product.title, product.price_tag) for product in map(catalogue.product, range(SMALL))
    ]
    for query in ("shampoo", "<r>", "<c> beauty", "zzz"):
        found = shop.found(query, lot=3)
        assert found.asins == shop.hits(query, lot=3) == tuple(catalogue.docid(number) for number in found.numbers)


def test_damaged_listings_are_repaired_under_a_shoppers_feet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = small_shop()
    good.reset(seed=1)
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path))
    assert len(small_shop().shop.index) == SMALL
    (file,) = tmp_path.rglob(FILE_NAME)
    content = file.read_bytes()
    first = content.index(good.shop.listings([0])[0][0].encode())
    file.unlink()  # whoever has it open keeps it
    file.write_bytes(content[:first] + content[first : first + 90_000].swapcase() + content[first + 90_000 :])
    forget_caches()
    env = small_shop()
    env.reset(seed=1)
    for action in ("search[for women]", *["click[next >]"] * 4):
        assert env.step(action)[0] == good.step(action)[0]  # letters of the wrong size would look all right
    env.shop.index.index.verify()
    assert file.read_bytes() == content


def test_one_product_found_in_two_ways_is_one_page() -> None:
    env = small_shop()
    env.reset(seed=0)
    product = env.shop.catalogue.product(7)
    bodies = []
    for query in (product.title, f"{product.title} again"):
        env.step(f"search[{query}]")
        env.step(f"click[{product.asin.lower()}]")
        assert env.state().product == product.asin
        bodies.append(env.page.body)
    assert bodies[0] is bodies[1]


def test_without_rapidfuzz_the_extra_is_named() -> None:
    code = "import sys; sys.modules['rapidfuzz'] = None; import agentrl.envs.webshop.env"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "MissingExtra: rapidfuzz is not installed; run: pip install 'agentrl-suite[webshop]'" in done.stderr
