"""Somebody who visits the code host without a browser."""

from __future__ import annotations

from typing import Any, Self
from urllib.parse import urlencode, urljoin

from tests.envs.webarena.visitor import Visitor as AnyVisitor


class Visitor(AnyVisitor):
    """The agent, or a guest, on the code host."""

    site, data = "gitlab", "code"

    @property
    def url(self) -> str:
        return self.path

    def open(self, path: str) -> Self:
        """Open a page."""
        return self.get(path)

    def send(self, path: str, fields: dict[str, str] | None = None) -> Self:
        """Post fields without looking at a form."""
        return self.post(path, fields)

    def submit(self, selector: str, fields: dict[str, str | None] | None = None, button: str = "") -> Self:
        """Fill in a form of the page (None takes a field out) and press a button of it."""
        (form, *_) = self.all(selector)
        held = [pair for pair in form.form_values() if pair[0] not in (fields or {})]
        held = [(name, value.replace("\r\n", "\n")) for name, value in held]
        held += [(name, value) for name, value in (fields or {}).items() if value is not None]
        pressed = [b for b in form.iter("button") if b.get("name") and b.text_content().strip() == button]
        held += [(b.get("name"), b.get("value", "")) for b in pressed]
        action = urljoin(self.address, form.get("action") or "")
        is_get = (form.get("method") or "get").lower() == "get"
        return self.get(f"{action}?{urlencode(held)}") if is_get else self.post(action, held)

    def text(self, selector: str) -> Any:
        """The text of the first element."""
        return self.texts(selector)[0]
