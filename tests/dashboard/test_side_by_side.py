"""Differences between two answers at one k."""

from dataclasses import replace

import numpy as np
import pytest

import nspca
from nspca.dashboard.open_data import find
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.sweep.whatif import change_sentences as sentences
from nspca.dashboard.sweep.whatif import correlation
from nspca.specs import DataSpec


def side(k=6, **changes):
    how = {name: changes.pop(name) for name in ("scale", "nonneg") if name in changes}
    of = find(DataSpec(sample=changes.pop("sample", "digits"), **changes), None)
    if of.dataset.is_covariance:
        problem = nspca.Problem.from_covariance(of.dataset.X, k)
    else:
        problem = nspca.Problem.from_data(of.dataset.X, k=k, **how)
    result = nspca.solve(problem)
    return Answer(of, None, problem, nspca.Sweep({("auto", k): result}), k, "auto")


def test_without_a_feature_another_takes_its_place():
    before = side()
    gone = int(np.argmax(before.x))
    now = side(without=(gone,))
    change = now.shown.value / before.shown.value - 1
    first, second = (one.of.dataset.X @ one.x for one in (before, now))
    assert np.isclose(correlation(before, now), abs(np.corrcoef(first, second)[0, 1]))
    lines = sentences(before, now)
    assert change < 0 and lines[0] == f"**Variance**: {-100 * change:.1f} % less than before."
    out, _, instead = lines[1].partition("In their place")
    assert f"**Out**: {before.of.dataset.feature_names[gone]}" in out and out.count(",") == instead.count(",")
    assert "correlation of 0." in lines[2]


def test_the_same_answer_says_so():
    before = side()
    assert correlation(before, before) == pytest.approx(1)
    assert sentences(before, before)[:2] == [
        "**Variance**: the same.",
        "**Pixels**: the same.",
    ]


def test_a_small_change_is_not_the_same():
    before = side()
    more = replace(before.shown, values=before.shown.values * (1 + 3e-6))
    now = replace(before, sweep=nspca.Sweep({("auto", 6): more}))
    assert sentences(before, now)[0] == "**Variance**: 3 × 10⁻⁴ % more than before."


def test_variances_of_standardised_data_are_not_subtracted_from_others():
    before, now = side(drop_constant=True), side(drop_constant=True, scale=True)
    assert "of the total variance of the changed data" in sentences(before, now)[0]


def test_a_covariance_has_no_scores():
    before = side(sample="pitprops", k=3)
    assert correlation(before, before) is None


def test_many_names_are_counted():
    before, now = side(k=30, nonneg=False), side(k=1)
    line = sentences(before, now)[1]
    assert "and " in line and line.count(",") <= 8 and "other pixels" in line
