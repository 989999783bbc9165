"""What customers searched for: the list, one term, and the report."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agentrl.envs.webarena.sites.admin.base import Refused, record, required, returns_to, site, whole
from agentrl.envs.webarena.sites.admin.grid import Column, Grid
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.site import Context

TERM = "/admin/search/term/edit/id/{id}/"
TERMS = Grid(
    "/admin/search/term/", "Search Terms", "SELECT id, query, results, uses FROM search_term",
    (
        Column("id", "ID", "number", 80), Column("query", "Search Query"), Column("results", "Results", "number", 140),
        Column("uses", "Uses", "number", 140),
    ),
    edit=TERM, open_filters=True, descending=False, actions=(("delete", "Delete"),),
    actions_path="/admin/search/term/massAction/", add=("/admin/search/term/new/", "Add New Search Term"),
)  # fmt: skip
TERMS_REPORT = replace(
    TERMS, path="/admin/search/term/report/", title="Search Terms Report", actions=(), add=None, edit="", sort="uses",
    descending=True,
)  # fmt: skip


@site.get(TERMS.path)
def terms(context: Context) -> Response:
    """All search terms."""
    _ = context.member
    return context.page("grid.html", kind="search_terms", title=TERMS.title, view=TERMS.view(context))


@site.get(TERMS_REPORT.path)
def terms_report(context: Context) -> Response:
    """Search terms, most used first."""
    _ = context.member
    view = TERMS_REPORT.view(context)
    return context.page("grid.html", kind="report_search", title=TERMS_REPORT.title, view=view)


@site.post(TERMS.actions_path)
@returns_to(TERMS.path)
def delete_terms(context: Context) -> Response:
    """Delete the marked terms."""
    if context.form("action") != "delete":
        raise Refused("Please select an action.")
    numbers = dict.fromkeys(context.number(text) for text in context.forms("selected"))
    chosen = [number for number in numbers if context.db.get("search_term", number) is not None]
    for number in chosen:
        context.db.delete("search_term", number)
    return context.redirect(TERMS.path, f"Total of {len(chosen)} record(s) were deleted.")


@site.get(TERM)
def edit_term(context: Context) -> Response:
    """The form of a search term."""
    term = record(context, "search_term")
    return context.page("search_term.html", kind="search_term", title=term["query"], term=term)


@site.get("/admin/search/term/new/")
def new_term(context: Context) -> Response:
    """The form of a search term that is not there yet."""
    _ = context.member
    empty = {"id": 0, "query": "", "results": 0, "uses": 0}
    return context.page("search_term.html", kind="search_term_new", title="New Search Term", term=empty)


def _term_values(context: Context, own_id: int = 0) -> dict[str, Any]:
    query = required(context.form("query_text"), "Search Query")
    if context.db.value("SELECT count(*) FROM search_term WHERE query = ? AND id != ?", query, own_id):
        raise Refused("You already have an identical search term query.")
    return {
        "query": query, "results": whole(context.form("num_results") or "0", "Number of Results"),
        "uses": whole(context.form("popularity") or "0", "Number of Uses"),
    }  # fmt: skip


@site.post("/admin/search/term/save/id/{id}/")
@returns_to(TERM)
def save_term(context: Context) -> Response:
    """Change a search term."""
    term = record(context, "search_term")
    context.db.update("search_term", term["id"], **_term_values(context, term["id"]))
    return context.redirect(TERMS.path, "You saved the search term.")


@site.post("/admin/search/term/save/")
@returns_to("/admin/search/term/new/")
def create_term(context: Context) -> Response:
    """Add a search term."""
    context.db.insert("search_term", **_term_values(context))
    return context.redirect(TERMS.path, "You saved the search term.")
