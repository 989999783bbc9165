"""Animated GIFs: every picture in order, for as long as asked, in colours that do not flicker."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from agentrl.core.gif import encode_gif


def frames_of(data):
    with Image.open(io.BytesIO(data)) as film:
        held = []
        for index in range(film.n_frames):
            film.seek(index)
            held.append((np.asarray(film.convert("RGB")), film.info["duration"]))
        return held, film.info["loop"]


def test_pictures_come_in_order_and_the_last_one_stays():
    pictures = [Image.new("RGB", (8, 6), colour) for colour in ("red", "green", "blue")]
    frames, loop = frames_of(encode_gif(pictures, 0.5, last_seconds=2.0))
    assert [duration for _, duration in frames] == [500, 500, 2000] and loop == 0
    assert all((shown == np.asarray(real)).all() for (shown, _), real in zip(frames, pictures, strict=True))


def test_smaller_pictures_are_put_on_white_paper():
    frames, _ = frames_of(encode_gif([Image.new("RGB", (4, 9), "red"), Image.new("RGB", (7, 5), "blue")], 1))
    (first, _), (second, _) = frames
    assert first.shape == second.shape == (9, 7, 3)
    assert (first[:, 4:] == 255).all() and (first[:, :4] == (255, 0, 0)).all() and (second[5:] == 255).all()


def test_what_does_not_change_keeps_its_colour_in_every_frame():
    rng = np.random.default_rng(0)
    still = rng.integers(0, 256, (16, 16, 3), np.uint8)
    pictures = [np.concatenate([still, rng.integers(0, 256, (16, 16, 3), np.uint8)]) for _ in range(4)]
    frames, _ = frames_of(encode_gif([Image.fromarray(picture) for picture in pictures], 1))
    assert all((shown[:16] == frames[0][0][:16]).all() for shown, _ in frames)
