"""A world answers from its own data: pages that others changed, or that it changed itself, are never mixed up."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from agentrl.envs.webarena.sites import places
from agentrl.envs.webarena.sites.messages import Request
from agentrl.envs.webarena.sites.places import PLACES, cookies
from agentrl.envs.webarena.sites.world import Recent, World, place_of

NEWSLETTER = "http://shopping.localhost/newsletter/manage/"


def get(world: World, url: str, logged_in: bool = True) -> str:
    place = place_of(url)
    assert place is not None
    jar = cookies(tuple(PLACES)).get(place.origin, {}) if logged_in else {}
    response = world.fetch(Request("GET", url, cookies=jar))
    return response.text if response.location is None else response.location


def change(world: World) -> None:
    customer = world.database("store").row("SELECT * FROM customer WHERE email = 'emma.lopez@gmail.com'")
    assert customer is not None
    world.database("store").update(
        "customer", customer["id"], firstname="Zenobia", subscribed=1 - customer["subscribed"]
    )


def test_a_page_of_unchanged_data_is_the_same_object_in_every_episode() -> None:
    first, second = World(), World()
    url = "http://map.localhost/about"
    assert first.fetch(Request("GET", url)) is second.fetch(Request("GET", url))


def test_changes_show_at_once_and_only_in_their_own_world() -> None:
    changed, other = World(), World()
    before = get(changed, NEWSLETTER)
    change(changed)
    assert get(changed, NEWSLETTER) != before and "Zenobia" in get(changed, NEWSLETTER)
    assert get(other, NEWSLETTER) == before
    changed.clear()
    assert get(changed, NEWSLETTER) == before


def test_visitors_do_not_get_the_pages_of_members() -> None:
    world = World()
    member = get(world, NEWSLETTER)
    guest = get(world, NEWSLETTER, logged_in=False)
    assert guest != member and "login" in guest
    assert get(world, NEWSLETTER) == member


def test_a_pickled_world_keeps_its_changes() -> None:
    world = World()
    change(world)
    copy = pickle.loads(pickle.dumps(world))
    assert get(copy, NEWSLETTER) == get(world, NEWSLETTER) and copy.writes == world.writes


def test_addresses_that_belong_to_no_site_find_nobody() -> None:
    world = World()
    for url in (
        "http://elsewhere.example/",
        "https://shopping.localhost/",
        "http://[",
        "",
        "http://shopping.localhost:81/",
    ):
        assert world.fetch(Request("GET", url)).status == 404, url


def test_few_answers_are_kept_and_none_that_is_large() -> None:
    recent = Recent(most=2, largest=10)
    response = World().fetch(Request("GET", "http://elsewhere.example/"))
    recent.put("large", response)
    assert recent.get("large") is None
    small = type(response)("x")
    for key in "abc":
        recent.put(key, small)
    assert recent.get("a") is None and recent.get("c") is small


def test_browsers_keep_nothing_that_a_visitor_can_change() -> None:
    world = World()
    store = world.database("store")
    product = dict(store.rows("SELECT * FROM product LIMIT 1")[0])
    added = store.insert(
        "product", **{**product, "id": None, "sku": "ADDED", "url_key": "added", "catalogue_index": None}
    )
    paths = {"/static/base.css": True, f"/media/catalog/product/{product['id']}.png": True}
    paths |= {f"/media/catalog/product/{added}.png": False, "/": False, "/static/none.css": False}
    found = {path: world.fetch(Request("GET", f"http://shopping.localhost{path}")).lasting for path in paths}
    assert found == paths


@pytest.mark.parametrize("changed", ["formats.py", "database.py", "site.py", "words.toml", "schema.sql"])
def test_base_data_gets_another_name_when_something_that_makes_it_has_changed(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTRL_CACHE", str(tmp_path))
    monkeypatch.setattr(places, "_build", lambda path, module: path.touch())  # the name is all that matters
    before, read = places.base_file.__wrapped__("map"), Path.read_bytes
    assert places.base_file.__wrapped__("map") == before
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path.name == changed))
    assert places.base_file.__wrapped__("map") != before
