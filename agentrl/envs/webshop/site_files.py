"""What the shop's web pages need beside their HTML: the style sheet and photos of products."""

from __future__ import annotations

import io
from functools import lru_cache
from importlib.resources import files

from agentrl.envs.common.catalogue.product import Product

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
