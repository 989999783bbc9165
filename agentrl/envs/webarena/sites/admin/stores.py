"""Settings of the store: its name, address and what its web site is called. Embedded ones can only be looked at."""

from __future__ import annotations

from agentrl.envs.webarena.sites.admin.base import STORE_NAME, site
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

CONFIGURATION = (
    ("Store Information", (
        ("Store Name", STORE_NAME), ("Country", "United States"), ("Store Hours of Operation", "Mo-Fr 9:00 to 18:00"),
    )),
    ("Locale Options", (
        ("Timezone", "Eastern Standard Time (America/New York)"), ("Locale", "English (United States)"),
        ("Weight Unit", "lbs"), ("First Day of Week", "Sunday"),
    )),
    ("Currency Options", (("Base Currency", "US Dollar"), ("Default Display Currency", "US Dollar"))),
    ("Catalog Inventory", (
        ("Decrease Stock When Order is Placed", "Yes"), ("Out-of-Stock Threshold", "0"),
        ("Display Out of Stock Products", "Yes"),
    )),
)  # fmt: skip


@site.get("/admin/admin/system_config/", "/admin/admin/system_config/edit/section/{name}/")
def configuration(context: Context) -> Response:
    """All settings."""
    _ = context.member
    return context.page("configuration.html", kind="configuration", title="Configuration", groups=CONFIGURATION)


@site.get("/admin/admin/system_store/")
def all_stores(context: Context) -> Response:
    """The web site, its store and the store's view."""
    _ = context.member
    rows = [
        ("Main Website (Code: base)", f"{STORE_NAME} (Code: main_website_store)", "Default Store View (Code: default)")
    ]
    return context.page(
        "table.html", kind="stores", title="Stores", headings=("Web Site", "Store", "Store View"), rows=rows
    )
