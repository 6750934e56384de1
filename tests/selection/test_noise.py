"""The noise test: what shuffling changes, and p-values of tables with a known answer."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import nspca
from nspca.errors import InvalidOption
from nspca.selection.noise import shuffled
from tests.cancelling import cancelled

RNG = np.random.default_rng(0)
NOISE = RNG.standard_normal((40, 9))
SIGNAL = NOISE + 2.0 * RNG.standard_normal((40, 1)) * (np.arange(9) < 3)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_matrix, pd.DataFrame])
def test_what_features_share_is_more_than_noise(layout):
    test = nspca.noise_test(layout(SIGNAL), 3, method="tpower", tables=19)
    assert test.reached == 0 and test.p == 1 / 20
    assert test.value == pytest.approx(nspca.solve(nspca.Problem.from_data(SIGNAL, 3), "tpower").value)


def test_noise_is_noise_and_one_feature_alone_proves_nothing():
    assert nspca.noise_test(NOISE, 3, method="tpower", tables=19).p > 0.1
    alone = nspca.noise_test(SIGNAL, 1, tables=5)
    assert alone.p == 1.0, "no order of its rows changes the variance of a feature"


def test_p_of_many_tables_of_noise_is_spread_evenly():
    rng = np.random.default_rng(5)
    ps = [
        nspca.noise_test(rng.standard_normal((12, 4)), 2, method="tpower", tables=9, seed=s).p
        for s in range(10)
    ]
    assert 0.35 < np.mean(ps) < 0.75 and len(set(ps)) >= 4


def test_equal_values_count_as_reached():
    test = nspca.NoiseTest(1.0, np.array([0.5, 1.0, 1.0 - 1e-12, 2.0]))
    assert test.reached == 3 and test.p == 4 / 5


def test_every_column_keeps_its_values_and_has_an_order_of_its_own():
    X = np.arange(60.0).reshape(20, 3) * (RNG.random((20, 3)) < 0.7)
    for make in (np.asarray, sp.csr_array):
        first, second = shuffled(make(X), 2, 0)
        for table in (first, second):
            table = table.toarray() if sp.issparse(table) else table
            assert np.array_equal(np.sort(table, axis=0), np.sort(X, axis=0))
            orders = {tuple(np.argsort(column, kind="stable")) for column in table.T}
            assert len(orders) == 3 and not np.array_equal(table, X)
        assert (first != second).sum() > 0


def test_a_test_is_repeated_by_its_seed_and_keeps_what_it_had_when_it_is_cancelled():
    told = []
    whole = nspca.noise_test(NOISE, 2, method="em", tables=4, scale=True, report=told.append)
    again = nspca.noise_test(NOISE, 2, method="em", tables=4, scale=True)
    assert np.array_equal(whole.noise, again.noise)
    rows = [event.payload["row"] for event in told if event.payload]
    assert [row["noise"] for row in rows] == whole.noise.tolist() and told[-1].done == 4
    two = lambda seen: seen[-1].done == 2 and seen[-1].payload  # noqa: E731
    stopped, _ = cancelled(nspca.noise_test, NOISE, 2, method="em", tables=4, scale=True, when=two)
    assert np.array_equal(stopped.best.noise, whole.noise[:2])
    with pytest.raises(InvalidOption, match="tables must be a whole number, 1 or more, got 0"):
        nspca.noise_test(NOISE, 2, tables=0)


def test_a_data_set_is_taken_as_its_table_is():
    data = nspca.Dataset("noise", NOISE, tuple("abcdefghi"), tuple(f"row {i}" for i in range(40)))
    few = {"method": "tpower", "draws": 2, "folds": 2}
    for ask in (
        lambda X: nspca.choose_k(X, [2, 3], **few).frame,
        lambda X: nspca.choose_components(X, 2, 2, **few).frame,
        lambda X: nspca.noise_test(X, 2, tables=2, method="tpower").noise,
    ):
        assert np.array_equal(ask(data), ask(data.X), equal_nan=True)
        with pytest.raises(nspca.InvalidProblem, match=r"rows of samples are required, got .* a covariance"):
            ask(nspca.load_sample("pitprops"))
