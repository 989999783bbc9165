"""An agent that does what official tasks ask by filling in the sites' forms, as a browser would."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode, urljoin

from lxml import html

from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.sites.messages import Request, Response
from agentrl.envs.webarena.sites.places import PLACES, cookies
from agentrl.envs.webarena.sites.world import World
from agentrl.envs.webarena.tasks.addresses import default_addresses, fill_in

ADDRESSES = default_addresses()
TEXT = "Hello there"
ACCOUNT = "MarvelsGrantMan136"


class Agent:
    """Fills in forms as a browser would, and knows where things are."""

    def __init__(self) -> None:
        self.world, self.cookies = World(), cookies(tuple(PLACES))
        store, forum, code = (self.world.database(name) for name in ("store", "forum", "code"))
        project = code.row(
            """SELECT p.id, p.path, p.default_branch, r.name AS branch FROM project p JOIN ref r ON r.project_id = p.id
            WHERE p.namespace = 'byteblaze' AND r.kind = 'branch' AND r.name <> p.default_branch AND NOT EXISTS
            (SELECT 1 FROM merge_request m WHERE m.project_id = p.id AND m.source_branch = r.name)
            ORDER BY p.id, r.id"""
        )
        submission = forum.row("SELECT s.id, f.name FROM submission s JOIN forum f ON f.id = s.forum_id ORDER BY s.id")
        product = store.row("SELECT * FROM product WHERE qty > 0 AND id NOT IN (SELECT product_id FROM product_option)")
        assert project is not None and submission is not None and product is not None
        self.names: dict[str, Any] = {
            "project": f"__GITLAB__/byteblaze/{project['path']}",
            "branch": project["branch"],
            "target": project["default_branch"],
            "issue": code.value("SELECT iid FROM issue WHERE project_id = ?", project["id"]),
            "me": code.value("SELECT id FROM user WHERE username = 'byteblaze'"),
            "newcomer": code.value(
                "SELECT username FROM user WHERE id NOT IN (SELECT user_id FROM project_member WHERE project_id = ?)"
                " AND username <> 'byteblaze' ORDER BY id", project["id"],
            ),
            "forum": submission["name"],
            "submission": submission["id"],
            "moderated": forum.value(
                "SELECT f.name FROM forum f JOIN moderator m ON m.forum_id = f.id JOIN user u ON u.id = m.user_id"
                " WHERE u.username = ? ORDER BY f.id", ACCOUNT,
            ),
            "order": store.value("SELECT max(id) FROM sales_order"),
            "product": product["url_key"],
            "sku": product["sku"],
        }  # fmt: skip

    def address(self, url: str) -> str:
        return fill_in(url.format(**self.names), ADDRESSES)

    def fetch(self, method: str, url: str, fields: tuple[tuple[str, str], ...] = ()) -> tuple[str, Response]:
        """Follow redirects, as a browser does; the address and the page in the end."""
        for _ in range(5):
            origin = "/".join(url.split("/", 3)[:3])
            jar = self.cookies.setdefault(origin, {})
            answer = self.world.fetch(Request(method, url, form=fields, cookies=jar))
            jar.update({name: value for name, value in answer.cookies.items() if value is not None})
            if answer.location is None:
                return url, answer
            method, url, fields = "GET", urljoin(url, answer.location), ()
        raise AssertionError(f"{url} leads nowhere")

    def fill(self, url: str, **given: Any) -> str:
        """Fill in the first form of a page that has these fields, and send it; the address that it leads to."""
        fields = {_field(name): str(value).format(**self.names) for name, value in given.items()}
        url, page = self.fetch("GET", self.address(url))
        forms = html.document_fromstring(page.text).forms
        form = next((form for form in forms if fields.keys() <= _names(form)), None)
        assert form is not None, (url, page.status, [sorted(_names(form)) for form in forms])
        sent = tuple(pair for pair in form.form_values() if pair[0] not in fields) + tuple(fields.items())
        action = urljoin(url, form.action or url)
        if form.method == "GET":
            return self.fetch("GET", f"{action.partition('?')[0]}?{urlencode(sent)}")[0]
        url, page = self.fetch("POST", action, sent)
        assert page.status == 200, (action, page.status)
        return url

    def backend(self, url: str) -> DomBackend:
        """A browser on a page."""
        backend = DomBackend(self.world)
        backend.start([self.address(url)], self.cookies)
        return backend


def _field(name: str) -> str:
    """issue__title -> issue[title]; a name with brackets stays."""
    begin, *others = name.split("__")
    return begin + "".join(f"[{part}]" for part in others)


def _names(form: Any) -> set[str]:
    return {element.get("name", "") for element in form.iter("input", "textarea", "select", "button")}
