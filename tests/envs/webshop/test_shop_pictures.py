"""Pages as pictures: every kind of page at every size, choices visible, long pages cut with a word, nothing breaks."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from agentrl.envs.common.catalogue.generated import GeneratedCatalogue
from agentrl.envs.common.catalogue.photos import colour_named, look_of, photo, shape_of, tint_of
from agentrl.envs.webshop.page_picture import Canvas, page_picture, wrapped
from agentrl.envs.webshop.pages import Page, Part, item_body, sub_page_body
from tests.envs.webshop.shop_kit import SHIRT, small_shop

WISH = (Part("label", "Instruction:"), Part("goal", "i want a shirt"))


def drawn(page: Page, pixels: int = 400, product=SHIRT) -> np.ndarray:
    return page_picture(page, pixels, lambda asin: product)  # a new function each time: nothing is remembered


def sub_page(text: str) -> Page:
    product = replace(SHIRT, description=text)
    return Page("description", WISH, sub_page_body(product, "description"), "/", "B")


@pytest.mark.parametrize("pixels", [128, 400, 801])
def test_every_page_of_an_episode_is_drawn_and_differs_from_the_one_before(pixels: int) -> None:
    env = small_shop(kind="visual", image_size=pixels)
    observation, _ = env.reset(seed=4)
    pictures = [observation["image"]]
    while (action := env.oracle()) is not None:
        observation = env.step(action)[0]
        assert observation["text"].count("<image>") == 1
        pictures.append(observation["image"])
    assert all(picture.shape == (pixels, pixels, 3) and picture.dtype == np.uint8 for picture in pictures)
    assert all((one != other).any() for one, other in pairwise(pictures))


def test_a_picture_is_the_same_every_time_and_for_everybody() -> None:
    first, second = (small_shop(kind="visual", image_size=200) for _ in range(2))
    for env in (first, second):
        env.reset(seed=4)
        env.step(env.oracle())
    assert (first._draw() == second._draw()).all()


def test_the_feedback_stands_in_the_text_beside_the_picture() -> None:
    env = small_shop(kind="visual", image_size=128)
    env.reset(seed=4)
    text = env.step("click[<image>]")[0]["text"]
    assert text.startswith("Invalid: ") and text.count("<image>") == 1 and env.goal.instruction in text


def test_choosing_an_option_shows() -> None:
    def item(chosen) -> Page:
        return Page("item", WISH, item_body(SHIRT).choosing(chosen), "/", "B")

    nothing, large, navy = item(()), item((("size", "large"),)), item((("color", "navy"),))
    assert (drawn(nothing) != drawn(large)).any()
    left = np.s_[100:200, 10:100]  # the photo takes the chosen colour
    assert (drawn(nothing)[left] != drawn(navy)[left]).any()


def lines_drawn(monkeypatch: pytest.MonkeyPatch, page: Page) -> list[tuple[str, float]]:
    """What is written and in which size."""
    written: list[tuple[str, float]] = []
    original = Canvas.text

    def spy(self, x, y, text, size, *rest, **more) -> None:
        assert y + size <= 800, f"{text!r} is written below the page"
        written.append((text, size))
        original(self, x, y, text, size, *rest, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Canvas, "text", spy)
        drawn(page)
    return written


def test_long_texts_are_written_smaller_and_then_cut_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    short = lines_drawn(monkeypatch, sub_page("one line"))
    longer = lines_drawn(monkeypatch, sub_page("some words and more " * 150))
    endless = lines_drawn(monkeypatch, sub_page("some words and more " * 3_000))
    sizes = [
        dict(lines)[next(text for text in dict(lines) if text.startswith(("one", "some")))]
        for lines in (short, longer, endless)
    ]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[2]
    assert not any("do not fit" in text for text, _ in short + longer)
    assert "more lines do not fit here." in endless[-1][0]


def test_every_option_is_shown_or_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    for count in (3, 45, 300):
        product = replace(SHIRT, options={"size": tuple(f"value {number}" for number in range(count))})
        page = Page("item", WISH, item_body(product, True), "/", "B")
        texts = [text for text, _ in lines_drawn(monkeypatch, page)]
        shown = sum(text.startswith("value ") for text in texts)
        missing = [int(text.split()[0]) for text in texts if text.endswith("more do not fit here.")]
        assert shown + sum(missing) == count
        assert bool(missing) == (count == 300)
        assert texts[-1] == "Buy Now"


@pytest.mark.parametrize(
    "text", ["\x00\x01", "\u202e evil", "\U0001f600" * 50, "x" * 50_000, "\u97f3\u697d " * 500, "\ud800", "", "\n\n\n"]
)
def test_no_text_breaks_the_drawing(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    product = replace(SHIRT, title=f"t {text}", description=f"d {text}", options={f"o{text}": (f"v {text}",)})
    for page in (
        Page("item", WISH, item_body(product, True), "/", "B"),
        sub_page(f"d {text}"),
    ):
        assert drawn(page, 200, product).shape == (200, 200, 3)


def test_wrapped_lines_fit_and_lose_no_word() -> None:
    text = "Plain Shirt for Long Days, Machine Wash, Made for the Gym Locker and for the Office"
    lines = wrapped(text, 14.0, 160.0)
    assert " ".join(lines) == text and len(lines) > 3
    assert all(Canvas(800).width(line, 14.0) <= 160 for line in lines)


def test_photos_show_kind_and_colour() -> None:
    assert shape_of(SHIRT) == "shirt"
    assert shape_of(replace(SHIRT, query="dress shirt")) == "shirt"
    assert shape_of(replace(SHIRT, query="maxi dress")) == "dress"
    assert shape_of(replace(SHIRT, query="unheard of", category="grocery")) == "packet"
    assert shape_of(replace(SHIRT, query="unheard of", category="unknown")) == "carton"
    assert tint_of(SHIRT) == colour_named("black")
    assert tint_of(SHIRT, "light navy") == colour_named("navy")
    assert colour_named("nothing here") is None
    black, navy = (np.asarray(photo(SHIRT, 64, colour)) for colour in ("black", "navy"))
    assert black.shape == (64, 64, 3) and (black != navy).any()


def test_two_products_of_a_kind_differ_in_more_than_their_colour() -> None:
    catalogue = GeneratedCatalogue(size=1_000)
    known = [catalogue.product(index) for index in range(1_000)]
    looks = [look_of(product)._replace(tint=(0, 0, 0)) for product in known]
    pairs = [(one, other) for one, other in pairwise(range(1_000)) if shape_of(known[one]) == shape_of(known[other])]
    assert len(pairs) > 20
    assert sum(looks[one] == looks[other] for one, other in pairs) <= len(pairs) / 20
    assert look_of(replace(SHIRT, title="Slim Striped Shirt"))[2:4] == ("stripes", 0.74)
    assert (np.asarray(photo(replace(SHIRT, title="Quilted Shirt"), 64)) != np.asarray(photo(SHIRT, 64))).any()
