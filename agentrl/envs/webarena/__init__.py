"""WebArena-Lite: five web sites with tasks, an agent that browses them, and the benchmark's evaluators."""

from importlib.util import find_spec

from agentrl.core.errors import MissingExtra

for _package in ("cssselect", "jinja2", "lxml", "rapidfuzz"):
    if find_spec(_package) is None:
        raise MissingExtra(_package, "web")
