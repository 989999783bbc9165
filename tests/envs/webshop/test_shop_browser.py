"""The shop in Chromium: same texts, rewards and states as without it, real pictures, snapshots, faults."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agentrl.core.errors import ConfigError, EnvFault
from agentrl.envs.webshop.browsing import ORIGIN, address_of, place_at
from agentrl.envs.webshop.env import WebShopEnv
from agentrl.envs.webshop.pages import Place
from tests.envs.webshop.shop_kit import SMALL, small_shop, visible_strings

ODD_SEARCHES = (
    "..",
    ".",
    "a/b?c=d&e;f#g",
    "100% cotton + 'quotes' \"double\" <b>&amp;</b>",
    "<r>",
    "shirts [size m]",
    "\N{GRINNING FACE}" * 999,
    "x" * 1000,
    "\u0130" * 1000,
    "caf\u00e9 \u200b zero \u202e width",
    "tab\tand\x00nul",
)


@pytest.fixture
def shops() -> Iterator[tuple[WebShopEnv, WebShopEnv]]:
    """The same shop without and with a browser."""
    both = small_shop(), small_shop(backend="browser")
    yield both
    for env in both:
        env.close()


def same_reset(shops: tuple[WebShopEnv, WebShopEnv], **arguments: Any) -> None:
    without, with_browser = (env.reset(**arguments) for env in shops)
    assert without == with_browser


def same_step(shops: tuple[WebShopEnv, WebShopEnv], action: str) -> bool:
    """One step in both; has it ended?"""
    without, with_browser = (env.step(action) for env in shops)
    assert without == with_browser
    assert shops[0].state() == shops[1].state() and shops[0].oracle() == shops[1].oracle()
    return without[2] or without[3]


def shown(env: WebShopEnv) -> tuple[str, list[str]]:
    """The address of the page in the browser, and the strings that it shows."""
    from agentrl.envs.common.browser import engine

    assert env._browser is not None and env._browser._tab is not None
    page = env._browser._tab.page
    return page.url, visible_strings(engine().run(page.content(), 10))


def strings_of(env: WebShopEnv) -> list[str]:
    return [part.text.strip() for part in env.page.parts if part.text.strip()]


# ---------------------------------------------------------------------- the same shop


@pytest.mark.browser
def test_the_oracle_earns_the_same_by_the_same_pages_in_both(shops: tuple[WebShopEnv, WebShopEnv]) -> None:
    for seed in range(2):
        same_reset(shops, seed=seed)
        over = False
        while not over:
            action = shops[0].oracle()
            assert action is not None
            over = same_step(shops, action)
            assert shown(shops[1])[1] == strings_of(shops[1])
        assert shops[1]._success


@pytest.mark.browser
def test_random_walks_lead_to_the_same_pages_in_both(shops: tuple[WebShopEnv, WebShopEnv]) -> None:
    random = np.random.default_rng(5)
    for seed in range(3):
        same_reset(shops, seed=seed)
        for _ in range(7):
            actions = [action for action in shops[0].legal_actions() if action != "click[buy now]"]
            if same_step(shops, actions[random.integers(len(actions))]):
                break


@pytest.mark.browser
@pytest.mark.long
def test_odd_searches_and_bad_actions_do_the_same_in_both(shops: tuple[WebShopEnv, WebShopEnv]) -> None:
    same_reset(shops, seed=1)
    for words in ODD_SEARCHES:
        same_step(shops, f"search[{words}]")
        if shops[0].state().page == "results":
            assert place_at(shown(shops[1])[0]) == shops[1]._place
    same_reset(shops, seed=2)
    for action in ("click[search]", "click[buy now]", "search[]", "nonsense", "search[shirt] click[next >]"):
        same_step(shops, action)


@pytest.mark.browser
def test_prompts_and_modes_are_the_same_in_both() -> None:
    for arguments in ({"protocol": "verl-agent"}, {"observation_mode": "text_rich", "show_attributes": True}):
        both = small_shop(**arguments), small_shop(**arguments, backend="browser")
        same_reset(both, seed=3)
        for _ in range(3):
            same_step(both, both[0].oracle() or "")
        for env in both:
            env.close()


def test_an_address_says_everything_about_its_place() -> None:
    options = (("size", "x & y"), ("colour", 'light "grey"/blue'))
    for place in (Place(), Place("results", "..", 7, 3), Place("item", "a+b c#d", 0, 2, "B06Y3VLDFB", options)):
        assert place_at(address_of("test-3", place)) == place
    for address in ("", "about:blank", f"{ORIGIN}/test-3/nowhere", f"{ORIGIN}/s/item?number=x", "http://a.test/s/item"):
        assert place_at(address) is None
    assert place_at(f"{ORIGIN}/s/item?options=%7B") is None


# ---------------------------------------------------------------------- pictures and snapshots


@pytest.mark.browser
def test_the_picture_is_a_screenshot_that_depends_on_the_page_only() -> None:
    one, two = (small_shop(kind="visual", image_size=400, backend="browser") for _ in range(2))
    one.reset(seed=4)
    seen, *_ = one.step("search[shirt]")
    product = one.state().results[-1].lower()
    one.step(f"click[{product}]")
    again, *_ = one.step("click[< prev]")
    assert seen["image"].shape == (400, 400, 3) and seen["image"].dtype == np.uint8
    assert one.observation_space.contains(seen) and seen["image"].std() > 10
    assert np.array_equal(seen["image"], again["image"])
    two.reset(seed=9)
    two.restore(one.snapshot())
    assert np.array_equal(two._draw(), seen["image"])
    one.close()
    two.close()


@pytest.mark.browser
def test_a_restored_snapshot_shows_its_page_and_goes_on_alike(shops: tuple[WebShopEnv, WebShopEnv]) -> None:
    env = shops[1]
    env.reset(seed=6)
    for _ in range(2):
        env.step(env.oracle() or "")
    saved, state = env.snapshot(), env.state()
    copy = pickle.loads(pickle.dumps(env))
    env.step("search[lamp]")
    env.restore(saved)
    assert env.state() == state and place_at(shown(env)[0]) == env._place and shown(env)[1] == strings_of(env)
    action = env.oracle() or ""
    assert env.step(action) == copy.step(action)
    copy.close()


# ---------------------------------------------------------------------- faults


@pytest.mark.browser
def test_a_killed_browser_is_a_fault_and_the_next_call_opens_another(shops: tuple[WebShopEnv, WebShopEnv]) -> None:
    from agentrl.envs.common.browser import engine

    async def process() -> int:
        session = await (await engine().browser()).new_browser_cdp_session()
        found = (await session.send("SystemInfo.getProcessInfo"))["processInfo"]
        return next(row["id"] for row in found if row["type"] == "browser")

    same_reset(shops, seed=7)
    same_step(shops, "search[shirt]")
    os.kill(engine().run(process(), 10), signal.SIGKILL)
    with pytest.raises(EnvFault):
        shops[1].step("click[next >]")
    same_step(shops, "click[next >]")
    same_reset(shops, seed=8)


@pytest.mark.browser
@pytest.mark.long
def test_a_crashed_page_is_a_fault_of_its_own_episode_only(shops: tuple[WebShopEnv, WebShopEnv]) -> None:
    from agentrl.envs.common.browser import engine

    other = small_shop(backend="browser")
    other.reset(seed=7)
    same_reset(shops, seed=7)
    assert shops[1]._browser is not None
    tab = shops[1]._browser._tab
    assert tab is not None
    with pytest.raises(EnvFault):
        engine().run(tab.session.send("Page.crash"), 3)
    with pytest.raises(EnvFault):
        shops[1].step("search[shirt]")
    assert other.step("search[shirt]")[4]["valid"]
    same_step(shops, "search[shirt]")
    other.close()


@pytest.mark.browser
def test_a_shop_that_fails_to_answer_is_a_fault(
    shops: tuple[WebShopEnv, WebShopEnv], monkeypatch: pytest.MonkeyPatch
) -> None:
    env = shops[1]
    env.reset(seed=7)
    assert env._browser is not None
    monkeypatch.setattr(env._browser._storefront, "_look", lambda place: 1 / 0)
    with pytest.raises(EnvFault, match="did not answer"):
        env.step("search[shirt]")


@pytest.mark.browser
def test_a_missing_chromium_is_told_when_the_environment_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTRL_CHROMIUM", "/nowhere/chromium")
    with pytest.raises(ConfigError, match="AGENTRL_CHROMIUM"):
        small_shop(backend="browser")
    small_shop().reset(seed=0)


def test_the_embedded_shop_needs_no_playwright_and_the_browser_names_its_extra() -> None:
    code = f"""
import sys
sys.modules["playwright"] = None
from agentrl.core.errors import MissingExtra
from agentrl.envs.webshop.env import WebShopEnv
WebShopEnv(catalogue_size={SMALL}).reset(seed=0)
try:
    WebShopEnv(catalogue_size={SMALL}, backend="browser")
except MissingExtra as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and "browser" in done.stdout, done.stderr[-2000:]


def test_an_unknown_backend_is_refused() -> None:
    with pytest.raises(ConfigError, match="backend must be one of embedded, browser; got 'firefox'"):
        small_shop(backend="firefox")
