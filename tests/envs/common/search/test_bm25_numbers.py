"""Lengths in one byte, weights and tables."""

from __future__ import annotations

import math

import numpy as np
import pytest
from plain_bm25 import rough_length

from agentrl.envs.common.search.kernel import (
    inverse_document_frequency,
    length_code,
    length_codes,
    length_inverses,
    length_of,
)

# Length -> the length that is left of it, worked out by hand: 24 + the four leading bits of what is above 24.
TABLE = {
    0: 0, 1: 1, 23: 23, 24: 24, 31: 31, 39: 39,
    40: 40, 41: 40, 42: 42, 55: 54, 56: 56, 59: 56, 60: 60,
    87: 84, 88: 88, 95: 88, 96: 96, 124: 120, 151: 144, 152: 152, 167: 152, 168: 168,
    322: 312, 1000: 984, 1048: 1048, 100_000: 98_328,
}  # fmt: skip


@pytest.mark.parametrize(("length", "left"), TABLE.items())
def test_what_is_left_of_a_length(length: int, left: int) -> None:
    assert length_of(length_code(length)) == left == rough_length(length)


def test_the_code_is_one_byte_up_to_the_largest_length() -> None:
    assert length_code(2**31 - 1) == 255
    assert [length_code(length_of(code)) for code in range(256)] == list(range(256))


def test_many_lengths_at_once_are_the_same() -> None:
    lengths = [*range(3000), 10**5, 10**6, 2**31 - 1]
    assert length_codes(np.array(lengths)).tolist() == [length_code(length) for length in lengths]


def test_a_term_that_every_document_has_is_still_worth_something() -> None:
    assert inverse_document_frequency(10, 10) == pytest.approx(math.log(1 + 0.5 / 10.5), rel=1e-6)
    assert inverse_document_frequency(10, 1) == pytest.approx(math.log(1 + 9.5 / 1.5), rel=1e-6)


def test_inverses_by_hand() -> None:
    inverses = length_inverses(average=20.0)
    assert inverses.dtype == np.float32
    assert inverses[10] == pytest.approx(1 / (0.9 * (0.6 + 0.4 * 0.5)), rel=1e-6)
    assert inverses[20] == pytest.approx(1 / 0.9, rel=1e-6)
