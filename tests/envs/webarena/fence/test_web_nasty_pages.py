"""Pages that hang, flood, ask and crash harm their own episode at most: no other is touched, none earns a reward."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hostile_web import HostileSite, Reply, canary, hostile_site
from nasty_pages import NASTY, PAGES, PEERS

from agentrl.core.errors import EnvFault
from agentrl.envs.webarena.env import WebArenaLiteEnv

pytestmark = [pytest.mark.browser, pytest.mark.extra_web]
DEADLINE = 1.0  # seconds for an action on a nasty page
WORKERS, CALM = 3, 2  # episodes at a time
TASK = {
    "sites": ["place"], "task_id": 0, "intent": "Say right.", "start_url": "__PLACE__/calm",
    "eval": {"eval_types": ["string_match"], "reference_answers": {"exact_match": "right"}},
}  # fmt: skip


@pytest.fixture(scope="module")
def site() -> Iterator[HostileSite]:
    """Serves the pages."""
    with hostile_site(PAGES) as found:
        yield found


def _env(site: HostileSite, folder: Path) -> WebArenaLiteEnv:
    tasks = folder / "tasks.json"
    if not tasks.exists():
        tasks.write_text(json.dumps([TASK]))
    return WebArenaLiteEnv(sites_at={"place": site.origin}, task_file=tasks, backend="browser", max_turns=10_000)


def _visit(env: WebArenaLiteEnv, url: str) -> tuple[str, float]:
    """An episode on a nasty page, up to a wrong answer: how it ended, and its reward."""
    env.reset(seed=0)
    env.backend.deadline = DEADLINE
    reward = 0.0
    try:
        for action in (f'do(action="Go To", argument="{url}")', 'do(action="Click", element="0")', 'exit(message="x")'):
            _, more, terminated, _, _ = env.step(action)
            reward += float(more)
        assert terminated
        return "answered", reward
    except EnvFault as fault:
        return f"fault: {fault}", reward
    finally:
        env.backend.deadline = 30.0


def _step_calmly(env: WebArenaLiteEnv, over: threading.Event) -> int:
    """Click on and on: the page counts, and keeps what was typed. How many clicks there were."""
    env.reset(seed=0)
    env.step('do(action="Type", argument="typed before", element="0")')
    clicks = 0
    while not over.is_set():
        _, _, _, _, info = env.step('do(action="Click", element="1")')
        clicks += 1
        view = env.backend.view()
        assert not view.error and info["valid"], info["feedback"]
        assert view.labels[1].text == str(clicks)
        assert list(view.values.values()) == ["typed before"]
    _, reward, _, _, info = env.step('exit(message="right")')
    assert reward == 1 and info["success"]
    return clicks


@pytest.mark.parametrize("every", [20, pytest.param(1, marks=pytest.mark.long)])
def test_nasty_pages_end_no_episode_but_their_own(
    site: HostileSite, tmp_path: Path, record_property: Any, every: int
) -> None:
    envs = [_env(site, tmp_path) for _ in range(WORKERS + CALM)]
    names, over = list(NASTY)[::every], threading.Event()

    def visit_some(worker: int) -> dict[str, tuple[str, float]]:
        return {name: _visit(envs[worker], f"{site.origin}/{name}") for name in names[worker::WORKERS]}

    with ThreadPoolExecutor(WORKERS + CALM) as pool:
        calm = [pool.submit(_step_calmly, env, over) for env in envs[WORKERS:]]
        try:
            found = {name: ending for part in pool.map(visit_some, range(WORKERS)) for name, ending in part.items()}
        finally:
            over.set()
        clicks = [play.result() for play in calm]
    for env in envs:
        env.close()
    faults = sorted(f"{name}: {ending}" for name, (ending, _) in found.items() if ending != "answered")
    record_property(
        "figures",
        f"nasty pages: {len(found)} episodes, {len(faults)} typed faults {faults or ''}; "
        f"beside them {CALM} calm episodes made {sum(clicks)} steps without a fault",
    )
    assert len(found) == len(names) >= 20 // every
    assert [name for name, (_, reward) in found.items() if reward] == []
    assert [ending for ending, _ in found.values() if "did not answer within" in ending] == []  # a limit was missed
    assert min(clicks) > 0


def test_peers_and_workers_get_nowhere() -> None:
    """No packet to a STUN or TURN server, no QUIC, no service worker."""
    from agentrl.envs.webarena.live.backend import LiveBackend

    with canary() as listener:
        pages = {
            "/calm": PAGES["/calm"], "/worker.js": lambda _: Reply("", headers={"content-type": "text/javascript"}),
            "/peers": lambda _: f"<iframe></iframe><script>{PEERS % listener.port}</script>",
        }  # fmt: skip
        with hostile_site(pages) as site:
            backend = LiveBackend([site.origin])
            backend.start([f"{site.origin}/peers"], {})
            for path in ("/calm", "/peers"):
                backend.open(site.origin + path)
            text = "".join(backend.view().root.xpath("//body//text()[not(parent::script)]"))
            backend.close()
        assert "registered" not in text
        assert "/worker.js" not in site.asked
        assert listener.hits == []
