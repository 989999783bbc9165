"""Accuracy, calibration and confusion of a judge of outcomes, computed by hand."""

from __future__ import annotations

import math

import pytest

from agentrl.rollout.outcomes import auc, outcome_metrics


def test_figures_by_hand():
    found = outcome_metrics([0.9, 0.6, 0.2, 0.7, None, 0.1], [True, True, True, False, True, False])
    assert found.count == 5 and found.unanswered == 1
    assert found.confusion == {"true_yes": 2, "false_yes": 1, "true_no": 1, "false_no": 1}
    assert found.accuracy == pytest.approx(3 / 5) and found.base_rate == pytest.approx(3 / 5)
    assert found.recall == pytest.approx(2 / 3) and found.specificity == 0.5
    assert found.balanced_accuracy == pytest.approx((2 / 3 + 1 / 2) / 2) and found.precision == pytest.approx(2 / 3)
    assert found.brier == pytest.approx((0.01 + 0.16 + 0.64 + 0.49 + 0.01) / 5)
    assert found.ece == pytest.approx((0.1 + 0.4 + 0.8 + 0.7 + 0.1) / 5)  # a bin each
    assert found.auc == pytest.approx(4 / 6)
    assert found.nll == pytest.approx(
        -(math.log(0.9) + math.log(0.6) + math.log(0.2) + math.log(0.3) + math.log(0.9)) / 5
    )


def test_a_calibrated_judge_has_no_calibration_error():
    found = outcome_metrics([0.75] * 4 + [0.0] * 3 + [1.0], [True, True, True, False] + [False] * 3 + [True])
    assert found.ece == 0 and [each.count for each in found.bins if each.count] == [3, 4, 1]


def test_half_is_no_success_and_ties_count_half():
    assert outcome_metrics([0.5], [True]).confusion["false_no"] == 1
    assert auc([0.5, 0.5], [0.5]) == 0.5 and auc([1.0], [0.0]) == 1.0 and auc([], [0.5]) is None


def test_nothing_to_compare_is_none_and_not_zero():
    found = outcome_metrics([None, None], [True, False])
    assert found.count == 0 and found.unanswered == 2
    assert found.accuracy is found.ece is found.base_rate is found.brier is None
    one = outcome_metrics([0.9, 0.8], [True, True])
    assert one.balanced_accuracy is one.auc is one.specificity is None and one.accuracy == 1.0
    assert outcome_metrics([0.0], [True]).nll == pytest.approx(-math.log(1e-6))
