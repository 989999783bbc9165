"""Hostile text in every form of every site: stored and shown as text, nothing executed, nothing lost, no page fails."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode, urljoin, urlsplit

import pytest
from hostile_inputs import MARK, hostile_inputs
from lxml import html

from agentrl.envs.webarena.sites.messages import Request, Response
from agentrl.envs.webarena.sites.places import PLACES, Place, cookies
from agentrl.envs.webarena.sites.world import World

PAGES = 150  # looked at for forms, on each site
NO_TEXT = ("hidden", "checkbox", "radio", "submit", "button", "reset", "image")
NUMBER = re.compile(r"[\d.,:/ -]+")
SCHEMES = ("javascript:", "data:text")
SCRIPTED = re.compile(r"(?i)^(on\w+|srcdoc|formaction)$")


@dataclass(frozen=True)
class Form:
    """A form as a page offers it: what is sent if nobody changes anything, and which of it a person may type."""

    page: str
    method: str
    action: str
    fields: tuple[tuple[str, str], ...]
    typed: frozenset[str]


class Visitor:
    """The agent's account on one site, in a world of its own."""

    def __init__(self, name: str) -> None:
        self.place: Place = PLACES[name]
        self.world = World()
        self.jar = dict(cookies((name,)).get(self.place.origin, {}))

    def fetch(self, method: str, url: str, form: tuple[tuple[str, str], ...] = ()) -> tuple[str, Response]:
        """An answer after its redirects, and its address."""
        for _ in range(6):
            response = self.world.fetch(Request(method, url, form, self.jar))
            for name, value in response.cookies.items():
                self.jar = {**self.jar, name: value} if value is not None else self.jar
            if response.location is None:
                return url, response
            url, method, form = urljoin(url, response.location), "GET", ()
        raise AssertionError(f"too many redirects: {url}")


def forms_of(url: str, response: Response) -> Iterator[Form]:
    tree = html.fromstring(response.text)
    for form in tree.iter("form"):
        fields, typed = [], set()
        for field in form.iter("input", "textarea", "select", "button"):
            name, kind = field.get("name"), field.get("type", "text").lower()
            if not name or (kind in ("checkbox", "radio") and field.get("checked") is None):
                continue
            if field.tag in ("textarea", "input") and kind not in NO_TEXT:
                typed.add(name)
            fields.append((name, value_of(field)))
        action = urljoin(url, form.get("action") or url)
        yield Form(url, (form.get("method") or "get").upper(), action, tuple(fields), frozenset(typed))


def value_of(field: html.HtmlElement) -> str:
    if field.tag == "select":
        options = [option for option in field.iter("option") if option.get("selected") is not None]
        options = options or list(field.iter("option"))[:1]
        return next((option.get("value", option.text_content()) for option in options), "")
    return field.get("value", "") if field.tag != "textarea" else field.text_content()


def found_forms(visitor: Visitor) -> list[Form]:
    """One form of each kind, from pages of every kind that links lead to."""
    queue, seen, kinds = [visitor.place.url], {visitor.place.url}, {}
    forms: dict[tuple[str, tuple[str, ...]], Form] = {}
    looked = 0
    while queue and looked < PAGES:
        url, response = visitor.fetch("GET", queue.pop(0))
        looked += 1
        if not response.content_type.startswith("text/html"):
            continue
        for form in forms_of(url, response):
            shape = re.sub(r"\d+", "N", urlsplit(form.action).path)
            if form.typed and "logout" not in shape:
                forms.setdefault((shape.split("/")[-2] if "/" in shape else shape, tuple(sorted(form.typed))), form)
        tree = html.fromstring(response.text)
        for link in tree.iter("a"):
            target = urljoin(url, link.get("href", "")).partition("#")[0]
            shape = re.sub(r"[\d]+|[^/]*\.html", "N", urlsplit(target).path)
            fresh = target.startswith(visitor.place.origin) and target not in seen and kinds.get(shape, 0) < 3
            if fresh and not re.search(r"log_?out|sign_?out|delete|remove", target):
                kinds[shape] = kinds.get(shape, 0) + 1
                seen.add(target)
                queue.append(target)
    return list(forms.values())


def send(visitor: Visitor, form: Form, text: str, *, numbers: bool) -> tuple[str, Response]:
    """Type the text into every field, or into all but those that hold numbers and would refuse it."""
    typed = {name for name, value in form.fields if name in form.typed and (numbers or not NUMBER.fullmatch(value))}
    fields = tuple((name, text if name in typed else value) for name, value in form.fields)
    if form.method == "POST":
        return visitor.fetch("POST", form.action, fields)
    encoded = urlencode(fields, errors="replace")
    return visitor.fetch("GET", f"{form.action.partition('?')[0]}?{encoded}")


def escapes(response: Response, mark: str) -> list[str]:
    """Where the text of a visitor has become part of the page's structure."""
    found = []
    for element in html.fromstring(response.text).iter():
        if not isinstance(element.tag, str):
            found += [f"comment {element.text!r:.80}"] if mark in (element.text or "") else []
            continue
        if element.tag in ("script", "style", "iframe", "base", "meta", "svg", "object", "embed"):
            inside = (element.text or "") + "".join(element.attrib.values())
            found += [f"<{element.tag}> with the text"] if mark in inside else []
        for name, value in element.attrib.items():
            if SCRIPTED.match(name) or (
                name in ("href", "src", "action") and value.strip().lower().startswith(("javascript:", "data:text"))
            ):
                found.append(f"{element.tag} {name}={value!r:.80}")
    found += ["49"] if f"49{mark}" in response.text else []
    return found


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", PLACES)
def test_hostile_text_in_every_form_is_only_text(name: str, every: int) -> None:
    visitor = Visitor(name)
    forms = found_forms(visitor)
    assert len(forms) >= (2 if name in ("map", "homepage") else 8), f"only {len(forms)} forms were found"
    stored = 0
    inputs = hostile_inputs()
    assert len(inputs) >= 200
    inputs = inputs[::every]
    for number in range(max(len(inputs), len(forms))):
        mark, text = inputs[number % len(inputs)]
        form = forms[number % len(forms)]
        url, response = send(visitor, form, text, numbers=number % 3 == 0)
        assert response.status < 500, f"{form.action} fails on {text!r:.80}: {response.text[:300]}"
        if response.content_type.startswith("text/html") and response.text.strip():
            assert escapes(response, mark) == [], f"{form.action} with {text!r:.80} -> {url}"
        stored += mark in repr(visitor.world.changes())
    if name != "map":
        assert stored >= len(inputs) // 10, f"only {stored} of the texts were stored"


@pytest.mark.parametrize("name", PLACES)
def test_hostile_addresses_never_fail(name: str) -> None:
    visitor = Visitor(name)
    paths = [f"/{text[:300]}" for _, text in hostile_inputs()]
    paths += [
        f"/{part}/{text[:60]}"
        for part in ("f", "user", "node", "admin", "search", "a/b/-")
        for _, text in hostile_inputs()[::7]
    ]
    for path in paths:
        _, response = visitor.fetch("GET", visitor.place.origin + path)
        assert response.status < 500, path
        assert MARK.partition("{")[0] not in response.text or not re.search(r"<script>[^<]*mArK", response.text)
