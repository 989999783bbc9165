"""A page as HTML of our own: what `observation_mode="html"` shows and `agentrl shop` serves.

Its visible strings, in order, are exactly the strings of the text mode. Everything from outside is escaped, and there
is no script: a page is one form whose buttons carry what `click[...]` would.
"""

from __future__ import annotations

import io
from functools import lru_cache
from html import escape
from importlib.resources import files

from agentrl.envs.common.catalogue.product import Product
from agentrl.envs.webshop.pages import DONE, ITEM, Page

HEAD = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta name="viewport" content="width=device-width, initial-scale=1">'
    '<title>WebShop</title><link rel="stylesheet" href="/style.css"></head>\n'
)
PHOTO_PIXELS = 208
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
    lines: list[str] = []  # the parts in order; on pages of products, each product between its own tags
    open_card = False
    for part in page.parts:
        if part.kind == "product":
            lines += ["</article>"] if open_card else []
            lines.append(f'<article class="card">{_photo(part.text, "")}')
            open_card = True
        elif part.kind == ("title" if page.kind == ITEM else "bought" if page.kind == DONE else None):
            lines.append(_photo(page.asin, ' class="photo"'))
        text = escape(part.text)
        if part.text == "Search" and part.kind == "button":
            lines.append(f'{SEARCH_BOX}<button class="btn main">{text}</button>')
        elif part.kind == "button":
            look = "btn main" if part.text == "Buy Now" else "btn"
            lines.append(f'<button class="{look}" name="click" value="{escape(part.text.lower())}">{text}</button>')
        elif part.kind == "product":
            lines.append(f'<button class="product-link" name="click" value="{text.lower()}">{text}</button>')
        elif part.kind == "option":
            pressed = "true" if part.chosen else "false"
            lines.append(f'<button class="option" aria-pressed="{pressed}" name="click" value="{text}">{text}</button>')
        else:
            lines.append(WRAPPED[part.kind].format(text))
    if open_card:
        lines.append("</article>")
    body = "\n".join(lines)
    form = f'<form method="post" action="{escape(action)}" class="page {page.kind}">\n{body}\n</form>'
    return f"{HEAD}<body>{form}{beside}</body></html>\n"


def _photo(asin: str, look: str) -> str:
    return f'<img{look} src="/photo/{escape(asin)}.png" alt="">'


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
