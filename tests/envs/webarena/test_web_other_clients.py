"""The sites for clients of others: a port for each site, a world for every key, BrowserGym's own tasks against them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest

from agentrl.core.interpreter import CHECKOUT
from tests.adapters.libraries import run_in


@pytest.fixture(scope="module")
def line() -> Iterator[str]:
    """What the command prints once it serves."""
    words = [sys.executable, "-m", "agentrl.cli", "site", "webarena", "--ports", "--port", "0", "--json"]
    served = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=CHECKOUT)
    assert served.stdout is not None
    yield served.stdout.readline()
    served.terminate()
    served.wait(20)
    served.stdout.close()


def ask(url: str, data: Any = None, opener: Any = None, **headers: str) -> str:
    """What an address answers, redirects followed."""
    body = None if data is None else json.dumps(data).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with (opener or build_opener()).open(Request(url, body, {"content-type": "application/json", **named})) as answer:
        return answer.read().decode()


def test_every_site_has_a_port_and_every_key_a_world(line: str) -> None:
    served = json.loads(line)
    sites, start = served["sites"], served["start"].rstrip("/")
    assert len({address.split(":")[2] for address in sites.values()}) == 6
    pages = {name: ask(address) for name, address in sites.items()}
    assert not any(".localhost" in page for page in pages.values())
    assert "Sign In" in pages["shopping"] and "Sign Out" not in pages["shopping"]  # nobody is logged in
    assert sites["map"] in pages["homepage"]
    assert ask(f"{start}/status") == "Ready for duty!" and sites["map"] in ask(start)
    # A browser gets a world by its address, with the accounts logged in; other clients name it in a header.
    browser = build_opener(HTTPCookieProcessor())
    assert "Sign Out" in ask(f"{start}/.world?key=a&to={sites['shopping']}/", opener=browser)
    assert "Sign Out" in ask(sites["shopping"], opener=browser)
    # REST, as the evaluators of the benchmark ask.
    admin = {"username": "admin", "password": "admin1234"}
    token = json.loads(ask(f"{sites['shopping']}/rest/default/V1/integration/admin/token", admin))
    orders = ask(f"{sites['shopping']}/rest/V1/orders?searchCriteria[pageSize]=1", Authorization=f"Bearer {token}")
    assert len(json.loads(orders)["items"]) == 1
    form = build_opener(HTTPCookieProcessor())
    form.open(f"{start}/.world?key=c").close()
    form.open(f"{sites['shopping']}/newsletter/subscriber/new/", b"email=x%40y.org").close()
    assert "changed 2 records" in ask(start, X_Agentrl_World="c")
    assert "changed nothing" in ask(start, X_Agentrl_World="b") and "changed nothing" in ask(start)
    ask(f"{start}/reset", X_Agentrl_World="c")
    assert "changed nothing" in ask(start, X_Agentrl_World="c")


@pytest.mark.library("browsergym")
def test_browsergym_logs_in_and_scores(line: str, tmp_path: Path) -> None:
    """The commands of docs/browsergym.md."""
    sites = tmp_path / "sites.json"
    sites.write_text(line)
    for key in ("one", "two"):
        said = run_in("browsergym", "examples/browsergym_play.py", str(sites), key)
        assert said.endswith("reward 0.0 before, 1.0 after\n"), said
