"""The map: routes to its pages. It has no accounts, and nothing on it changes."""

from __future__ import annotations

from agentrl.envs.webarena.sites.map import pages
from agentrl.envs.webarena.sites.map.directions import directions
from agentrl.envs.webarena.sites.site import Site

site = Site("map", "map", "map_session")
site.get("/")(pages.home)
site.get("/search")(pages.results)
site.get("/node/{number}", "/way/{number}")(pages.feature_page)
site.get("/directions")(directions)
site.get("/query")(pages.query_features)
site.get("/share")(pages.share)
site.get("/map.svg")(pages.picture)
site.get("/about", "/help", "/copyright")(pages.text_page)
