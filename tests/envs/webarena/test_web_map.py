"""The map site: every page answers, search finds what there is, hostile addresses break nothing."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from lxml import html

from agentrl.envs.webarena.sites.map.atlas import Atlas, atlas
from agentrl.envs.webarena.sites.map.geo import CENTRE
from agentrl.envs.webarena.sites.map.search import find, search
from agentrl.envs.webarena.sites.messages import Request, Response
from agentrl.envs.webarena.sites.world import World

ORIGIN = "http://map.localhost"
HOSTILE = (
    "",
    " ",
    "'",
    '"',
    "';--",
    "<script>alert(1)</script>",
    "{{ 7 * 7 }}",
    "%",
    "%00",
    "%ff",
    "a" * 100_000,
    "near",
    "near near",
    "cafes near",
    "near Castle Park",
    "in",
    ",",
    ",,,",
    "46.82,",
    "999, 999",
    "nan, nan",
    "inf, 0",
    "1e400, 0",
    "-0,-0",
    "46.82, -35.41, 3",
    "\x00",
    "é" * 50,
    "🗺",
    "12",
    "0x10, 3",
    "cafes near 46.82, -35.41",
    "*",
    "_",
    "SELECT 1",
    "../..",
    "cafes near cafes near cafes",
    "by by by by by by by by by",
    "١٢ Mill Street",
    "restaurants in in in Ashgrove",
)


@pytest.fixture(scope="module")
def world() -> World:
    return World()


@pytest.fixture(scope="module")
def known(world: World) -> Atlas:
    return atlas(world.database("map"))


def get(world: World, path: str) -> Response:
    """The page, after redirects."""
    response = world.fetch(Request("GET", ORIGIN + path))
    for _ in range(3):
        if response.location is None:
            break
        response = world.fetch(Request("GET", ORIGIN + response.location))
    return response


def sidebar(response: Response) -> str:
    """The text of the sidebar, spaces collapsed."""
    found = html.fromstring(response.text).get_element_by_id("sidebar_content")
    return " ".join(found.text_content().split())


def test_there_is_plenty_on_the_map(known: Atlas) -> None:
    assert len(known.places) > 5_000
    assert len(known.graph.roads) > 4_000
    assert sum(place.label == "Town" for place in known.settlements) >= 15
    spots = [place.coordinates for place in known.places]
    assert len(set(spots)) == len(spots)  # addresses of routes name places by their coordinates


def test_the_pages_of_the_site_answer(world: World) -> None:
    kinds = {
        "/": "home",
        "/search?query=cafes": "search",
        "/node/100200": "node",
        "/way/20005": "way",
        "/directions": "directions",
        "/query?lat=46.82&lon=-35.41": "query",
        "/share": "share",
        "/about": "about",
        "/help": "help",
        "/copyright": "copyright",
    }
    for path, kind in kinds.items():
        response = get(world, path)
        assert response.status == 200, path
        assert f'data-page="{kind}"' in response.text
        assert response.text.count("<script") == response.text.count('<script src="/static/behaviours.js"') == 1
        (picture,) = html.fromstring(response.text).xpath("//img/@src")
        drawn = get(world, picture)
        assert (drawn.status, drawn.content_type) == (200, "image/svg+xml")
        html.fromstring(drawn.text.encode())
    assert world.writes == 0


def test_every_link_of_the_pages_leads_somewhere(world: World) -> None:
    waiting = ["/", "/search?query=hotels%20in%20Ashgrove", "/node/100200", "/directions", "/share"]
    for path in list(waiting):
        waiting += html.fromstring(get(world, path).text).xpath("//a/@href")
    for path in dict.fromkeys(path.removeprefix(ORIGIN) for path in waiting):
        assert get(world, path).status == 200, path


def test_search_finds_every_place_by_its_name(known: Atlas) -> None:
    for feature in known.features:
        if feature.name:
            hits = search(known, feature.name, CENTRE)
            assert any(hit.feature is feature for hit in hits), feature.name
            assert hits[0].feature.name == feature.name
        else:
            address = f"{feature.number} {feature.street}, {feature.settlement}"
            assert any(hit.feature is feature for hit in search(known, address, CENTRE)[:10]), address


def test_the_whole_address_finds_the_very_place(known: Atlas) -> None:
    for feature in known.places[::23]:
        found = find(known, feature.display_name, CENTRE)
        assert found is not None
        assert found.display_name == feature.display_name


@pytest.mark.parametrize(
    ("query", "category", "settlement"),
    [
        ("cafes near Castle Park", "cafe", "Veldhaven"),
        ("hotels in Ashgrove", "hotel", "Ashgrove"),
        ("nearest pharmacy to Veldhaven Town Hall", "pharmacy", "Veldhaven"),
        ("supermarkets, Oldcastle", "supermarket", "Oldcastle"),
        ("Italian restaurants near Old Town", "restaurant", "Veldhaven"),
        ("gas stations in Grayling", "fuel", "Grayling"),
    ],
)
def test_kinds_of_places_are_found_around_a_place(known: Atlas, query: str, category: str, settlement: str) -> None:
    hits = search(known, query, CENTRE)
    assert hits
    assert {hit.feature.category for hit in hits} == {category}
    assert hits[0].feature.settlement == settlement
    distances = [hit.metres for hit in hits if hit.metres is not None]
    assert len(distances) == len(hits)
    assert distances == sorted(distances)
    if query.startswith("Italian"):
        assert {hit.feature.tags["cuisine"] for hit in hits} == {"italian"}


def test_coordinates_name_what_is_there(world: World, known: Atlas) -> None:
    place = known.places[500]
    hits = search(known, f"{place.lat}, {place.lon}", CENTRE)
    assert hits[0].feature is place
    assert {"City", "District"} <= {hit.feature.label for hit in hits}
    assert "No results found" in sidebar(get(world, "/search?query=12,12"))


def test_results_come_in_pages(world: World, known: Atlas) -> None:
    total, seen, path = len(search(known, "museums", CENTRE)), list[str](), "/search?query=museums"
    while path:
        page = html.fromstring(get(world, path).text)
        seen += page.xpath("//li[@class='search_results_entry']//a/@href")
        path = next(iter(page.xpath("//a[text()='More results']/@href")), "")
    assert len(seen) == len(set(seen)) == total > 20


def test_a_place_shows_all_that_is_known(world: World, known: Atlas) -> None:
    place = next(place for place in known.places if place.category == "restaurant" and place.tags.get("website"))
    text = sidebar(get(world, place.path))
    for wanted in (
        place.name,
        place.postcode,
        place.tags["phone"],
        place.tags["website"],
        place.tags["cuisine"],
        f"{place.lat:.5f}, {place.lon:.5f}",
        place.street,
    ):
        assert wanted in text
    other = "/way/" if place.element == "node" else "/node/"
    assert get(world, f"{other}{place.id}").status == 404


def test_spaces_of_a_search_are_written_as_the_benchmark_expects(world: World) -> None:
    response = world.fetch(Request("GET", f"{ORIGIN}/search?query=hotels+near+Castle+Park"))
    assert response.location == "/search?query=hotels%20near%20Castle%20Park"


def test_the_directions_form_has_the_hooks_of_the_benchmark(world: World, known: Atlas) -> None:
    start, end = known.places[10], known.places[3000]
    fields = f"route_from={quote(start.display_name)}&route_to={quote(end.display_name)}"
    response = get(world, f"/directions?{fields}&engine=fossgis_osrm_car")
    page = html.fromstring(response.text)
    (origin,), (target,) = page.xpath("//*[@name='route_from']/@value"), page.xpath("//*[@name='route_to']/@value")
    assert (origin, target) == (start.display_name, end.display_name)
    (select,) = page.cssselect("div#content select.routing_engines")
    options = select.findall("option")
    assert [option.get("selected") is not None for option in options] == [False, True, False]
    assert re.search(r"Distance: [\d.]+k?m\. Time: \d+:\d\d\.", sidebar(response))
    assert page.cssselect("tr.turn td.instruction")
    (reverse,) = page.xpath("//a[@class='reverse_directions']/@href")
    back = html.fromstring(get(world, reverse).text)
    assert back.xpath("//*[@name='route_from']/@value") == [end.display_name]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ("route_from=zzzz&route_to=Ashgrove", "nothing called 'zzzz'"),
        ("route_from=Ashgrove&route_to=", "Both ends"),
        ("route=46.82,-35.41;12,12", "No route was found"),
        ("route=46.82,-35.41", "Enter where"),
        ("route=x;y;z", "Enter"),
    ],
)
def test_what_cannot_be_routed_is_said(world: World, fields: str, words: str) -> None:
    assert words in sidebar(get(world, f"/directions?{fields}"))


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_queries_break_nothing(world: World, text: str) -> None:
    sent = quote(text)
    for path in (
        f"/search?query={sent}",
        f"/directions?route_from={sent}&route_to={sent}",
        f"/directions?route={sent};{sent}",
        f"/?lat={sent}&lon={sent}&zoom={sent}",
        f"/node/{sent}",
        f"/query?lat={sent}&lon={sent}",
        f"/map.svg?lat={sent}&lon=-35&zoom={sent}&markers={sent},1,x;{sent}&route={sent};{sent}",
        f"/share?mlat={sent}&mlon={sent}&lat=90&lon=180",
        f"/search?query=cafe&page={sent}",
        f"/?{sent}={sent}&path=x&self=y&context=z",
    ):
        response = get(world, path)
        assert response.status in (200, 404), path[:80]
        assert "<script>alert" not in response.text
    assert world.writes == 0
