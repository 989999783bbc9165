"""An environment's docstring is its page: every section is there, and the pages' sources can be made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image

from agentrl.core.env import keyword_arguments
from agentrl.core.errors import ConfigError
from agentrl.registry import MULTIPLAYER, TABLE
from docs import generate

CLASSES = sorted({entry.entry_point for entry in TABLE})


@pytest.mark.parametrize("entry_point", CLASSES)
def test_every_environment_documents_every_section(entry_point: str) -> None:
    assert generate.missing_sections(generate.load(entry_point)) == []


@pytest.mark.parametrize("lost", generate.SECTIONS)
def test_a_missing_or_empty_section_is_noticed(lost: str) -> None:
    whole = {title: f"## {title}\nSome words.\n" for title in generate.SECTIONS}

    class Documented:
        pass

    Documented.__doc__ = "First line.\n\n" + "\n".join(whole.values())
    assert generate.missing_sections(Documented) == []
    Documented.__doc__ = "First line.\n\n" + "\n".join({**whole, lost: ""}.values())
    assert generate.missing_sections(Documented) == [lost]
    Documented.__doc__ = "First line.\n\n" + "\n".join({**whole, lost: f"## {lost}\n\n"}.values())
    assert generate.missing_sections(Documented) == [lost]


@pytest.mark.parametrize("entry_point", CLASSES)
def test_the_docstring_names_every_argument_with_its_true_default(entry_point: str) -> None:
    cls = generate.load(entry_point)
    told = dict(re.findall(r"`(\w+)=([^`]+)`", generate.sections(cls)["Arguments"]))
    defaults = {name: value for name, value in keyword_arguments(cls).items() if name != "kind"}
    assert {name: repr(value).replace("'", '"') for name, value in defaults.items()} == told


@pytest.mark.parametrize("films", ["some", pytest.param("all", marks=pytest.mark.long)])
def test_pages_and_pictures_are_written_and_reached_from_the_front_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, films: str
) -> None:
    if films == "some":  # others show a committed picture, as where their extra is missing
        monkeypatch.setattr(generate, "is_available", lambda entry: not entry.extra)
        monkeypatch.setattr(generate, "COMMITTED", tmp_path / "committed")
        generate.COMMITTED.mkdir()
        for entry in TABLE:
            Image.new("RGB", (4, 4)).save(generate.COMMITTED / f"{entry.id.rpartition('/')[2]}.png")
    pages = generate.write_all(tmp_path)
    names = {page.relative_to(tmp_path).as_posix() for page in pages}
    assert names >= {
        "environments/index.md",
        "environments/frozenlake.md",
        "environments/sokoban.md",
        "environments/sokobanduo.md",
        "wrappers.md",
        "command_line.md",
        "training_options.md",
    }
    assert all(page.stat().st_size > 0 for page in pages)
    for name in ("frozenlake", "sokoban"):
        page = (tmp_path / "environments" / f"{name}.md").read_text()
        assert all(f"\n## {title}\n" in page for title in generate.SECTIONS)
        assert "| `split` | `str` | `'train'` |" in page and ">>> " in page
        assert (tmp_path / "environments" / f"{name}.gif").read_bytes().startswith(b"GIF89a")
    index = (tmp_path / "environments" / "index.md").read_text()
    assert all(f"`{entry.id}`" in index for entry in (*TABLE, *MULTIPLAYER))
    listed = {path.stem for path in (tmp_path / "environments").glob("*.md")} - {"index"}
    toctree = index.split("{toctree}", 1)[1]
    assert all(f"\n{page}\n" in toctree for page in listed)


def test_an_environment_that_cannot_run_here_shows_its_committed_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate, "is_available", lambda entry: entry.extra != "webshop")
    monkeypatch.setattr(generate, "COMMITTED", tmp_path / "committed")
    rows = generate.environments()["WebShop"]
    with pytest.raises(ConfigError, match=r"agentrl-suite\[webshop\].*docs/_static/envs/WebShop-Visual-v0.png"):
        generate.write_environment(tmp_path, rows)
    generate.COMMITTED.mkdir()
    Image.new("RGB", (4, 4)).save(generate.COMMITTED / "WebShop-Visual-v0.png")
    page = generate.write_environment(tmp_path, rows).read_text()
    assert "![WebShop](webshop.png)" in page and (tmp_path / "webshop.png").is_file()
    assert "| `agentrl/WebShop-Text-v0` | needs the extra `webshop` | | |" in page and "## One episode" not in page
    assert all(f"\n## {title}\n" in page for title in generate.SECTIONS)


def test_pages_are_titled_by_the_names_of_environments() -> None:
    titles = {entry.entry_point: generate.name_of(entry) for entry in (*TABLE, *MULTIPLAYER)}
    modules = {point.partition(":")[0] for point in titles}
    assert modules == set(generate.NAMES) and len(set(titles.values())) == len(titles)
    assert {"LIBERO in words", "Two-player Sokoban", "Meta-World"} <= set(titles.values())


def test_the_front_page_has_four_groups_an_install_line_and_code() -> None:
    page = (Path(generate.__file__).parent / "index.md").read_text()
    assert re.findall(r"^:caption: (.+)$", page, re.MULTILINE) == ["Start", "Guides", "Reference", "Results"]
    assert "pip install ." in page and "tutorials/evaluate" in page
    readme = (Path(generate.__file__).parents[1] / "README.md").read_text()
    start, end = (re.search(rf'^:{name}: "(.+)"$', page, re.MULTILINE)[1] for name in ("start-after", "end-before"))
    shown = readme.partition(start.encode().decode("unicode_escape"))[2].partition(end)[0]
    assert shown.count("\n") < 20 and "gym.make(" in shown and "env.step(reply)" in shown


def test_every_training_option_is_listed_with_its_default_and_meaning() -> None:
    from agentrl.algorithms import ALGORITHMS, arguments_class
    from agentrl.cli.option_types import described

    rows = [line for line in generate.training_options_page().splitlines() if line.startswith("| `")]
    listed = {line.split("`")[1]: line for line in rows}
    for algorithm in ALGORITHMS:
        for name, text in described(arguments_class(algorithm)).items():
            assert name in listed and " ".join(text.split()).replace("|", "\\|") in "".join(rows)
