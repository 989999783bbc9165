"""Recordings: what is in them, when they are written, and what hostile text cannot do to them."""

from __future__ import annotations

import base64
import builtins
import hashlib
import importlib.util
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image

import agentrl
from agentrl.core.errors import ConfigError, MissingExtra
from agentrl.wrappers import Reasoning, RecordEpisode
from agentrl.wrappers import record_episode as film_module
from agentrl.wrappers.record_episode import encode_png, episode_page, gif, mp4

OUR_TAGS = re.findall(r"\w+", "html head meta title style body main footer h1 h2 section div img pre dl dt dd")
HOSTILE = [
    "<script>alert(1)</script>",
    "</pre></section><h1>forged</h1>",
    "<img src=x onerror=alert(1)>",
    "\" onload='x' <!-- ",
    "]]><style>*{display:none}</style>",
    "\ud800 \x00 \u202e reversed",
    "&lt;b&gt; &#60;i>",
]


def make(folder: Any, kind: str = "Visual", **arguments: Any) -> RecordEpisode:
    env = gym.make(f"agentrl/Sokoban-{kind}-v0", render_mode="rgb_array", image_size=48)
    return RecordEpisode(env, folder, **arguments)


def play(env: gym.Env, seed: int = 0) -> list[np.ndarray]:
    """Solve an episode; the pictures in it."""
    env.reset(seed=seed)
    pictures, over = [env.render()], False
    while not over:
        _, _, terminated, truncated, _ = env.step(env.unwrapped.oracle())
        pictures.append(env.render())
        over = terminated or truncated
    return pictures


class Page(HTMLParser):
    """Tags, attributes, texts and pictures of a page, as a browser would find them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.pictures: list[np.ndarray] = []
        self.text = ""
        self.policy = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.attributes += found
        if tag == "img":
            head, _, data = (found["src"] or "").partition(",")
            assert head == "data:image/png;base64"
            self.pictures.append(np.asarray(Image.open(io.BytesIO(base64.b64decode(data)))))
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found["content"] or ""

    def handle_data(self, data: str) -> None:
        self.text += data


def test_one_set_of_files_an_episode(tmp_path: Path) -> None:
    env = make(tmp_path / "deep" / "er", formats=("gif", "html", "mp4"), name="run")
    play(env, 0)
    play(env, 1)
    stems = ["run-000000", "run-000001"]
    names = [f"{stem}.{kind}" for stem in stems for kind in ("gif", "html", "mp4")]
    assert [path.name for path in env.files] == names
    assert sorted(path.name for path in (tmp_path / "deep" / "er").iterdir()) == sorted(names)


def test_the_gif_shows_every_moment(tmp_path: Path) -> None:
    env = make(tmp_path, formats=["gif"])
    pictures = play(env)
    with Image.open(env.files[0]) as film:
        assert film.n_frames == len(pictures)
        for number, picture in enumerate(pictures):
            film.seek(number)
            # A palette may round colours a little.
            assert np.abs(np.asarray(film.convert("RGB")).astype(int) - picture).max() <= 8
        assert film.info["loop"] == 0


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # imageio's reader leaves a pipe open
def test_the_mp4_shows_every_moment(tmp_path: Path) -> None:
    import imageio.v3 as imageio

    env = make(tmp_path, formats=["mp4"])
    pictures = play(env)
    frames = imageio.imread(env.files[0])
    assert frames.shape[1:] == (48, 48, 3)
    assert len(frames) >= len(pictures)
    for frame, picture in zip(frames, pictures, strict=False):
        assert np.abs(frame.astype(int) - picture).mean() < 12  # lossy, but the same picture


def test_odd_and_unequal_frames_still_make_films() -> None:
    frames = [encode_png(np.full((h, w, 3), 90, np.uint8)) for h, w in [(33, 47), (50, 21)]]
    with Image.open(io.BytesIO(gif(frames, 2))) as film:
        assert film.size == (47, 50)
    assert mp4(frames, 2)[4:8] == b"ftyp"


def test_the_page_tells_the_whole_story(tmp_path: Path) -> None:
    env = RecordEpisode(Reasoning(make(tmp_path / "x").env, "free_think"), tmp_path, formats=["html"])
    env.reset(seed=0)
    first = env.render()
    env.step("Up, jump")
    env.step("<think>A plan.</think><answer>Left</answer>")
    env.close()
    page = Page(env.files[0].read_text("utf-8"))
    assert len(page.pictures) == 3
    assert np.array_equal(page.pictures[0], first)
    for said in (
        "agentrl/Sokoban-Visual-v0",
        "'jump' is not an action",
        "A plan.",
        "format +0.5",
        "invalid \N{MINUS SIGN}0.1",
        "Turn 2 of 3.",
    ):
        assert said in page.text


def test_the_page_is_self_contained_and_its_style_passes_its_own_policy() -> None:
    html = episode_page("t", {}, [])
    policy = Page(html).policy
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in policy
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)
    assert style is not None
    assert base64.b64encode(hashlib.sha256(style.group(1).encode()).digest()).decode() in policy
    assert not re.search(r"(?:src|href)=\"(?!data:)|url\(|<script|@import", html)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(tmp_path: Path, text: str) -> None:
    env = make(tmp_path, formats=["html"])
    env.reset(seed=0)
    env.step(text)
    env.close()
    page = Page(env.files[0].read_text("utf-8"))
    assert set(page.tags) <= set(OUR_TAGS)
    assert not any(name.startswith("on") for name in page.attributes)
    assert page.tags.count("h1") == page.tags.count("style") == 1
    shown = text.replace("\ud800", "\\ud800").replace("\x00", "\\u0000").replace("\u202e", "\\u202e")
    assert shown in page.text


def test_huge_texts_are_cut(tmp_path: Path) -> None:
    env = make(tmp_path, formats=["html"])
    env.reset(seed=0)
    env.step("<" * 2_000_000)
    env.close()
    assert env.files[0].stat().st_size < 500_000
    assert "1980000 more characters" in env.files[0].read_text("utf-8")


@pytest.mark.parametrize("action", [None, 3, {"a": object()}, np.arange(3), b"x", [[]]])
def test_actions_that_are_no_text_are_recorded_too(tmp_path: Path, action: Any) -> None:
    env = make(tmp_path, formats=["html"])
    env.reset(seed=0)
    env.step(action)
    env.close()
    assert len(env.files) == 1


def test_only_every_so_many_episodes(tmp_path: Path) -> None:
    env = make(tmp_path, formats=["html"], every=3)
    for seed in range(7):
        play(env, seed)
    assert [path.stem for path in env.files] == ["episode-000000", "episode-000003", "episode-000006"]


def test_a_cut_episode_is_written_on_close_and_on_reset(tmp_path: Path) -> None:
    env = make(tmp_path, formats=["html"])
    env.reset(seed=0)
    env.step("Up")
    assert env.files == []
    env.reset(seed=1)
    assert len(env.files) == 1
    env.step("Up")
    env.close()
    env.close()
    assert len(env.files) == 2


def test_an_episode_without_a_turn_leaves_no_file(tmp_path: Path) -> None:
    env = make(tmp_path)
    env.reset(seed=0)
    env.close()
    assert list(tmp_path.iterdir()) == []


def test_a_failed_reset_does_not_cut_the_recording(tmp_path: Path) -> None:
    env = make(tmp_path, formats=["html"])
    env.reset(seed=0)
    env.step("Up")
    with pytest.raises(ConfigError):
        env.reset(options={"task": "nonsense"})
    env.step("Up")
    env.close()
    assert len(Page(env.files[0].read_text("utf-8")).pictures) == 3


def test_older_recordings_are_never_replaced(tmp_path: Path) -> None:
    first, second = make(tmp_path, formats=["html"]), make(tmp_path, formats=["html"])
    play(first)
    content = first.files[0].read_bytes()
    play(second)
    assert second.files[0].name == "episode-000000-2.html"
    assert first.files[0].read_bytes() == content


def test_a_folder_that_vanishes_does_not_stop_the_episode(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    env = make(tmp_path / "gone", formats=["html"])
    (tmp_path / "gone").rmdir()
    (tmp_path / "gone").write_text("a file now")
    play(env)
    assert env.files == []
    assert "cannot write the recording" in caplog.text


def test_a_restored_recording_goes_on_from_there(tmp_path: Path) -> None:
    env = make(tmp_path, formats=["html"])
    env.reset(seed=0)
    env.step("Up")
    blob = agentrl.snapshot(env)
    env.step("Down")
    env.close()
    agentrl.restore(env, blob)
    env.step("Left")
    env.close()
    pages = [Page(path.read_text("utf-8")) for path in env.files]
    assert [len(page.pictures) for page in pages] == [3, 3]
    assert "Left" in pages[1].text
    assert "Down" not in pages[1].text


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "a\\b",
        "/etc/x",
        "~x/y",
        "a\0b",
        "x.",
        "C:x",
        "a b",
        "é",
        "x" * 200,
        "a\n",
        None,
        3,
    ],
)
def test_names_that_could_be_paths_are_refused(tmp_path: Path, name: Any) -> None:
    with pytest.raises(ConfigError, match="name"):
        make(tmp_path, name=name)


@pytest.mark.parametrize("name", ["episode", "a", "run_1.v2", "A-b"])
def test_plain_names_stay_inside_the_folder(tmp_path: Path, name: str) -> None:
    env = make(tmp_path, name=name)
    play(env)
    assert all(path.resolve().parent == tmp_path.resolve() for path in env.files)


@pytest.mark.parametrize(
    "arguments",
    [{"formats": ()}, {"formats": "gif"}, {"formats": ("avi",)}, {"formats": None}, {"every": 0}, {"every": "1"}],
)
def test_wrong_arguments_are_refused(tmp_path: Path, arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        make(tmp_path, **arguments)


@pytest.mark.parametrize("folder", ["", None, 3, "a\0b"])
def test_wrong_folders_are_refused(folder: Any) -> None:
    with pytest.raises(ConfigError, match="folder"):
        make(folder)


def test_a_file_in_the_folders_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="cannot be created"):
        make(tmp_path / "file")


@pytest.mark.parametrize("mode", [None, "ansi"])
def test_without_pictures_the_fix_is_named(tmp_path: Path, mode: str | None) -> None:
    with pytest.raises(ConfigError, match="render_mode='rgb_array'"):
        RecordEpisode(gym.make("agentrl/Sokoban-Text-v0", render_mode=mode), tmp_path)


def test_without_the_extra_mp4_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(film_module.importlib.util, "find_spec", lambda name: None if "imageio" in name else real(name))
    with pytest.raises(MissingExtra, match=r"agentrl-suite\[record\]"):
        make(tmp_path, formats=("mp4",))
    make(tmp_path, formats=("gif", "html"))


def test_gif_and_html_need_no_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def no_imageio(name: str, *arguments: Any, **options: Any) -> Any:
        assert not name.startswith("imageio")
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", no_imageio)
    env = make(tmp_path)
    play(env)
    assert len(env.files) == 2


@pytest.mark.parametrize("kind", ["Grid", "Text"])
def test_every_kind_can_be_recorded(tmp_path: Path, kind: str) -> None:
    env = make(tmp_path, kind)
    play(env)
    assert len(env.files) == 2
