"""Tasks on two sites: what one of them says is posted on the other. Each site has a tab of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from typing import Any

from agentrl.envs.webarena.sites.formats import money
from agentrl.envs.webarena.sites.forum.people import AGENT
from agentrl.envs.webarena.sites.places import PLACES
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Act, Answer, Click, Fill, On, Parameters, Switch, Template
from agentrl.envs.webarena.tasks.templates.code.kit import at, to_project
from agentrl.envs.webarena.tasks.templates.forum.kit import (
    POSTED,
    SEVERAL,
    Row,
    both,
    ends_at,
    findable,
    forums,
    ranked,
    shows,
    some,
    submissions,
    text_of,
    to_forum,
    to_list,
    to_post,
)  # fmt: skip
from agentrl.envs.webarena.tasks.templates.forum.writing import INNER, LINKS
from agentrl.envs.webarena.tasks.templates.map.kit import named, opening, region
from agentrl.envs.webarena.tasks.templates.shop.parts import (
    about,
    amount,
    on_product,
    products,
    reviewed_products,
    search_for,
)

SHOP, CODE, MAP = ("shopping", "reddit"), ("gitlab", "reddit"), ("map", "reddit")
BACK = ("reddit", "gitlab")
OTHER_TAB = Switch(1)
REMAINDERS = (8, 9, 11)  # products that no template of the shop asks about
TITLE, BODY = text_of(".submission__title"), text_of(".submission__body")
FEW_STARS = 2
CODE_FORUMS = ("programming", "technology", "MachineLearning", "LifeProTips")
SHOP_FORUMS = ("gadgets", "LifeProTips", "personalfinance", "DIY")
MAP_FORUMS = ("travel", "pittsburgh", "nyc")
PROJECTS = """SELECT p.id, p.namespace || '/' || p.path AS project, p.path, p.description FROM project p
    WHERE p.visibility = 'public' AND p.description <> '' AND p.path IN
    (SELECT path FROM project GROUP BY path HAVING count(*) = 1) ORDER BY p.id"""


# ---------------------------------------------------------------------- the forum's side


def _posting(forum: str, title: str, body: str = "", url: str = "") -> list[On]:
    """Write a submission in the forum's tab."""
    wanted = {"#submission_url": url, "#submission_title": title, "#submission_body": body}
    fields: list[Act] = [Fill(selector, text) for selector, text in wanted.items() if text]
    return [
        *to_forum(forum, Click("a.site-nav__link", "Submit")),
        On(rf"__REDDIT__/submit/{forum}$", [*fields, Click("button", "Create submission")]),
        On(rf"__REDDIT__/f/{forum}/\d+/", [Answer()], contains=title),
    ]


def _posted(row: Parameters, *parts: str) -> dict[str, Any]:
    """There is a submission of this title whose text has these parts."""
    return both(
        ends_at(f"/f/{row['forum']}"),
        shows((POSTED, TITLE, {"exact_match": row["title"]}), (POSTED, BODY, {"must_include": list(parts)})),
    )


# ---------------------------------------------------------------------- shop and forum


def _prices(world: World) -> Iterator[Row]:
    for row, forum in zip(products(world, REMAINDERS[0]), cycle(SHOP_FORUMS)):
        price = money(row["final_price"])
        yield {**about(row), "forum": forum, "title": "Is this a fair price?", "price": price}


def _post_price(row: Parameters) -> Sequence[On]:
    name = row["product"]
    return [
        *search_for(row["phrase"], row["url_key"]),
        on_product(row["url_key"], [OTHER_TAB]),
        *_posting(row["forum"], row["title"], f"{name} costs {row['price']}"),
    ]


def _links(world: World) -> Iterator[Row]:
    for row, forum in zip(products(world, REMAINDERS[1]), cycle(SHOP_FORUMS)):
        yield {**about(row), "forum": forum, "title": "Has anyone bought this?"}


def _product_page(row: Parameters, origin: str) -> str:
    return f"{origin}/{row['url_key']}.html"


def _post_link(row: Parameters) -> Sequence[On]:
    return [
        *search_for(row["phrase"], row["url_key"]),
        on_product(row["url_key"], [OTHER_TAB]),
        *_posting(row["forum"], row["title"], url=_product_page(row, PLACES["shopping"].url)),
    ]


def _bad_reviews(world: World) -> Iterator[Row]:
    targets = cycle(SHOP_FORUMS)
    for row, reviews in reviewed_products(world, 3, 10):
        titles = [review["title"] for review in reviews if review["rating"] <= FEW_STARS]
        if 1 <= len(titles) <= 4 and len(set(titles)) == len(titles):
            yield {**about(row), "forum": next(targets), "title": "What buyers complain about", "titles": titles}


def _post_reviews(row: Parameters) -> Sequence[On]:
    return [
        *search_for(row["phrase"], row["url_key"]),
        on_product(row["url_key"], [OTHER_TAB]),
        *_posting(row["forum"], row["title"], ", ".join(row["titles"])),
    ]


def _recommended(world: World) -> Iterator[Row]:
    """Submissions that could do with the price of a product."""
    rows = findable(
        world, submissions(world, "f.name IN ('gadgets', 'LifeProTips') AND s.comment_count < 12"), "prices"
    )
    for row, post in zip(products(world, REMAINDERS[2]), rows, strict=False):
        price = money(row["final_price"])
        yield {
            **about(row), "price": price, "forum": post["forum"], "id": post["id"], "title": post["title"],
        }  # fmt: skip


def _comment_price(row: Parameters) -> Sequence[On]:
    return [
        *search_for(row["phrase"], row["url_key"]),
        on_product(row["url_key"], [OTHER_TAB]),
        *to_post(dict(row), Fill(".reply textarea", row["price"]), Click(".reply button", "Post")),
        On(rf"__REDDIT__/f/{row['forum']}/{row['id']}/.*/comment/\d+$", [Answer()]),
    ]


# ---------------------------------------------------------------------- code host and forum


def _projects(key: str) -> Callable[[World], Iterator[Row]]:
    def rows(world: World) -> Iterator[Row]:
        targets = cycle(CODE_FORUMS)
        for row in some(world.database("code").rows(PROJECTS), key):
            yield {
                "project": row["project"], "path": row["path"], "text": row["description"], "forum": next(targets),
                "title": f"A look at {row['path']}",
            }  # fmt: skip

    return rows


def _promote(row: Parameters) -> Sequence[On]:
    url = f"{PLACES['gitlab'].url}/{row['project']}"
    return [*to_project(row["project"], OTHER_TAB), *_posting(row["forum"], row["title"], row["text"], url)]


def _open_issues(world: World) -> Iterator[Row]:
    counts = "SELECT project_id, count(*) AS open FROM issue WHERE state = 'opened' GROUP BY project_id"
    opened = {row["project_id"]: row["open"] for row in world.database("code").rows(counts)}
    targets = cycle(CODE_FORUMS)
    for row in some(world.database("code").rows(PROJECTS), "issues"):
        if row["id"] in opened:
            yield {"project": row["project"], "path": row["path"], "forum": next(targets), "count": opened[row["id"]],
                   "title": f"Open issues of {row['path']}"}  # fmt: skip


def _post_issues(row: Parameters) -> Sequence[On]:
    issues = f"/{row['project']}/-/issues"
    return [
        *to_project(row["project"], Click(f'a.side-link[href="{issues}"]')),
        On(at(issues), [OTHER_TAB]),
        *_posting(row["forum"], row["title"], str(row["count"])),
    ]


def _reported(world: World) -> Iterator[Row]:
    """The newest post of a forum becomes an issue."""
    code = world.database("code")
    chosen = some(code.rows(PROJECTS), "reported", 60)
    for row, forum in zip(chosen, cycle(forums(world))):
        newest = ranked(world, forum["name"], "new", "")
        last = code.value("SELECT coalesce(max(iid), 0) FROM issue WHERE project_id = ?", row["id"])
        if newest:
            yield {"project": row["project"], "path": row["path"], "forum": forum["name"], "title": newest[0]["title"],
                   "iid": last + 1}  # fmt: skip


def _report(row: Parameters) -> Sequence[On]:
    issues = f"/{row['project']}/-/issues"
    return [
        *to_list(row["forum"], "new", "", OTHER_TAB),
        *to_project(row["project"], Click(f'a.side-link[href="{issues}"]')),
        On(at(issues), [Click("main a", "New issue")]),
        On(at(f"{issues}/new"), [Fill("#issue_title", row["title"]), Click("button", "Create issue")]),
        On(at(f"{issues}/{row['iid']}"), [Answer()]),
    ]


# ---------------------------------------------------------------------- map and forum


def _phones(world: World) -> Iterator[Row]:
    targets = cycle(MAP_FORUMS)
    for place in islice(named(region(world), "across", lambda place: bool(place.tags.get("phone"))), SEVERAL):
        yield {"name": place.name, "path": place.path, "phone": place.tags["phone"], "forum": next(targets),
               "title": f"Calling {place.name}"}  # fmt: skip


def _post_phone(row: Parameters) -> Sequence[On]:
    return [*opening(row["name"], row["path"], OTHER_TAB), *_posting(row["forum"], row["title"], row["phone"])]


TEMPLATES: tuple[Template, ...] = (
    Template(
        "across-post-product-price", SHOP, "copy-between-sites",
        ("Find out what \"{product}\" costs in the shop, then ask \"{title}\" in the {forum} forum, with the price in "
         "the text.",
         "Post in /f/{forum} under the title \"{title}\": the text must say the price of \"{product}\" in the shop."),
        _prices, lambda row: _posted(row, amount(row["price"])), _post_price,
    ),
    Template(
        "across-post-product-link", SHOP, "copy-between-sites",
        ("Submit a link to the shop's page of \"{product}\" to the {forum} forum, titled \"{title}\"",
         "In /f/{forum}, share the address of \"{product}\" in the shop. Use the title \"{title}\""),
        _links,
        lambda row: both(
            ends_at(f"/f/{row['forum']}"),
            shows((POSTED, INNER, {"must_include": [row["title"]]}),
                  (POSTED, LINKS, {"must_include": [_product_page(row, "__SHOPPING__")]})),
        ),
        _post_link,
    ),
    Template(
        "across-post-bad-reviews", SHOP, "summarise-between-sites",
        ("Post the titles of all reviews of \"{product}\" with one or two stars in the {forum} forum, in a submission "
         "called \"{title}\"",
         "Write to /f/{forum}, under the title \"{title}\", how the reviews of \"{product}\" with at most two stars "
         "are called."),
        _bad_reviews, lambda row: _posted(row, *row["titles"]), _post_reviews, held_out=True,
    ),
    Template(
        "across-comment-product-price", SHOP, "copy-between-sites",
        ("What does \"{product}\" cost in the shop? Write the price as a comment on \"{title}\" in the {forum} forum.",
         "Comment on the post \"{title}\" in /f/{forum} with the price of \"{product}\" in the shop."),
        _recommended,
        lambda row: shows(
            (f"__REDDIT__/f/{row['forum']}/{row['id']}/-", text_of(".comments"),
             {"must_include": [AGENT, row["price"]]})
        ),
        _comment_price, held_out=True,
    ),
    Template(
        "across-promote-project", CODE, "copy-between-sites",
        ("Recommend the project {project} in the {forum} forum: link to it, title the post \"{title}\", and use the "
         "project's own description as text.",
         "Share {project} with /f/{forum} as a link titled \"{title}\" whose text is the description on its page."),
        _projects("promote"),
        lambda row: both(
            ends_at(f"/f/{row['forum']}"),
            shows((POSTED, INNER, {"must_include": [row["title"], row["text"]]}),
                  (POSTED, LINKS, {"must_include": [f"__GITLAB__/{row['project']}"]})),
        ),
        _promote,
    ),
    Template(
        "across-post-open-issues", CODE, "copy-between-sites",
        ("How many open issues does {project} have? Post the number in the {forum} forum, titled \"{title}\"",
         "Write a post called \"{title}\" in /f/{forum} that says how many issues of {project} are open."),
        _open_issues, lambda row: _posted(row, str(row["count"])), _post_issues,
    ),
    Template(
        "across-report-newest-post", BACK, "copy-between-sites",
        ("Create an issue in {project} that has the same title as the newest post of the {forum} forum.",
         "Take the title of the latest submission in /f/{forum} and open an issue with that title in {project}."),
        _reported,
        lambda row: shows(
            (f"__GITLAB__/{row['project']}/-/issues/{row['iid']}", text_of('[data-qa-selector="title_content"]'),
             {"must_include": [row["title"]]})
        ),
        _report,
    ),
    Template(
        "across-post-phone-number", MAP, "copy-between-sites",
        ("Look up the phone number of {name} on the map and post it in the {forum} forum under the title \"{title}\"",
         "Members of /f/{forum} want to call {name}: post the number that the map knows, titled \"{title}\""),
        _phones, lambda row: _posted(row, row["phone"]), _post_phone,
    ),
)  # fmt: skip
