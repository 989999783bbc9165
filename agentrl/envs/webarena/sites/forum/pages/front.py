"""The front page: submissions of featured, subscribed, moderated or all forums."""

from __future__ import annotations

from typing import Any

from agentrl.envs.webarena.sites.forum.app import is_moderator, site
from agentrl.envs.webarena.sites.forum.listing import ORDERS, sort_and_time, sort_links, submissions
from agentrl.envs.webarena.sites.forum.pictures import picture
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context, LoginNeeded, NotFound

LISTINGS = {"featured": "Featured", "subscribed": "Subscribed", "moderated": "Moderated", "all": "All"}
WHERE = {
    "featured": "f.is_featured",
    "subscribed": "f.id IN (SELECT forum_id FROM subscription WHERE user_id = ?)",
    "moderated": "f.id IN (SELECT forum_id FROM moderator WHERE user_id = ?)",
    "all": "f.id NOT IN (SELECT forum_id FROM hidden_forum WHERE user_id = ?)",
}


@site.get("/", *(f"/{sort}" for sort in ORDERS))
def front_page(context: Context) -> Response:
    """The list that the member prefers."""
    user = context.user
    preferred = user["front_page"] if user is not None else "default"
    if preferred == "default":
        preferred = "subscribed" if user is not None and _has_subscriptions(context, user["id"]) else "featured"
    return _listing(context, preferred, "", user["front_page_sort"] if user is not None else "hot")


@site.get(*(f"/{listing}" for listing in LISTINGS), *(f"/{name}/{sort}" for name in LISTINGS for sort in ORDERS))
def listing_page(context: Context) -> Response:
    """One of the lists, in the order that the address asks for."""
    listing = context.request.path.split("/")[1]
    return _listing(context, listing, f"/{listing}", "hot")


def _listing(context: Context, listing: str, path: str, default_sort: str) -> Response:
    if context.user is None and listing in ("subscribed", "moderated"):
        raise LoginNeeded
    sort, time = sort_and_time(context, default_sort)
    values = [] if listing == "featured" else [context.user["id"] if context.user is not None else -1]
    page = submissions(context, WHERE[listing], values, sort, time)
    return context.page(
        "front.html", listing=listing, listings=LISTINGS, page=page, sort=sort, sidebar=front_sidebar(context),
        links=sort_links(path, sort, time),
    )  # fmt: skip


def front_sidebar(context: Context) -> dict[str, Any]:
    """What stands beside the front page: the member's forums, else featured ones; the newest comments."""
    db, user = context.db, context.user
    mine = "SELECT f.* FROM forum f JOIN subscription s ON s.forum_id = f.id WHERE s.user_id = ? ORDER BY f.name"
    featured = "SELECT * FROM forum WHERE is_featured ORDER BY name"
    subscribed = db.rows(mine, user["id"]) if user is not None else []
    return {
        "forum": None,
        "title": "Subscribed forums" if user is not None else "Featured forums",
        "forums": subscribed if user is not None else db.rows(featured),
        "moderates": [row for row in subscribed if is_moderator(context, row["id"])],
    }


def _has_subscriptions(context: Context, user_id: int) -> bool:
    return bool(context.db.value("SELECT 1 FROM subscription WHERE user_id = ?", user_id))


@site.get("/submission_images/{name}")
def image(context: Context) -> Response:
    """A picture of a submission."""
    drawing = picture(context.params["name"])
    if drawing is None:
        raise NotFound
    return Response(drawing, content_type="image/svg+xml", lasting=True)
