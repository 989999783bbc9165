"""Generated icons: enough of them, different, in one split each, and all of them drawable."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from agentrl.core.env import SPLITS
from agentrl.core.errors import ConfigError
from agentrl.envs.svg.sandbox.gate import check
from agentrl.envs.svg.sandbox.renderer import shared_renderer
from agentrl.envs.svg.targets import IconTargets, make_targets
from agentrl.envs.svg.targets.icons import GRADES, MAX_SIZE, draw, icon, owner
from agentrl.envs.svg.targets.pen import GLYPHS, Rng, set_type, word_width, write


def test_ten_thousand_icons_of_a_split_are_all_different_and_of_the_promised_length() -> None:
    names = IconTargets("train").names()
    targets = IconTargets("train")
    codes = [targets.code(names[place]) for place in range(10_000)]
    assert len({hashlib.blake2b((code or "").encode()).digest() for code in codes}) == 10_000
    lengths = [len((code or "").encode()) for code in codes]
    assert min(lengths) >= 10 and min(lengths) < 150 and 1500 < max(lengths) <= MAX_SIZE


def test_each_content_belongs_to_the_split_that_it_is_given_to() -> None:
    for split in SPLITS:
        assert {owner(icon(split, 1 + i % 5, i)) for i in range(60)} == {split}
    shares = [owner(draw(Rng("any", i), 1)) for i in range(2000)]
    assert 0.75 < shares.count("train") / 2000 < 0.85 and 0.07 < shares.count("test") / 2000 < 0.13


def test_an_icon_follows_from_its_number_alone_on_every_machine() -> None:
    # Computed once; a change here changes every published score and asks for a new version of the id.
    content = "\n".join(icon(split, grade, index) for split in SPLITS for grade in GRADES for index in (0, 7, 99_999))
    assert hashlib.blake2b(content.encode(), digest_size=8).hexdigest() == "aad445ae433e0254"


def test_dice_choose_within_their_bounds_and_reach_all_of_them() -> None:
    rng = Rng("bounds")
    assert {rng.whole(2, 5) for _ in range(200)} == {2, 3, 4, 5}
    assert {rng.pick("abc") for _ in range(100)} == set("abc")
    assert all(1 <= rng.real(1, 2) <= 2 for _ in range(50))
    assert sorted(rng.several("abcd", 4)) == list("abcd")
    assert 350 < sum(rng.chance(0.4) for _ in range(1000)) < 450
    assert Rng("a", 1).whole(0, 2**60) == Rng("a", 1).whole(0, 2**60) != Rng("a", 2).whole(0, 2**60)


def test_every_generated_icon_passes_the_gate_unchanged_in_what_it_shows() -> None:
    for grade in GRADES:
        for index in range(60):
            safe = check(icon("train", grade, index))
            assert check(safe) == safe


def test_icons_are_drawn_and_show_something_in_several_colours() -> None:
    codes = [icon("dev", grade, index) for grade in GRADES for index in range(12)]
    for code, picture in zip(codes, shared_renderer(48).draw_many(codes), strict=True):
        assert isinstance(picture, np.ndarray), f"{picture}: {code}"
        assert len(np.unique(picture.reshape(-1, 3), axis=0)) >= 2, code


def test_grades_bring_in_what_they_promise() -> None:
    def share(grade: int, *words: str) -> float:
        codes = [icon("train", grade, index) for index in range(80)]
        return sum(any(word in code for word in words) for code in codes) / len(codes)

    assert share(1, "<path", "Gradient", "transform") == 0
    assert share(2, "stroke") > 0.6 and share(2, "Gradient", "transform") == 0
    assert share(3, "<path") > 0.6 and share(3, "Gradient") > 0.4
    assert share(4, "transform") > 0.9 and share(4, "<use") > 0.15
    assert share(5, "<g ") > 0.7 and share(5, "<text") == 0
    codes = [icon("train", 5, index, "font") for index in range(40)]
    assert sum("<text" in code for code in codes) > 10


def test_letters_are_strokes_of_our_own_in_their_box() -> None:
    assert set(GLYPHS) == set("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    ink = shared_renderer(100).draw(f'<svg viewBox="0 0 100 100">{write("AH", 50, 50, 30, "black")}</svg>') < 128
    rows, columns = np.nonzero(ink.any(axis=2))
    assert abs(columns.mean() - 50) < 4 and abs(rows.mean() - 50) < 4
    assert rows.max() - rows.min() == pytest.approx(30 + 5, abs=3)  # a stroke is as thick as a sixth of the height
    assert columns.max() - columns.min() == pytest.approx(word_width("AH", 30) + 5, abs=3)
    assert ">A8</text>" in set_type("A8", 50, 50, 30, "black")


# ---------------------------------------------------------------------- names


def test_names_are_a_lazy_sequence() -> None:
    names = IconTargets("test", difficulty=[2, 4], count=7).names()
    assert (
        len(names) == 7 and names[0] == "icon:test:2:0" and names[1] == "icon:test:4:0" and names[6] == "icon:test:2:3"
    )
    assert names[-1] == names[6] and names[1:3] == ["icon:test:4:0", "icon:test:2:1"] and list(names)[5] == names[5]
    with pytest.raises(IndexError):
        names[7]
    assert len(IconTargets("train").names()) == 100_000


@pytest.mark.parametrize(
    "name",
    [
        "", "icon", "icon:train", "icon:train:1:-1", "icon:train:1:01", "icon:train:1:x", "icon:train:6:0",
        "icon:dev:1:0", "icon:train:0:0", "icon:train:1:0:0", "icon:train:1:²", "icon:train:1:9999999999999",
        "icon:train:1.0:3", "svg:train:1:0", "icon:train:1:" + "9" * 5000,
    ],
)  # fmt: skip
def test_a_name_that_is_none_has_no_code(name: str) -> None:
    assert IconTargets("train").code(name) is None


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"difficulty": 0}, "difficulty"),
        ({"difficulty": 6}, "difficulty"),
        ({"difficulty": True}, "difficulty"),
        ({"difficulty": "2"}, "difficulty"),
        ({"difficulty": []}, "difficulty"),
        ({"difficulty": [1, 9]}, "difficulty"),
        ({"letters": "runes"}, "letters"),
        ({"count": 0}, "icons"),
        ({"count": 1.5}, "icons"),
        ({"path": "somewhere", "difficulty": 1}, "difficulty"),
    ],
)
def test_arguments_that_make_no_sense_are_named(arguments: dict, word: str) -> None:
    chosen = {"path": None, "split": "train", "difficulty": None, "letters": "strokes", "count": None, **arguments}
    with pytest.raises(ConfigError, match=word):
        make_targets(**chosen)
