"""Tasks on two sites: what one of them says is posted on the other. Each site has a tab of its own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

from agentrl.envs.webarena.sites.formats import money
from agentrl.envs.webarena.sites.forum.people import AGENT
from agentrl.envs.webarena.sites.places import PLACES
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.template import Answer, Click, Fill, On, Parameters, Switch, Template, template
from agentrl.envs.webarena.tasks.templates.code.kit import at, ticket, to_page, to_project
from agentrl.envs.webarena.tasks.templates.forum.kit import (
    INNER,
    LINKS,
    ME,
    POSTED,
    SEVERAL,
    findable,
    forums,
    ranked,
    replying,
    submissions,
    submitting,
    to_list,
    to_post,
)
from agentrl.envs.webarena.tasks.templates.map import named, opening
from agentrl.envs.webarena.tasks.templates.shop.kit import about, amount, on_product, products, reviewed_products
from agentrl.envs.webarena.tasks.vocabulary import Row, both, done, ends_at, query, said, shows, some, text_of

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


def _posting(row: Parameters, body: str = "", url: str = "") -> list[On]:
    """Write a submission in the forum's tab."""
    wanted = {"#submission_url": url, "#submission_title": row["title"], "#submission_body": body}
    return [
        *submitting(row["forum"], *(Fill(selector, text) for selector, text in wanted.items() if text)),
        On(rf"__REDDIT__/f/{row['forum']}/\d+/", [Answer()], contains=row["title"]),
    ]


def _is_posted(row: Parameters, *parts: str) -> dict:
    """There is a submission of this title whose text says these parts and nothing else."""
    return both(
        ends_at(f"__REDDIT__/f/{row['forum']}"), shows((POSTED, TITLE, row["title"]), (POSTED, BODY, said(*parts)))
    )


def _is_linked(row: Parameters, url: str, *body: str) -> dict:
    """There is a submission with this title and address, and with just this text where one is given."""
    targets = (POSTED, INNER, [row["title"]]), (POSTED, LINKS, [url]), *((POSTED, BODY, text) for text in body)
    return both(ends_at(f"__REDDIT__/f/{row['forum']}"), shows(*targets))


# ---------------------------------------------------------------------- shop and forum


@template(
    "across-post-bad-reviews", SHOP, "summarise-between-sites",
    ("Post the titles of all reviews of \"{product}\" with one or two stars in the {forum} forum, in a submission "
     "called \"{title}\"",
     "Write to /f/{forum}, under the title \"{title}\", how the reviews of \"{product}\" with at most two stars "
     "are called."),
    lambda row: _is_posted(row, *row["titles"]),
    lambda row: [*on_product(row, OTHER_TAB), *_posting(row, ", ".join(row["titles"]))], held_out=True,
)  # fmt: skip
def post_bad_reviews(world: World) -> Iterator[Row]:
    targets = cycle(SHOP_FORUMS)
    for row, reviews in reviewed_products(world, 3, 10):
        titles = [review["title"] for review in reviews if review["rating"] <= FEW_STARS]
        if 1 <= len(titles) <= 4 and len(set(titles)) == len(titles):
            yield {**about(row), "forum": next(targets), "title": "What buyers complain about", "titles": titles}


@template(
    "across-comment-product-price", SHOP, "copy-between-sites",
    ("What does \"{product}\" cost in the shop? Write the price as a comment on \"{title}\" in the {forum} forum.",
     "Comment on the post \"{title}\" in /f/{forum} with the price of \"{product}\" in the shop."),
    lambda row: shows(
        (f"__REDDIT__/f/{row['forum']}/{row['id']}/-", text_of(".comments"), [AGENT, row["price"]]),
        (f"{ME}/comments", text_of(".comment__body"), said(amount(row["price"]))),  # the newest one
    ),
    lambda row: [
        *on_product(row, OTHER_TAB), *to_post(row, *replying(row["price"])),
        done(rf"__REDDIT__/f/{row['forum']}/{row['id']}/.*/comment/\d+$"),
    ],
    held_out=True,
)  # fmt: skip
def comment_product_price(world: World) -> Iterator[Row]:
    """Submissions that could do with the price of a product."""
    rows = submissions(world, "f.name IN ('gadgets', 'LifeProTips') AND s.comment_count < 12")
    for row, post in zip(products(world, REMAINDERS[2]), findable(world, rows, "prices"), strict=False):
        place = {"forum": post["forum"], "id": post["id"], "title": post["title"]}
        yield {**about(row), "price": money(row["final_price"]), **place}


SHOP_TEMPLATES = (
    Template(
        "across-post-product-price", SHOP, "copy-between-sites",
        ("Find out what \"{product}\" costs in the shop, then ask \"{title}\" in the {forum} forum, with the price in "
         "the text.",
         "Post in /f/{forum} under the title \"{title}\": the text must say the price of \"{product}\" in the shop."),
        lambda world: (
            {**about(row), "forum": forum, "title": "Is this a fair price?", "price": money(row["final_price"])}
            for row, forum in zip(products(world, REMAINDERS[0]), cycle(SHOP_FORUMS))
        ),
        lambda row: _is_posted(row, amount(row["price"])),
        lambda row: [*on_product(row, OTHER_TAB), *_posting(row, f"{row['product']} costs {row['price']}")],
    ),
    Template(
        "across-post-product-link", SHOP, "copy-between-sites",
        ("Submit a link to the shop's page of \"{product}\" to the {forum} forum, titled \"{title}\"",
         "In /f/{forum}, share the address of \"{product}\" in the shop. Use the title \"{title}\""),
        lambda world: (
            {**about(row), "forum": forum, "title": "Has anyone bought this?"}
            for row, forum in zip(products(world, REMAINDERS[1]), cycle(SHOP_FORUMS))
        ),
        lambda row: _is_linked(row, f"__SHOPPING__/{row['url_key']}.html"),
        lambda row: [
            *on_product(row, OTHER_TAB), *_posting(row, url=f"{PLACES['shopping'].url}/{row['url_key']}.html"),
        ],
    ),
    post_bad_reviews, comment_product_price,
)  # fmt: skip


# ---------------------------------------------------------------------- code host, map and forum


@template(
    "across-post-open-issues", CODE, "copy-between-sites",
    ("How many open issues does {project} have? Post the number in the {forum} forum, titled \"{title}\"",
     "Write a post called \"{title}\" in /f/{forum} that says how many issues of {project} are open."),
    lambda row: _is_posted(row, str(row["count"])),
    lambda row: [*to_page(row["project"], "-/issues", OTHER_TAB), *_posting(row, str(row["count"]))],
)  # fmt: skip
def post_open_issues(world: World) -> Iterator[Row]:
    counts = "SELECT project_id, count(*) AS open FROM issue WHERE state = 'opened' GROUP BY project_id"
    opened = {row["project_id"]: row["open"] for row in query(world, "code", counts)}
    targets = cycle(CODE_FORUMS)
    for row in some(query(world, "code", PROJECTS), "forum issues", SEVERAL):
        if row["id"] in opened:
            yield {"project": row["project"], "path": row["path"], "forum": next(targets), "count": opened[row["id"]],
                   "title": f"Open issues of {row['path']}"}  # fmt: skip


@template(
    "across-report-newest-post", BACK, "copy-between-sites",
    ("Create an issue in {project} that has the same title as the newest post of the {forum} forum.",
     "Take the title of the latest submission in /f/{forum} and open an issue with that title in {project}."),
    lambda row: shows(
        (f"__GITLAB__{ticket(row)}", text_of('[data-qa-selector="title_content"]'), row["title"])
    ),
    lambda row: [
        *to_list({"forum": row["forum"], "sort": "new", "time": ""}, OTHER_TAB),
        *to_page(row["project"], "-/issues", Click("main a", "New issue")),
        On(at(f"/{row['project']}/-/issues/new"),
           [Fill("#issue_title", row["title"]), Click("button", "Create issue")]),
        done(at(ticket(row))),
    ],
)  # fmt: skip
def report_newest_post(world: World) -> Iterator[Row]:
    """The newest post of a forum becomes an issue."""
    last = "SELECT coalesce(max(iid), 0) FROM issue WHERE project_id = ?"
    for row, forum in zip(some(query(world, "code", PROJECTS), "forum reported", 60), cycle(forums(world))):
        newest = ranked(world, forum["name"], "new", "")
        if newest:
            yield {"project": row["project"], "path": row["path"], "forum": forum["name"], "title": newest[0]["title"],
                   "iid": world.database("code").value(last, row["id"]) + 1}  # fmt: skip


OTHER_TEMPLATES = (
    Template(
        "across-promote-project", CODE, "copy-between-sites",
        ("Recommend the project {project} in the {forum} forum: link to it, title the post \"{title}\", and use the "
         "project's own description as text.",
         "Share {project} with /f/{forum} as a link titled \"{title}\" whose text is the description on its page."),
        lambda world: (
            {"project": row["project"], "path": row["path"], "text": row["description"], "forum": forum,
             "title": f"A look at {row['path']}"}
            for row, forum in zip(some(query(world, "code", PROJECTS), "forum promote", SEVERAL), cycle(CODE_FORUMS))
        ),
        lambda row: _is_linked(row, f"__GITLAB__/{row['project']}", row["text"]),
        lambda row: [
            *to_project(row["project"], OTHER_TAB),
            *_posting(row, row["text"], f"{PLACES['gitlab'].url}/{row['project']}"),
        ],
    ),
    post_open_issues,
    report_newest_post,
    Template(
        "across-post-phone-number", MAP, "copy-between-sites",
        ("Look up the phone number of {name} on the map and post it in the {forum} forum under the title \"{title}\"",
         "Members of /f/{forum} want to call {name}: post the number that the map knows, titled \"{title}\""),
        lambda world: (
            {"name": place.name, "path": place.path, "phone": place.tags["phone"], "forum": forum,
             "title": f"Calling {place.name}"}
            for place, forum in zip(
                named(world, "across", SEVERAL, lambda place: bool(place.tags.get("phone"))), cycle(MAP_FORUMS)
            )
        ),
        lambda row: _is_posted(row, row["phone"]),
        lambda row: [*opening(row, OTHER_TAB), *_posting(row, row["phone"])],
    ),
)  # fmt: skip
TEMPLATES = (*SHOP_TEMPLATES, *OTHER_TEMPLATES)
