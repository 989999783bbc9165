"""The map's `site` and its pages: the map itself, search, places, what is near by, sharing, texts. It has no accounts,
and nothing on it changes."""

from __future__ import annotations

from urllib.parse import quote, urlencode, urlsplit

from agentrl.envs.webarena.sites.map.directions import ENGINES, directions, route_points, routed, written_distance
from agentrl.envs.webarena.sites.map.geo import CENTRE, parse
from agentrl.envs.webarena.sites.map.picture import MapView, draw, fitting
from agentrl.envs.webarena.sites.map.search import search, whereabouts
from agentrl.envs.webarena.sites.map.views import (
    HOME,
    asked_view,
    link,
    map_page,
    marker,
    point_of,
    world_map,
)  # fmt: skip
from agentrl.envs.webarena.sites.map.words import CATEGORIES
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, NotFound, Site

site = Site("map", "map", "map_session")
site.get("/directions")(directions)
PER_PAGE = 10
QUICK = ("restaurant", "cafe", "hotel", "supermarket", "pharmacy", "museum", "station", "bank", "park", "parking")
NEARBY = ("restaurant", "cafe", "hotel", "supermarket", "pharmacy", "bus_stop", "atm", "parking")


@site.get("/")
def home(context: Context) -> Response:
    """The map, with what one may look for beside it."""
    atlas, pin = world_map(context), point_of(context, "mlat", "mlon")
    towns = [place for place in atlas.settlements if place.label != "District"]
    kinds = [(CATEGORIES[name].plural, link("/search", query=CATEGORIES[name].plural)) for name in QUICK]
    markers = [(*pin, "")] if pin else []
    pinned = whereabouts(atlas, pin)[0].feature if pin and whereabouts(atlas, pin) else None
    return map_page(
        context, "home.html", HOME, markers, towns=towns, kinds=kinds, places=len(atlas.places), pin=pin, pinned=pinned
    )


@site.get("/search")
def results(context: Context) -> Response:
    """What a search has found, ten at a time."""
    if "+" in urlsplit(context.request.url).query:  # as the site's own links write spaces
        return context.redirect(f"/search?{urlencode(context.request.query, quote_via=quote)}")
    atlas, query = world_map(context), context.query("query").strip()
    hits = search(atlas, query, point_of(context) or CENTRE)
    page = max(1, context.number(context.query("page"), 1, 10_000))
    shown = hits[(page - 1) * PER_PAGE : page * PER_PAGE]
    first = (page - 1) * PER_PAGE + 1
    entries = [
        {
            "place": hit.feature,
            "number": first + index,
            "away": "" if hit.metres is None else written_distance(hit.metres),
        }
        for index, hit in enumerate(shown)
    ]
    more = link("/search", query=query, page=page + 1) if page * PER_PAGE < len(hits) else ""
    view = fitting([(hit.feature.lat, hit.feature.lon) for hit in shown]) if shown else HOME
    markers = [marker(entry["place"], str(entry["number"])) for entry in entries]
    return map_page(
        context, "search.html", view, markers, query=query, entries=entries, more=more, total=len(hits), first=first,
        previous=link("/search", query=query, page=page - 1) if page > 1 else "",
    )  # fmt: skip


@site.get("/node/{number}", "/way/{number}")
def feature_page(context: Context) -> Response:
    """A place, an address, a street or a town with everything that is known about it."""
    element = context.request.path.split("/")[1]
    place = world_map(context).by_id.get(context.number(context.params["number"], -1))
    if place is None or place.element != element:
        raise NotFound
    zoom = {"City": 12, "Town": 14, "District": 14}.get(place.label, 17)
    here = f"{place.lat}, {place.lon}"
    nearby = [
        (CATEGORIES[name].plural, link("/search", query=f"{CATEGORIES[name].plural} near {here}")) for name in NEARBY
    ]
    return map_page(
        context, "feature.html", MapView(place.lat, place.lon, zoom), [marker(place)], place=place, nearby_kinds=nearby,
        whats_here=link("/query", lat=place.lat, lon=place.lon),
        to_here=link("/directions", engine=ENGINES[1].name, route=f";{place.coordinates}"),
        from_here=link("/directions", engine=ENGINES[1].name, route=f"{place.coordinates};"),
    )  # fmt: skip


@site.get("/query")
def query_features(context: Context) -> Response:
    """What is near a point, and what it lies in."""
    atlas, point = world_map(context), point_of(context)
    if point is None:
        raise NotFound
    near = [(place, written_distance(metres)) for metres, place in atlas.nearest(*point, 20) if metres < 100_000]
    around = [hit.feature for hit in whereabouts(atlas, point) if hit.feature.kind != "place"]
    return map_page(context, "query.html", MapView(*point, 17), [(*point, "")], near=near, around=around, point=point)


@site.get("/share")
def share(context: Context) -> Response:
    """Addresses to send to others."""
    view = asked_view(context, HOME)
    pin = point_of(context, "mlat", "mlon") or (view.lat, view.lon)
    lat, lon = pin
    link_text = f"{context.request.origin}/?mlat={lat:.5f}&mlon={lon:.5f}&zoom={view.zoom}"
    return map_page(context, "share.html", view, [(lat, lon, "")], pin=pin, address=link_text)


@site.get("/map.svg")
def picture(context: Context) -> Response:
    """The map as a picture."""
    atlas, view, markers = world_map(context), asked_view(context, HOME), []
    for text in context.query("markers").split(";")[:20]:
        lat, _, rest = text.partition(",")
        lon, _, label = rest.partition(",")
        if (point := parse(f"{lat},{lon}")) is not None:
            markers.append((*point, label[:3]))
    found = routed(atlas, context.query("engine"), route_points(context.query("route")))
    points = found.points if found else ()
    return Response(draw(atlas, view, tuple(markers), points), content_type="image/svg+xml", lasting=True)


@site.get("/about", "/help", "/copyright")
def text_page(context: Context) -> Response:
    """About, help and copyright."""
    return map_page(context, f"{context.request.path.strip('/')}.html", HOME)
