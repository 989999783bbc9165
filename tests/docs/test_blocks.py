"""Every block of every page is run as a reader would: in an empty folder, with the installed command.

The blocks of a page share a folder. A block whose first line names a file, or that stands below `<!-- file: NAME -->`,
is written there; other Python blocks are scripts of their own; a `text` block holds lines that the block before it
prints. Below `<!-- long: REASON -->` a block takes minutes, below `<!-- not run: REASON -->` it cannot be run here.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.installed import ROOT, make_environment, run_script

PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(
    r"^(?:<!-- (file|long|not run): ([^\n]+) -->\n\n?)?```([a-z]\S*)\n(.*?)^```", re.DOTALL | re.MULTILINE
)
NAMED = re.compile(r'(?:"""|# )([\w-]+\.(?:py|toml))\b')
KINDS = {"bash", "python", "text", "toml", "json"}
NEEDS = {
    "docs/web-tasks.md": pytest.mark.browser,
    "docs/tutorials/evaluate.md": pytest.mark.long,
    "docs/tutorials/judge.md": pytest.mark.long,
    "docs/tutorials/robot.md": pytest.mark.long,
    "docs/tutorials/train.md": pytest.mark.long,
}


class Block(NamedTuple):
    """A fenced block with the mark above it."""

    mark: str
    about: str
    kind: str
    text: str

    @property
    def file(self) -> str:
        """The file that it is, or nothing."""
        named = NAMED.match(self.text)
        return self.about if self.mark == "file" else named[1] if named and self.kind != "bash" else ""


def blocks(page: Path) -> list[Block]:
    """Every block in order; generated pages and directives have none."""
    return [] if "generated" in page.parts else [Block(*found) for found in BLOCK.findall(page.read_text())]


def pages(long: bool) -> list:
    """Those with something to run, as parameters."""
    found = []
    for page in PAGES:
        if any(one.kind in ("bash", "python") and (one.mark == "long") == long for one in blocks(page)):
            name = page.relative_to(ROOT).as_posix()
            found.append(pytest.param(page, id=name, marks=[NEEDS[name]] if name in NEEDS else []))
    return found


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_environment(tmp_path_factory.mktemp("installed") / "venv")


@pytest.mark.parametrize("page", pages(long=False))
def test_every_block_runs(page: Path, programs: Path, tmp_path: Path) -> None:
    run_page(page, programs, tmp_path, long=False)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("page", pages(long=True))
def test_every_block_that_takes_minutes_runs(page: Path, programs: Path, tmp_path: Path) -> None:
    run_page(page, programs, tmp_path, long=True)


def run_page(page: Path, programs: Path, folder: Path, long: bool) -> None:
    said = ""
    for number, block in enumerate(blocks(page)):
        if block.file:
            (folder / block.file).write_text(block.text)
        elif block.mark == "not run" or (block.mark == "long") != long:
            continue
        elif block.kind == "bash":
            said = run_script(block.text, programs, folder)
        elif block.kind == "python":
            (folder / f"block_{number}.py").write_text(block.text)
            said = run_script(f"python block_{number}.py", programs, folder)
        elif block.kind == "text":
            assert [line for line in block.text.splitlines() if line.strip() not in said] == []


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_every_block_is_of_a_known_kind_and_data_can_be_read(page: Path) -> None:
    assert {block.kind for block in blocks(page)} <= KINDS
    for block in blocks(page):
        if block.kind in ("json", "toml"):
            json.loads(block.text) if block.kind == "json" else tomllib.loads(block.text)
    # A mark that is misspelt, or stands elsewhere, would be overlooked. Other comments enclose generated tables.
    marks = [block for block in blocks(page) if block.mark]
    assert len(re.findall(r"<!-- (?!tables: |end of tables)", page.read_text())) == len(marks)
    assert all(len(block.about) >= 5 for block in marks)


@pytest.mark.parametrize("text", ["python\nprint(env)", "bash\nagentrl lst", "bash\necho a\n```\n\n```text\nb"])
def test_a_page_that_names_what_is_not_there_fails(text: str, programs: Path, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(f"```{text}\n```\n")
    with pytest.raises(AssertionError):
        run_page(tmp_path / "page.md", programs, tmp_path, long=False)
