"""A site whose identity cannot be checked is a fault of the site: never a page, never a zero."""

from __future__ import annotations

import json
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_web import HostileSite, hostile_site
from nasty_pages import PAGES

from agentrl.core.errors import EnvFault
from agentrl.envs.webarena.env import WebArenaLiteEnv

pytestmark = [pytest.mark.browser, pytest.mark.extra_web]
ANSWER = {"eval_types": ["string_match"], "reference_answers": {"exact_match": "right"}}


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileSite]:
    """Speaks TLS, with a certificate that nobody but itself has signed."""
    folder = tmp_path_factory.mktemp("certificate")
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with hostile_site(PAGES) as site:
        site.socket = context.wrap_socket(site.socket, server_side=True)
        yield site


@pytest.fixture(scope="module")
def plain() -> Iterator[HostileSite]:
    """Does not speak TLS."""
    with hostile_site(PAGES) as site:
        yield site


def _env(folder: Path, **addresses: str) -> WebArenaLiteEnv:
    """One task on each site."""
    tasks = [
        {"sites": [name], "task_id": number, "intent": "Say right.", "start_url": f"__{name.upper()}__", "eval": ANSWER}
        for number, name in enumerate(addresses)
    ]
    (folder / "tasks.json").write_text(json.dumps(tasks))
    return WebArenaLiteEnv(sites_at=addresses, task_file=folder / "tasks.json", backend="browser")


def test_an_episode_cannot_begin(secure: HostileSite, plain: HostileSite, tmp_path: Path) -> None:
    """And nothing was asked of the site."""
    addresses = {name: site.origin.replace("http:", "https:") for name, site in (("own", secure), ("none", plain))}
    for name, message in (("own", "ERR_CERT_AUTHORITY_INVALID"), ("none", "ERR_SSL_PROTOCOL_ERROR")):
        env = _env(tmp_path, **{name: addresses[name]})
        with pytest.raises(EnvFault, match=message):
            env.reset(seed=0)
        env.close()
    assert secure.asked == plain.asked == []


def test_an_agent_that_goes_there_gets_no_reward_and_no_zero(
    secure: HostileSite, plain: HostileSite, tmp_path: Path
) -> None:
    """The step is a fault; the next episode begins as ever."""
    origin = secure.origin.replace("http:", "https:")
    env = _env(tmp_path, plain=plain.origin, own=origin)
    for _ in range(2):
        env.reset(options={"task": env.tasks()[0]})
        with pytest.raises(EnvFault, match="ERR_CERT"):
            env.step(f'do(action="Go To", argument="{origin}/calm")')
    env.close()
    assert secure.asked == []
