"""Agreement between judges: figures by hand and beside a second way to compute them."""

from __future__ import annotations

import statistics

import numpy as np
import pytest

from agentrl.core.errors import ConfigError
from agentrl.rollout.agreement import agreement, compare, correlation
from agentrl.rollout.judging import StoredRequest


def test_figures_worked_out_by_hand() -> None:
    found = agreement([(1.0, 1.0), (0.8, 0.4), (0.2, 0.0), (0.0, 0.6)], threshold=0.5, missing=3)
    assert (found.pairs, found.missing, found.rate) == (4, 3, 0.5)
    assert found.mean_difference == pytest.approx((0 + 0.4 + 0.2 + 0.6) / 4)
    assert found.kappa == pytest.approx(0.0)  # both say yes half of the time: chance is 0.5
    assert found.means == (0.5, 0.5)


def test_correlation_agrees_with_the_standard_library() -> None:
    chooser = np.random.default_rng(0)
    pairs = [(float(a), float(0.3 * a + b)) for a, b in chooser.random((50, 2))]
    first, second = zip(*pairs, strict=True)
    assert correlation(pairs) == pytest.approx(statistics.correlation(first, second))
    assert correlation([(0.0, 1.0), (1.0, 0.0)]) == pytest.approx(-1.0)


def test_kappa_of_a_textbook_table() -> None:
    # 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no: observed 0.7, chance 0.5.
    pairs = [(1.0, 1.0)] * 20 + [(1.0, 0.0)] * 5 + [(0.0, 1.0)] * 10 + [(0.0, 0.0)] * 15
    assert agreement(pairs).kappa == pytest.approx(0.4)


@pytest.mark.parametrize("pairs", [[], [(0.5, 0.5)], [(1.0, 1.0)] * 5])
def test_where_nothing_can_be_said_there_is_no_number(pairs: list[tuple[float, float]]) -> None:
    found = agreement(pairs)
    assert found.correlation is None and found.kappa is None
    assert found.rate == (1.0 if pairs else None)


def test_each_purpose_is_compared_and_missing_verdicts_are_counted_not_scored() -> None:
    requests = {
        key: StoredRequest(key, "e", purpose, key, {}, purpose, 0.5)
        for key, purpose in (("a", "grounding"), ("b", "grounding"), ("c", "worldmodeling"))
    }
    found = compare(requests, {"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 0.0, "c": 1.0}, 0.5)
    assert {name: (one.pairs, one.missing, one.rate) for name, one in found.items()} == {
        "all": (2, 1, 0.5),
        "grounding": (2, 0, 0.5),
        "worldmodeling": (0, 1, None),
    }


def test_the_threshold_must_be_a_number() -> None:
    with pytest.raises(ConfigError, match="threshold"):
        agreement([(1.0, 1.0)], threshold=float("nan"))
