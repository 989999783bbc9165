"""WebShop: a whole shop in one process: catalogue, search, pages, reward."""

from agentrl.core.errors import MissingExtra

try:
    import rapidfuzz as rapidfuzz
except ImportError as error:
    raise MissingExtra("rapidfuzz", "webshop") from error
