"""Is the agent where it should be? Addresses compared by the rules of either dialect."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from agentrl.envs.webarena.evaluators.answers import OR, Dialect

Query = dict[str, list[str]]


def url_match(reference: str, url: str, dialect: Dialect = "lite", note: str | None = None) -> bool:
    """Does an address match one of the references (joined by " |OR| ")?

    `lite`: equal, or with the note "GOLD in PRED" a part of the address as it stands, so that the order of its query
    matters. `webarena`: the path of any reference is a part of the address, and each key of all references' queries has
    one of their values; with the note "EXACT" equal as well.
    """
    references = [_cleaned(each, dialect) for each in reference.split(OR)]
    url = _cleaned(url, dialect)
    note = note or ("EXACT" if dialect == "lite" else "GOLD in PRED")
    if note == "EXACT":
        return url in references
    if dialect == "lite":
        return any(each in url for each in references)
    return _paths_and_queries_match(references, url)


def _cleaned(url: str, dialect: Dialect) -> str:
    if dialect == "webarena":
        return url.rstrip("/")
    return url.replace("localhost", "127.0.0.1").removesuffix("/")


def _paths_and_queries_match(references: list[str], url: str) -> bool:
    path, query = _parts(url)
    parts = [_parts(each) for each in references]
    if not any(wanted in path for wanted, _ in parts):
        return False
    accepted: Query = {}
    for _, wanted in parts:
        for key, values in wanted.items():
            accepted.setdefault(key, []).extend(values)
    return all(any(value in query.get(key, []) for value in values) for key, values in accepted.items())


def _parts(url: str) -> tuple[str, Query]:
    """Host and path, and the query."""
    try:
        parts = urlsplit(url)
        return parts.netloc + parts.path, parse_qs(parts.query, max_num_fields=1000)
    except ValueError:  # not an address at all, or one with an absurd query
        return url, {}
