"""A page as HTML of our own: what `observation_mode="html"` shows and `agentrl shop` serves.

Its visible strings, in order, are exactly the strings of the text mode. Everything from outside is escaped, and there
is no script: a page is one form whose buttons carry what `click[...]` would.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import lru_cache
from html import escape
from importlib.resources import files

from agentrl.envs.common.catalogue.product import Product
from agentrl.envs.webshop.pages import DONE, ITEM, Page, Part

HEAD = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<title>WebShop</title><link rel="stylesheet" href="/style.css"></head>\n'
)
SEARCH_BOX = '<input class="box" name="search" maxlength="1000" autocomplete="off" autofocus aria-label="Search">'
WRAPPED = {
    "shop": "<h1>{}</h1>",
    "label": '<h4 class="label">{}</h4>',
    "goal": '<p class="goal">{}</p>',
    "heading": "<h3>{}</h3>",
    "title": '<h2 class="title">{}</h2>',
    "price": '<p class="price">{}</p>',
    "rating": '<p class="rating">{}</p>',
    "option_name": '<h4 class="option-name">{}</h4>',
    "line": '<p class="line">{}</p>',
    "field": '<h5 class="field">{}</h5>',
    "value": '<pre class="value">{}</pre>',
    "bought": '<p class="bought">{}</p>',
    "score": '<pre class="score">{}</pre>',
}


def page_html(page: Page, beside: str = "", action: str = "/act") -> str:
    """The whole document. For a web site: `beside` is further HTML after the page, `action` where its form goes."""
    body = "\n".join(_body(page))
    form = f'<form method="post" action="{escape(action)}" class="page {page.kind}">\n{body}\n</form>'
    return f"{HEAD}<body>{form}{beside}</body></html>\n"


def _body(page: Page) -> list[str]:
    """The parts in order; on pages of products, each product between its own tags."""
    lines: list[str] = []
    open_card = False
    for part in page.parts:
        if part.kind == "product":
            lines += ["</article>"] if open_card else []
            lines.append(f'<article class="card">{_photo(part.text, "")}')
            open_card = True
        elif part.kind == ("title" if page.kind == ITEM else "bought" if page.kind == DONE else None):
            lines.append(_photo(page.asin, ' class="photo"'))
        lines.append(_element(part))
    return [*lines, "</article>"] if open_card else lines


def _photo(asin: str, look: str) -> str:
    return f'<img{look} src="/photo/{escape(asin)}.png" alt="">'


def _element(part: Part) -> str:
    special = _SPECIAL.get(part.kind)
    return special(part) if special else WRAPPED[part.kind].format(escape(part.text))


def _button(part: Part) -> str:
    text = escape(part.text)
    if part.text == "Search":
        return f'{SEARCH_BOX}<button class="btn main">{text}</button>'
    look = "btn main" if part.text == "Buy Now" else "btn"
    return f'<button class="{look}" name="click" value="{escape(part.text.lower())}">{text}</button>'


def _product(part: Part) -> str:
    text = escape(part.text)
    return f'<button class="product-link" name="click" value="{text.lower()}">{text}</button>'


def _option(part: Part) -> str:
    text, pressed = escape(part.text), "true" if part.chosen else "false"
    return f'<button class="option" aria-pressed="{pressed}" name="click" value="{text}">{text}</button>'


_SPECIAL: dict[str, Callable[[Part], str]] = {"button": _button, "product": _product, "option": _option}


PHOTO_PIXELS = 208


@lru_cache(maxsize=1)
def stylesheet() -> bytes:
    """The style sheet of every page."""
    return files("agentrl.envs.webshop").joinpath("site.css").read_bytes()


def photo_png(product: Product) -> bytes:
    """The photo of a product as a PNG file."""
    from agentrl.envs.common.catalogue.photos import photo

    file = io.BytesIO()
    photo(product, PHOTO_PIXELS).save(file, "PNG")
    return file.getvalue()
