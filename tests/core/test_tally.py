"""Agreement of two raters, by hand."""

from __future__ import annotations

import pytest

from agentrl.core.tally import Tally


def test_kappa_by_hand():
    tally = Tally()
    for first, second, count in [(1, 1, 20), (1, 0, 5), (0, 1, 10), (0, 0, 15)]:
        for _ in range(count):
            tally.add(first, second)
    # observed 0.7; by chance 0.5 * 0.6 + 0.5 * 0.4 = 0.5
    assert tally.kappa == pytest.approx(0.4)
    assert tally.rate == 0.7


def test_without_variety_there_is_no_kappa():
    tally = Tally()
    assert tally.kappa is None and tally.rate is None
    tally.add(1, 1)
    assert tally.kappa is None and tally.rate == 1.0
    tally.add(0, 0)
    assert tally.kappa == 1.0
