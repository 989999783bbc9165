"""Pages as agents see them, beside what the benchmark's own code writes of the same page in the same tab.

    python -m benchmarks.webarena.upstream simplified PATH [--walks N] [--steps N] [--seed N] [--page FILE]
    python -m benchmarks.webarena.upstream accessibility PATH

For `simplified` PATH is the folder that holds `html_tools` (VAB-WebArena-Lite/new of THUDM/VisualAgentBench), and texts
must be equal to the byte. For `accessibility` it is a folder with libwebarena and beartype (`pip install --no-deps
--target PATH libwebarena==0.0.4 beartype`), and lines are compared without their ids. With `--page` it is one page of
one's own, served on loopback, that is compared, as sites at an address are. Upstream's waits and screenshots, of which
the text does not depend, are left out.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import json
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, redirect_stdout
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

from agentrl.envs.common.browser import engine
from agentrl.envs.webarena.acting.grammars import write
from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.observing.modes import observe
from benchmarks.webarena.differential import choose

_DEADLINE = 60.0  # seconds
_SHOWN = 3  # differences of a page
_SCREENS = 20  # at most, of a page of one's own
_MARKS = ("data-value", "data-text", "data-label", "data-bbox", "data-status", "data-backend-node-id", "data-label-id")
# What upstream's script leaves behind in the page.
_CLEAN = f"""() => document.querySelectorAll('*').forEach((element) => {{
    element.classList.remove('possible-clickable-element');
    if (element.getAttribute('class') === '') element.removeAttribute('class');
    {list(_MARKS)}.forEach((name) => element.removeAttribute(name));
}})"""
_ID = re.compile(r"^(\t*)\[\d+\] ", re.MULTILINE)
# Chromium has begun to tell these after WebArena's tasks were published.
_NEWER = ((re.compile(r" url: \S+"), ""), (re.compile(r"^(\t*)image ", re.MULTILINE), r"\1img "))


class Synchronous:
    """A tab for code that calls Playwright without awaiting, and its session of Chromium's protocol."""

    def __init__(self, backend: Any) -> None:
        self.tab = engine().run(backend._current(), _DEADLINE)

    def evaluate(self, script: str, *arguments: Any) -> Any:
        """In the page's own world."""
        return engine().run(self.tab.page.evaluate(script, *arguments), _DEADLINE)

    def send(self, method: str, options: dict[str, Any] | None = None) -> Any:
        """A command of Chromium's protocol."""
        return engine().run(self.tab.session.send(method, options or {}), _DEADLINE)

    def wait_for_timeout(self, _: float) -> None:
        """The page has settled."""

    def screenshot(self, **_: Any) -> bytes:
        """The text has no use for it."""
        return b""


class Pair(NamedTuple):
    """A page in our words and in upstream's."""

    ours: str
    without_browser: str | None
    theirs: str


def html_tools(backend: Any) -> str:
    """The page as html_tools writes it."""
    page = Synchronous(backend)
    try:
        with redirect_stdout(StringIO()):
            return importlib.import_module("html_tools.fetch").get_parsed_html(page)["html"]
    finally:
        page.evaluate(_CLEAN)


def libwebarena(backend: Any) -> str:
    """The accessibility tree as libwebarena writes it, without ids and what Chromium has begun to tell since.

    It leaves out a text that one of three lines before holds, be it in the id of the line: a digit of another script
    stands there meanwhile.
    """
    page, (width, height) = Synchronous(backend), backend.viewport
    module = importlib.import_module("webarena.browser_env.processors")
    processor = module.TextObervationProcessor("accessibility_tree", True, {"width": width, "height": height})
    nodes = processor.fetch_page_accessibility_tree(processor.fetch_browser_info(page, page), page, True)
    tree = _ID.sub("\\1[\N{ARABIC-INDIC DIGIT ZERO}] ", processor.parse_accessibility_tree(nodes)[0])
    found = without_ids(processor.clean_accesibility_tree(tree))
    for pattern, replacement in _NEWER:
        found = pattern.sub(replacement, found)
    return found


def without_ids(tree: str) -> str:
    """The lines of a tree, without their numbers."""
    return _ID.sub(r"\1", tree)


def walk(mode: str, theirs: Callable[[Any], str], walks: int, steps: int, seed: int) -> Iterator[tuple[str, Pair]]:
    """Pages of all sites, met on random walks of both back ends at once."""
    envs = [
        WebArenaLiteEnv(backend=name, observation_mode=mode, action_format="browsergym", split="test")
        for name in ("dom", "browser")
    ]
    tasks = envs[0].tasks()
    for number in range(walks):
        generator = random.Random(seed * 1_000_003 + number)
        task = tasks[(number * len(tasks)) // walks]
        done = f"reset {task}"
        for env in envs:
            env.reset(options={"task": task})
        for _ in range(steps):
            dom, browser = (shown(env, mode) for env in envs)
            yield done, Pair(browser, dom, theirs(envs[1].backend))
            action = write(choose(envs[0].backend.view(), envs[1].backend.view(), generator), envs[0].action_format)
            done = f"{done} / {action}"
            for env in envs:
                env.step(action)
    for env in envs:
        env.close()


def shown(env: WebArenaLiteEnv, mode: str) -> str:
    """The page as our agents see it."""
    text = observe(env.backend.view(), mode, header=False)
    return without_ids(text) if mode == "accessibility" else text


def one_page(file: Path, mode: str, theirs: Callable[[Any], str]) -> Iterator[tuple[str, Pair]]:
    """A page of one's own at an address on loopback, at its start and further down."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(file.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, tempfile.TemporaryDirectory() as folder:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        task = {"task_id": 0, "sites": ["own"], "start_url": f"{address}/{file.name}", "intent": "Look.", "eval": None}
        tasks = Path(folder, "tasks.json")
        tasks.write_text(json.dumps([task]))
        env = WebArenaLiteEnv(backend="browser", sites_at={"own": address}, task_file=tasks, observation_mode=mode)
        env.reset()
        for number in range(_SCREENS):
            before = env.backend.view().scroll
            yield f"{file.name}, screen {number}", Pair(shown(env, mode), None, theirs(env.backend))
            env.step('do(action="Scroll Down")')
            if env.backend.view().scroll == before:
                break
        env.close()
        server.shutdown()


def report(pages: list[tuple[str, Pair]], *, by_line: bool) -> int:
    """Print how many are equal, and where the others differ."""
    browser = sum(pair.ours == pair.theirs for _, pair in pages)
    dom = [pair.without_browser == pair.theirs for _, pair in pages if pair.without_browser is not None]
    print(f"{len(pages)} pages: equal to upstream's in Chromium {browser}, without a browser {sum(dom)} of {len(dom)}")
    if by_line:
        for name, number in (("in Chromium", 0), ("without a browser", 1)):
            print(f"{name}: {_lines_equal([(ours, pair.theirs) for _, pair in pages if (ours := pair[number])])}")
    for done, pair in pages:
        for name, ours in (("browser", pair.ours), ("dom", pair.without_browser)):
            if ours is not None and ours != pair.theirs:
                print(f"{done}\n    {name}: " + "\n        ".join(_differences(ours, pair.theirs)))
    return int(not by_line and browser < len(pages))


def _lines_equal(pairs: list[tuple[str, str]]) -> str:
    """Lines that both have, in the same order."""
    same = total = 0
    for ours, theirs in pairs:
        one, other = ours.split("\n"), theirs.split("\n")
        blocks = difflib.SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
        same, total = same + sum(block.size for block in blocks), total + max(len(one), len(other))
    return f"{same} of {total} lines equal ({100 * same / max(total, 1):.2f} %)"


def _differences(ours: str, theirs: str) -> list[str]:
    one, other = (re.sub(r" <", "\n<", text).split("\n") for text in (ours, theirs))
    return [line for line in difflib.ndiff(one, other) if line[0] in "+-"][: 2 * _SHOWN]


def main() -> int:
    """How many pages are equal, and how many lines of trees; 1 if a simplified page differs in Chromium."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("simplified", "accessibility"))
    parser.add_argument("path", type=Path)
    parser.add_argument("--walks", type=int, default=30)
    parser.add_argument("--steps", type=int, default=4, help="pages of a walk")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--page", type=Path, help="compare this HTML file instead")
    arguments = parser.parse_args()
    sys.path.insert(0, str(arguments.path.resolve()))
    mode, page = arguments.mode, arguments.page and arguments.page.resolve()
    theirs = html_tools if mode == "simplified" else libwebarena
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        found = walk(mode, theirs, arguments.walks, arguments.steps, arguments.seed)
        pages = list(one_page(page, mode, theirs) if page else found)
    return report(pages, by_line=mode == "accessibility")


if __name__ == "__main__":
    sys.exit(main())
