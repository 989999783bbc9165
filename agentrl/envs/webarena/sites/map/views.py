"""What every page of the map shares: the part of the map that is shown, its picture, and the links that move it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from agentrl.envs.webarena.sites.map.atlas import Atlas, Feature, atlas
from agentrl.envs.webarena.sites.map.geo import CENTRE, Point, parse
from agentrl.envs.webarena.sites.map.picture import HEIGHT, WIDTH, ZOOMS, MapView
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

HOME = MapView(*CENTRE, 13)
MOVES = (
    ("Zoom in", "zoomin"), ("Zoom out", "zoomout"), ("North", "north"), ("South", "south"), ("West", "west"),
    ("East", "east"),
)  # fmt: skip
Marker = tuple[float, float, str]


def world_map(context: Context) -> Atlas:
    """The atlas of the episode's data."""
    return atlas(context.db)


def link(path: str, /, **fields: object) -> str:
    """An address with fields, spaces as %20."""
    kept = {name: value for name, value in fields.items() if value not in (None, "")}
    return f"{path}?{urlencode(kept, quote_via=quote)}" if kept else path


def point_of(context: Context, lat: str = "lat", lon: str = "lon") -> Point | None:
    """A point out of two fields of the address."""
    first, second = context.query(lat), context.query(lon)
    return parse(f"{first}, {second}") if first and second else None


def asked_view(context: Context, default: MapView) -> MapView:
    """The part of the map that the address asks for, moved as far as somebody has dragged it (in pixels)."""
    right, down = (_pixels(context, name) for name in ("dx", "dy"))
    view = _addressed_view(context, default)
    return view.moved(-right / WIDTH, -down / HEIGHT) if right or down else view


def _pixels(context: Context, name: str) -> int:
    """A distance or a place on the picture."""
    found = re.fullmatch(r"-?[0-9]{1,4}", context.query(name))
    return int(found[0]) if found else 0


def _addressed_view(context: Context, default: MapView) -> MapView:
    middle = point_of(context) or point_of(context, "mlat", "mlon")
    zoom = context.number(context.query("zoom"), 0, ZOOMS[-1])
    if middle is None:
        return MapView(default.lat, default.lon, max(ZOOMS[0], zoom)) if zoom else default
    # A point without a zoom level is looked at from near by.
    return MapView(round(middle[0], 5), round(middle[1], 5), max(ZOOMS[0], zoom) if zoom else max(15, default.zoom))


def map_page(
    context: Context, template: str, view: MapView, markers: Sequence[Marker] = (),
    route: Mapping[str, str] | None = None, **values: Any,
) -> Response:  # fmt: skip
    """A page with the map beside the sidebar."""
    shown = asked_view(context, view)
    marks = ";".join(f"{lat:.5f},{lon:.5f},{text}" for lat, lon, text in markers)
    picture = link("/map.svg", lat=shown.lat, lon=shown.lon, zoom=shown.zoom, markers=marks, **(route or {}))
    centre = point_of(context)
    return context.page(
        template, view=shown, picture=picture, picture_width=WIDTH, picture_height=HEIGHT, moves=_moves(context, shown),
        here=_address(context, shown), menu=_menu(context, shown),
        where=link("/search", whereami=1, query=f"{shown.lat},{shown.lon}"),
        nearby=link("/query", lat=shown.lat, lon=shown.lon),
        share=link("/share", lat=shown.lat, lon=shown.lon, zoom=shown.zoom, mlat=shown.lat, mlon=shown.lon),
        panned={"lat": shown.lat, "lon": shown.lon, "zoom": shown.zoom} if centre else {}, **values,
    )  # fmt: skip


def _moves(context: Context, view: MapView) -> list[dict[str, str]]:
    """Links to the same page with another part of the map."""
    targets = {
        "zoomin": view.zoomed(1), "zoomout": view.zoomed(-1), "north": view.moved(0, -0.5), "south": view.moved(0, 0.5),
        "west": view.moved(-0.5, 0), "east": view.moved(0.5, 0),
    }  # fmt: skip
    return [{"text": text, "name": name, "href": _address(context, targets[name])} for text, name in MOVES]


def _address(context: Context, view: MapView) -> str:
    """The same page with this part of the map."""
    moving = ("lat", "lon", "zoom", "dx", "dy", "x", "y")
    kept = {name: value for name, value in context.request.query if name not in moving}
    return link(context.request.path, **kept, lat=view.lat, lon=view.lon, zoom=view.zoom)


def _menu(context: Context, view: MapView) -> dict[str, Any] | None:
    """What a right click on the map offers, for the point that was clicked."""
    if not context.query("x"):
        return None
    x, y = (max(0, _pixels(context, name)) for name in ("x", "y"))
    at = view.moved(x / WIDTH - 0.5, y / HEIGHT - 0.5)
    point = f"{at.lat:.5f},{at.lon:.5f}"
    entries = [
        ("Directions from here", link("/directions", engine="fossgis_osrm_car", route=f"{point};")),
        ("Directions to here", link("/directions", engine="fossgis_osrm_car", route=f";{point}")),
        ("Show address", link("/search", whereami=1, query=point)),
        ("Query features", link("/query", lat=f"{at.lat:.5f}", lon=f"{at.lon:.5f}")),
        ("Centre map here", _address(context, MapView(at.lat, at.lon, view.zoom))),
    ]
    return {"left": min(x, WIDTH - 200), "top": min(y, HEIGHT - 190), "entries": entries}


def marker(feature: Feature, text: str = "") -> Marker:
    """The marker of a feature."""
    return feature.lat, feature.lon, text
