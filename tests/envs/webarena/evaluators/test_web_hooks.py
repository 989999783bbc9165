"""The embedded sites offer every place that the official tasks of WebArena-Lite look at, after an agent's changes."""

from __future__ import annotations

import pytest

from agentrl.core.errors import EnvFault
from agentrl.envs.webarena.evaluators.evaluate import evaluate
from agentrl.envs.webarena.evaluators.helpers import Surroundings, parse_helper
from agentrl.envs.webarena.sites.messages import Response
from agentrl.envs.webarena.sites.places import PLACES
from agentrl.envs.webarena.tasks.files import find_official, official_tasks
from tests.envs.webarena.evaluators.form_filling import ACCOUNT, ADDRESSES, TEXT, Agent
from tests.envs.webarena.evaluators.hand_made import task_with
from tests.envs.webarena.evaluators.hook_cases import HOOKS, INNER, MESSAGE, Hook

ROLE = "func:gitlab_get_project_memeber_role(__page__, {!r})"


@pytest.fixture(scope="module")
def agent() -> Agent:
    """An agent that has done tasks of every kind."""
    agent = Agent()
    names = agent.names
    agent.fill("__GITLAB__/-/profile", user__status__message=TEXT, user__website="egg.tart.com")
    agent.fill("{project}/-/issues/{issue}", note__note=TEXT)
    agent.fill("{project}/-/project_members?invite=1", user="{newcomer}", access_level="30")
    names["new_issue"] = agent.fill(
        "{project}/-/issues/new", issue__title=TEXT, issue__due_date="2030-01-03", **{"issue[assignee_ids][]": "{me}"}
    )
    names["compare"] = agent.fill(
        "{project}/-/merge_requests/new",
        merge_request__source_branch="{branch}",
        merge_request__target_branch="{target}",
    )
    names["new_request"] = agent.fill(
        "{compare}", merge_request__title=TEXT, **{"merge_request[reviewer_ids][]": "{me}"}
    )
    agent.fill(f"__REDDIT__/user/{ACCOUNT}/edit_biography", user_biography__biography=TEXT)
    agent.fill("__REDDIT__/f/{forum}/{submission}", choice="1")
    agent.fill("__REDDIT__/f/{moderated}/edit", forum__description=TEXT, forum__sidebar=TEXT)
    link = "http://example.com/picture.jpg"
    names["post"] = agent.fill(
        "__REDDIT__/submit/{forum}", submission__title=TEXT, submission__body="Some body", submission__url=link
    )
    number = names["post"].split("/")[5]
    agent.fill("{post}", **{f"reply_to_submission_{number}[comment]": TEXT})
    agent.fill("__SHOPPING__/newsletter/manage/", is_subscribed="1")
    agent.fill("__SHOPPING__/{product}.html", qty="1")
    names["payment"] = agent.fill("__SHOPPING__/checkout/", shipping_method="flatrate_flatrate")
    agent.fill("{payment}", payment_method="checkmo")
    agent.fill("__SHOPPING__/{product}.html", nickname="Emma", title=TEXT, detail=TEXT, **{"ratings[4]": "4"})
    agent.fill("__SHOPPING_ADMIN__/cms/page/edit/page_id/2/", title=TEXT)
    names["report"] = agent.fill(
        "__SHOPPING_ADMIN__/reports/report_sales/sales/", **{"from": "2/1/23", "to": "2/28/23"}
    )
    names["directions"] = agent.fill("__MAP__/directions", route_from="Museum", route_to="Station")
    return agent


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: f"{hook.url} {hook.locator}"[:90])
def test_the_sites_have_every_place_that_official_tasks_look_at(agent: Agent, hook: Hook) -> None:
    page = agent.backend("__SHOPPING__").evaluation_page()
    url = agent.address(hook.url)
    if url.startswith("func:"):
        url = parse_helper(url).run(Surroundings(page, "", ADDRESSES))
    page.goto(url)
    found = page.evaluate(hook.locator) if hook.locator else page.content()
    assert found not in ("", "None")
    assert hook.contents.format(**agent.names) in found


def test_addresses_have_the_shapes_of_the_benchmark(agent: Agent) -> None:
    """Its evaluators compare them as text, so that even the order of a query matters."""
    assert agent.fill("__MAP__/", query="hotels near Music Hall").endswith("/search?query=hotels%20near%20Music%20Hall")
    assert agent.fill("__SHOPPING__/", q="switch accessories").endswith("/catalogsearch/result/?q=switch+accessories")
    issues = agent.fill("{project}/-/issues", sort="created_date", state="opened", **{"label_name[]": "bug"})
    assert issues.endswith("/-/issues/?sort=created_date&state=opened&label_name%5B%5D=bug&first_page_size=20")
    _, results = agent.fetch(
        "GET", agent.address("__SHOPPING__/catalogsearch/result/?q=chair&product_list_order=price")
    )
    assert "/catalogsearch/result/index/?product_list_order=price&amp;q=chair&amp;product_list_dir=asc" in results.text


def test_a_message_that_is_not_sent_can_be_looked_at(agent: Agent) -> None:
    backend = agent.backend("__SHOPPING__/contact/")
    view = backend.view()
    backend.type(next(place for place, element in enumerate(view.labels) if element.tag == "textarea"), TEXT)
    target = {"url": "last", "locator": MESSAGE, "required_contents": {"exact_match": TEXT}}
    assert evaluate(task_with({"eval_types": ["program_html"], "program_html": [target]}), None, backend).score == 1


@pytest.mark.parametrize("dialect", ["lite", "webarena"])
@pytest.mark.parametrize(
    ("url", "locator", "contents"),
    [
        ("{project}/-/project_members", ROLE.format("byteblaze"), "Owner"),
        ("{project}/-/project_members", "func:gitlab_get_project_memeber_role(__page__, '{newcomer}')", "Developer"),
        ("func:reddit_get_post_url('__last_url__')", f"{INNER}.outerText", TEXT),
        ("func:shopping_get_latest_order_url()", "", "{sku}"),
    ],
)
def test_helpers_work_on_the_sites(agent: Agent, url: str, locator: str, contents: str, dialect: str) -> None:
    names = agent.names
    locator = locator.replace("{newcomer}", str(names["newcomer"]))
    target = {
        "url": agent.address(url),
        "locator": locator,
        "required_contents": {"must_include": [contents.format(**names)]},
    }
    task = task_with({"eval_types": ["program_html"], "program_html": [target]})
    assert evaluate(task, None, agent.backend("{post}"), dialect).score == 1


def test_a_site_that_fails_leaves_no_score(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Response:
        return Response("out of order", 500)

    url = agent.address("__SHOPPING__/checkout/cart")
    target = {"url": url, "required_contents": {"exact_match": "x"}}
    task = task_with({"eval_types": ["program_html"], "program_html": [target]})
    backend = agent.backend("__MAP__")
    assert evaluate(task, None, backend).score == 0
    monkeypatch.setattr(type(PLACES["shopping"].site), "handle", fail)
    with pytest.raises(EnvFault, match="status 500"):
        evaluate(task, None, backend)


def test_reviews_can_be_asked_for(agent: Agent) -> None:
    around = Surroundings(agent.backend("__SHOPPING__").evaluation_page(), "", ADDRESSES)
    sku = agent.names["sku"]
    assert parse_helper(f"func:shopping_get_sku_latest_review_author('{sku}')").run(around) == "Emma"
    assert parse_helper(f"func:shopping_get_sku_latest_review_rating('{sku}')").run(around) == "80"


def test_no_place_of_the_official_tasks_was_forgotten(request: pytest.FixtureRequest) -> None:
    if find_official() is None:
        (pytest.fail if request.config.getoption("--require-all") else pytest.skip)("needs the official tasks")
    targets = [target for task in official_tasks() if task.eval for target in task.eval.program_html or ()]
    official = {target.locator for target in targets if not target.locator.startswith("func:")}
    looked_at = {MESSAGE, *(hook.locator for hook in HOOKS)}
    assert {_plain(locator) for locator in official} - {_plain(locator) for locator in looked_at} == set()


def _plain(locator: str) -> str:
    return locator.replace('"', "'")
