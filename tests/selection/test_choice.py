"""Choice of the numbers of features and components: against explicit sums, a planted group, and noise."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import nspca
from nspca.errors import InvalidOption, InvalidProblem
from nspca.selection.choice import split_folds
from nspca.selection.stability import agreement
from tests.cancelling import cancelled


def planted(m=80, n=14, seed=0):
    """Return data in which four features share much variance, four others some, and the rest is noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, n))
    for j, strength in enumerate((3.0, 2.0)):
        X[:, 4 * j : 4 * j + 4] += strength * rng.standard_normal((m, 1))
    return X


def test_held_out_rows_choose_the_planted_group():
    choice = nspca.choose_k(planted(), [6, 1, 2, 4, 4], method="tpower", folds=4, draws=5)
    assert choice.numbers.tolist() == [1, 2, 4, 6] and choice.of == "k"
    assert choice.simplest == 4 <= choice.best and choice.knee == 4
    assert list(choice.frame.columns[:4]) == ["k", "value", "held_out", "held_out_error"]
    assert choice.stability[2] == 1.0 and choice.stability_error[2] == 0.0
    assert choice.stability[1] < 0.9 and choice.stability_error[1] > 0
    sweep = nspca.sweep(nspca.Problem.from_data(planted(), 1), [1, 2, 4, 6], "tpower", certify=None)
    assert np.allclose(choice.value, sweep.frame["value"]) and nspca.knee(sweep) == 4


@pytest.mark.parametrize(
    ("layout", "scale", "center"),
    [(np.asarray, False, True), (sp.csr_matrix, True, True), (pd.DataFrame, False, False)],
)
def test_held_out_variance_is_that_of_an_estimator_on_each_fold(layout, scale, center):
    X = planted(30) + 5.0
    choice = nspca.choose_k(layout(X), 3, folds=3, draws=0, scale=scale, center=center)
    Z, scores = X / X.std(axis=0) if scale else X, []
    for others, rows in split_folds(30, 3, 0):
        model = nspca.NSPCA(k=3, center=center, certify=None).fit(Z[others])
        scores.append(model.score(Z[rows]))
    assert choice.held_out[0] == pytest.approx(np.mean(scores))
    assert choice.held_out_error[0] == pytest.approx(np.std(scores, ddof=1) / np.sqrt(3))
    assert np.isnan(choice.stability).all()


def test_every_row_is_held_out_once():
    parts = list(split_folds(11, 4, 0))
    assert sorted(np.concatenate([rows for _, rows in parts])) == list(range(11))
    assert all(sorted([*others, *rows]) == list(range(11)) for others, rows in parts)


def test_agreement_is_one_minus_spread_over_that_of_chance():
    rng = np.random.default_rng(0)
    F = np.array([rng.permutation(10) < 4 for _ in range(6)])
    supports = [[np.flatnonzero(row)] for row in F]
    spread = F.var(axis=0, ddof=1).mean()
    value, error = agreement(supports, 10)
    assert value == pytest.approx(1 - spread / (0.4 * 0.6))
    # the same from shared features, pair by pair, as Kuncheva counts them
    shared = np.mean([(a & b).sum() for a, b in combinations(F, 2)])
    assert value == pytest.approx((shared - 1.6) / (4 - 1.6))
    without = [agreement(supports[:b] + supports[b + 1 :], 10)[0] for b in range(6)]
    assert error == pytest.approx(np.sqrt(5 / 6 * np.square(without - np.mean(without)).sum()))
    assert agreement([[np.arange(4)]] * 3, 10) == (1.0, 0.0)
    assert np.isnan(agreement([[np.arange(10)]] * 3, 10)[0])
    assert np.isnan(agreement(supports[:1], 10)).all()


def test_two_planted_groups_are_two_components():
    choice = nspca.choose_components(planted(n=30), 4, 3, method="tpower", folds=2, draws=3)
    assert choice.of == "components" and choice.numbers.tolist() == [1, 2, 3]
    assert choice.held_out[1] > 1.2 * choice.held_out[0]
    assert choice.stability[1] == 1.0 > choice.stability[2]


def test_methods_that_find_components_together_look_for_each_number():
    X = planted(n=9)
    choice = nspca.choose_components(X, 4, 2, method="joint", folds=0, draws=0)
    problem = nspca.Problem.from_data(X, 4)
    values = [nspca.solve(problem, "joint", components=r, certify=None).value for r in (1, 2)]
    assert np.allclose(choice.value, values) and np.isnan(choice.held_out).all()
    assert choice.best is choice.simplest is None and choice.knee == 2


def test_all_that_fit_are_looked_at():
    assert nspca.choose_components(planted()[:, :7], 2, folds=0, draws=0).numbers.tolist() == [1, 2, 3]


def test_progress_carries_the_numbers_so_far_and_a_cancelled_choice_keeps_them():
    told = []
    whole = nspca.choose_k(planted(), [2, 4], method="tpower", folds=2, draws=2, report=told.append)
    rows = [event.payload["row"] for event in told if event.payload]
    assert len(rows) == 5 and told[-1].done == told[-1].total == 5
    assert rows[0]["held_out"] == [None, None] and rows[-1]["held_out"] == whole.held_out.tolist()
    few, three = (
        {"method": "tpower", "folds": 2, "draws": 2},
        lambda seen: seen[-1].done == 3 and seen[-1].payload,
    )
    best = cancelled(nspca.choose_k, planted(), [2, 4], when=three, **few)[0].best
    assert np.isfinite(best.held_out).all() and np.isnan(best.stability).all()
    again = nspca.choose_k(planted(), [2, 4], **few)
    assert again.frame.equals(whole.frame)


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda X: nspca.choose_k(X, []), InvalidProblem, "at least one k, got none"),
        (lambda X: nspca.choose_k(X, [15]), InvalidProblem, "between 1 and n = 14, got 15"),
        (
            lambda X: nspca.choose_k(X, 2, folds=81),
            InvalidOption,
            "0, or 2 to .*, 80, got 81",
        ),
        (lambda X: nspca.choose_k(X, 2, folds=1), InvalidOption, "0, or 2 to .*, 80, got 1"),
        (lambda X: nspca.choose_k(X, 2, draws=-1), InvalidOption, "draws must be a whole number"),
        (lambda X: nspca.choose_k(X[0], 2), InvalidProblem, "rows and columns"),
        (lambda X: nspca.choose_k(X * 0 + 1, 2, scale=True), InvalidProblem, "14 constant"),
        (lambda X: nspca.choose_k(X, 2, rank=3, method="em"), InvalidOption, "option 'rank'"),
        (lambda X: nspca.choose_components(X, 4, 4), InvalidProblem, "need 16 features, got n = 14"),
    ],
)
def test_what_cannot_be_chosen_is_said(ask, error, words):
    with pytest.raises(error, match=words):
        ask(planted())
