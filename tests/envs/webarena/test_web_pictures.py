"""Pictures of pages without a browser, and the marks on them."""

from __future__ import annotations

from io import BytesIO

import gymnasium as gym
import numpy as np
import pytest
from fake_web import browse
from PIL import Image

import agentrl  # noqa: F401  (registers the environments)
from agentrl.core.errors import ConfigError
from agentrl.envs.webarena.browsing.dom import DomBackend
from agentrl.envs.webarena.env import WebArenaLiteEnv
from agentrl.envs.webarena.picturing.page_picture import PagePicture, colour_of_mark
from agentrl.envs.webarena.sites.messages import Response

PLAIN = "<style>*{margin:0;padding:0} a{display:block;width:200px;height:40px;margin-bottom:400px}</style>"
LINKS = PLAIN + "".join(f"<a href='/{number}'>link {number}</a>" for number in range(5))


def picture(backend: DomBackend) -> np.ndarray:
    """What is in view, without marks."""
    return PagePicture(marks=False).take(backend)


# ---------------------------------------------------------------------- drawing


def test_backgrounds_borders_and_texts_stand_where_the_layout_puts_them() -> None:
    style = "margin:0;position:static;width:100px;height:50px;background:#ff0000;border:5px solid #0000ff;color:#ffffff"
    shown = picture(browse(f"<body style='margin:0'><div style='{style}'>MMMMMM</div>"))
    assert shown.shape == (720, 1280, 3)
    assert shown.dtype == np.uint8
    assert tuple(shown[2, 50]) == (0, 0, 255)
    assert tuple(shown[45, 90]) == (255, 0, 0)
    assert tuple(shown[100, 300]) == (255, 255, 255)
    assert (shown[5:30, 5:105] == 255).all(axis=2).sum() > 50  # the letters


def test_fields_show_what_they_hold_now() -> None:
    backend = browse(
        "<input id=a><input type=checkbox><select><option>x<option>wwwwwwwwww</select><textarea></textarea>"
    )
    for act in (
        lambda: backend.type(0, "typed"),
        lambda: backend.click(1),
        lambda: backend.select(2, "www"),
        lambda: backend.type(3, "more\nlines"),
    ):
        before = picture(backend)
        act()
        box = backend.view().boxes[backend.view().labels[0]]
        assert (picture(backend) != before).any(), box


def test_text_outside_of_a_clipping_box_is_not_drawn() -> None:
    page = "<body style='margin:0'><div style='width:60px;height:20px;overflow:hidden;white-space:nowrap'>{}</div>"
    shown = picture(browse(page.format("m" * 300)))
    assert (shown[:20, :60] < 128).any()
    assert (shown[:, 60:] == 255).all()
    ended = picture(browse(page.replace("hidden;", "hidden;text-overflow:ellipsis;").format("m" * 300)))
    assert (ended != shown).any()
    assert (ended[:, 60:] == 255).all()


def test_pictures_are_fetched_scaled_and_replaced_where_they_are_missing() -> None:
    file = BytesIO()
    Image.new("RGB", (8, 8), (0, 200, 0)).save(file, "PNG")
    shape = '<rect width="10" height="10" fill="#00f"/>'
    vector = f'<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10">{shape}</svg>'
    backend = browse(
        "<body style='margin:0;font-size:0'>"
        + "".join(f"<img src='{name}' width=100 height=100 alt='gone'>" for name in ("/good", "/none", "/bad", "/svg")),
        good=Response(file.getvalue(), content_type="image/png"),
        bad=Response(b"\x89PNG no", content_type="image/png"),
        svg=Response(vector, content_type="image/svg+xml"),
    )
    shown = picture(backend)
    assert tuple(shown[50, 50]) == (0, 200, 0)
    assert tuple(shown[80, 150]) == tuple(shown[80, 250]) == (233, 235, 238)
    assert tuple(shown[50, 350]) == (0, 0, 255)


@pytest.mark.parametrize(
    "page",
    [
        "<p style='white-space:nowrap'>" + "x" * 1_000_000,
        "<p>" + "word " * 100_000,
        "<i>a</i>" * 20_000,
        "<a href=/>" * 3_000,
        "<p style='font-size:900px;color:nonsense;border:9999px solid red;border-radius:1e9px'>big",
        "<p style='margin-left:-1000000px;width:10px;height:99999999px;background:red'>far",
        "<b>\u4e2d\u6587 \U0001f600 \u0627 e\u0301 \x7f \ud800</b>",
        "<img src='http://[' width=99999 height=99999><img src='data:,x' width=5 height=5><img>",
        "<select></select><select multiple><option></select><input type=radio checked><textarea>" + "y" * 50_000,
        "<div style='overflow:hidden'><span style='overflow:hidden'>a</span></div><svg style='overflow:hidden'></svg>",
        "",
    ],
    ids=lambda page: page[:12],
)
def test_hostile_pages_are_drawn(page: str) -> None:
    backend = browse(page)
    for part in ("viewport", "full"):
        assert PagePicture(part, image_size=640).take(backend).max() <= 255


# ---------------------------------------------------------------------- marks


def test_marks_stand_around_the_elements_with_their_ids_and_move_with_the_page() -> None:
    backend = browse(LINKS)
    for _ in range(2):
        view = backend.view()
        shown, bare = PagePicture().take(backend), picture(backend)
        assert (shown != bare).any()
        for number, element in enumerate(view.labels):
            box = view.boxes[element]
            assert tuple(shown[box.top + box.height // 2, box.left + box.width]) == colour_of_mark(number)
        backend.scroll("down")
    assert backend.view().scroll > 0


def test_a_full_picture_marks_only_what_is_in_view() -> None:
    backend = browse(LINKS + "<div style='height:900px'></div>")
    backend.scroll("down")
    taken, view = PagePicture("full"), backend.view()
    shown = taken.take(backend)
    assert shown.shape == (2880, 1280, 3)
    for number, element in enumerate(view.labels):
        box = view.boxes[element]
        middle = box.top + view.scroll + box.height // 2
        assert tuple(shown[middle, box.left + box.width]) == colour_of_mark(number)
    bare = PagePicture("full", marks=False).take(backend)
    assert (shown[:100] == bare[:100]).all()  # the first link is scrolled away


def test_a_page_longer_than_a_full_picture_is_shown_around_the_view() -> None:
    backend = browse("<body style='margin:0'><div style='height:9000px'></div><p style='height:900px;background:#f00'>")
    for _ in range(30):
        backend.scroll("down")
    shown = PagePicture("full", marks=False, image_size=288).take(backend)
    assert shown.shape == (288, 128, 3)
    assert tuple(shown[280, 64]) == (255, 0, 0)


# ---------------------------------------------------------------------- the environment


@pytest.fixture(scope="module")
def env() -> WebArenaLiteEnv:
    made = gym.make("agentrl/WebArenaLite-Visual-v0", image_size=640).unwrapped
    assert isinstance(made, WebArenaLiteEnv)
    return made


def test_the_visual_kind_shows_a_picture_and_a_list_of_the_same_ids(env: WebArenaLiteEnv) -> None:
    observation, _ = env.reset(seed=1)
    assert env.observation_space.contains(observation)
    assert observation["image"].shape == (360, 640, 3)
    assert observation["text"].count("<image>") == 1
    ids = [line.split("]")[0][1:] for line in observation["text"].splitlines() if line.startswith("[")]
    assert ids == [str(number) for number in range(len(env.backend.view().labels))]
    observation["image"][:] = 0  # the agent's own
    assert env.step('do(action="Wait")')[0]["image"].any()


def test_a_restored_episode_shows_the_same_picture(env: WebArenaLiteEnv) -> None:
    env.reset(seed=2)
    before = env.step('do(action="Scroll Down")')[0]["image"]
    saved = env.snapshot()
    env.reset(seed=3)
    env.restore(saved)
    assert (env.picture.take(env.backend) == before).all()


def test_pages_cannot_add_pictures_to_the_text() -> None:
    env = WebArenaLiteEnv(kind="visual", observation_mode="html", image_size=64)
    env.reset(seed=0)
    env.step('do(action="Go To", argument="http://shopping.localhost/catalogsearch/result/?q=<image>")')
    assert env._observe()["text"].count("<image>") == 1


def test_the_text_kind_renders_the_page() -> None:
    env = WebArenaLiteEnv(render_mode="rgb_array")
    env.reset(seed=0)
    shown = env.render()
    assert isinstance(shown, np.ndarray)
    assert shown.shape == (720, 1280, 3)


@pytest.mark.parametrize(
    "wrong", [{"picture": "half"}, {"image_size": 5}, {"image_size": 5000}, {"observation_mode": "mark"}]
)
def test_wrong_arguments_are_named(wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        WebArenaLiteEnv(kind="visual", **wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="observation_mode"):
        WebArenaLiteEnv(observation_mode="marks")
