"""`NSPCA` among scikit-learn's tools: searches for k, pipelines, tables with names, certificates."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import nspca
from nspca.components import shares_of_rows
from nspca.validation.features import positions

NAMES = [f"gene {j}" for j in range(12)]


def planted(m=60, strength=2.0, seed=0):
    """Return data in which four of twelve features have a common factor and the others are noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((m, 12)) + 3.0
    X[:, :4] += strength * rng.standard_normal((m, 1))
    return X


@pytest.mark.parametrize(
    ("layout", "scale"),
    [(np.asarray, True), (sp.csr_array, False), (lambda X: pd.DataFrame(X, columns=NAMES), False)],
)
def test_the_score_is_one_minus_the_error_of_the_reconstruction(layout, scale):
    X, others = planted(), planted(25, seed=1)
    model = nspca.NSPCA(n_components=2, k=3, scale=scale, certify=None).fit(layout(X))
    Z = (others - X.mean(axis=0)) / (X.std(axis=0) if scale else 1.0)
    V = model.components_.T
    left = Z - Z @ V @ V.T
    assert model.score(layout(others)) == pytest.approx(1 - (left**2).sum() / (Z**2).sum())
    assert model.score(layout(X)) == pytest.approx(model.explained_variance_ratio_.sum())
    nearest = X.mean(axis=0) + Z @ V @ V.T * (X.std(axis=0) if scale else 1.0)
    assert np.allclose(model.inverse_transform(model.transform(layout(others))), nearest)
    with pytest.raises(nspca.InvalidProblem, match="for each of the 2 components, got 3"):
        model.inverse_transform(np.ones((4, 3)))
    assert model.score(layout(np.tile(model.mean_, (3, 1)))) == 0.0
    huge = shares_of_rows(1e200 * others, V, 1e200 * X.mean(axis=0), np.ones(12))
    assert np.allclose(huge, shares_of_rows(others, V, X.mean(axis=0), np.ones(12)))


def test_a_grid_search_finds_the_features_that_have_something_in_common():
    search = GridSearchCV(nspca.NSPCA(method="tpower", certify=None), {"k": [1, 2, 3, 4]}, cv=3).fit(
        planted()
    )
    scores = search.cv_results_["mean_test_score"]
    assert search.best_params_ == {"k": 4} and np.all(np.diff(scores) > 0)
    pipe = make_pipeline(StandardScaler(), nspca.NSPCA(certify=None))
    search = GridSearchCV(pipe, {"nspca__k": [2, 4]}, cv=3).fit(planted())
    assert search.best_estimator_.transform(planted()).shape == (60, 1)
    assert set(np.flatnonzero(search.best_estimator_[-1].components_[0])) == {0, 1, 2, 3}


def test_tables_come_out_as_they_were_asked_for():
    X = pd.DataFrame(planted(), columns=NAMES, index=[f"s{i}" for i in range(60)])
    pipe = make_pipeline(StandardScaler(), nspca.NSPCA(n_components=2, k=3)).set_output(transform="pandas")
    found = pipe.fit_transform(X)
    assert list(found.columns) == ["nspca0", "nspca1"] and list(found.index) == list(X.index)
    assert list(pipe.get_feature_names_out()) == ["nspca0", "nspca1"]
    copy = clone(pipe[-1])
    assert copy.get_params() == pipe[-1].get_params() and not hasattr(copy, "components_")
    sparse = X.astype(pd.SparseDtype(float, 0.0))
    assert np.allclose(nspca.NSPCA(k=3).fit(sparse).transform(sparse), nspca.NSPCA(k=3).fit_transform(X))


def test_every_sparse_layout_is_fitted_with_a_proof_about_its_numbers():
    X = sp.random_array((40, 5), density=0.4, rng=np.random.default_rng(0)).tocsr()
    wide = X.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    layouts = ("csr", "csc", "coo", "bsr", "lil", "dok", "dia")
    for data in (wide, sp.csr_matrix(X), *map(X.asformat, layouts)):
        (certificate,) = nspca.NSPCA(k=2).fit(data).certificates_
        assert nspca.verify(X, certificate) <= certificate.upper


@pytest.mark.parametrize("method", ["em", "joint"])
def test_the_first_of_several_components_is_certified(method):
    X = planted()[:, :9]
    model = nspca.NSPCA(n_components=2, k=4, method=method).fit(X)
    first, second = model.certificates_
    assert second is None
    upper = nspca.verify(X, first, nspca.Problem.from_data(X, 4))
    assert model.explained_variance_[0] <= upper * (1 + 1e-9)
    assert nspca.NSPCA(n_components=2, k=4, method=method, certify=None).fit(X).certificates_ == [None] * 2


def test_features_are_matched_by_name_and_not_by_place():
    X = pd.DataFrame(planted(), columns=NAMES)
    model = nspca.NSPCA(k=4).fit(X)
    other = X[NAMES[::-1]].assign(more=1.0)
    assert np.array_equal(model.transform(other), model.transform(X))
    assert model.score(other) == model.score(X)
    assert np.array_equal(model.set_output(transform="pandas").transform(other).index, X.index)
    for ask in (model.transform, model.score):
        with pytest.raises(
            nspca.InvalidProblem,
            match=r"12 features .* without 'gene 0'; it has 'x' besides; rename its columns",
        ):
            ask(X.rename(columns={"gene 0": "x"}))
        with pytest.raises(nspca.InvalidProblem, match="got 'gene 0' more than once"):
            ask(pd.concat([X, X[["gene 0"]]], axis=1))
    rows = nspca.NSPCA(k=4).partial_fit(X[:30]).partial_fit(X[30:][NAMES[::-1]])
    assert np.allclose(rows.mean_, X.mean(axis=0))


@pytest.mark.parametrize(
    "begun",
    [
        lambda X: nspca.NSPCA(k=3),
        lambda X: nspca.NSPCA(k=3).partial_fit(X, finish=False),
        lambda X: nspca.NSPCA(k=3).fit(X).partial_fit(X[:, :5], finish=False),
        lambda X: refused(nspca.NSPCA(k=3).fit(X).set_params(k=0), X),
    ],
)
def test_what_has_no_components_is_not_fitted(begun):
    """An estimator whose fit fails is not fitted, even after an earlier fit on other rows."""
    model, X = begun(planted()), planted()
    asked = [lambda: model.transform(X), lambda: model.score(X), lambda: model.annotate(None)]
    for ask in (*asked, model.get_feature_names_out):
        with pytest.raises(NotFittedError):
            ask()
    shown = {name for name in vars(model) if name.endswith("_") and not name.endswith("_in_")}
    assert not shown


@pytest.mark.parametrize("again", ["fit", "partial_fit"])
def test_a_table_that_is_refused_leaves_the_fit_before(again):
    X = pd.DataFrame(planted()).add_prefix("gene")
    model = nspca.NSPCA(k=3).fit(X)
    before, scores = dict(vars(model)), model.transform(X)
    with pytest.raises(ValueError, match="NSPCA does not accept missing values"):
        getattr(model, again)(X.iloc[:, :4].rename(columns=str.upper) * np.nan)
    with pytest.raises(nspca.InvalidProblem, match="which it rounds to"):
        getattr(model, again)(pd.DataFrame({"t": [10**18 + 1, 2], "x": [0.5, 1]}))
    with pytest.raises(nspca.InvalidProblem, match="got dates, in column 'day'"):
        getattr(model, again)(X.assign(day=pd.Timestamp("2020-01-31")))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is held for name, held in before.items())
    assert np.array_equal(model.transform(X), scores)


def refused(model, X):
    with pytest.raises(nspca.InvalidOption):
        model.fit(X)
    return model


def test_names_of_many_features_are_cut_short():
    with pytest.raises(nspca.InvalidProblem, match="without '0', '1', '2', '3', '4' and 95 more; rename"):
        positions([str(j) for j in range(100)], [])
    assert positions(["b", "a"], ["a", "c", "b"]) == [2, 0]


def exactly(X, center=True):
    """Return the covariance of the rows X (m, n) in fractions."""
    rows = [[Fraction(x) for x in row] for row in np.asarray(X).tolist()]
    m, columns = len(rows), list(zip(*rows, strict=True))
    means = [sum(column) / m * center for column in columns]
    C = [[x - mean for x in column] for column, mean in zip(columns, means, strict=True)]
    return [[sum(x * y for x, y in zip(a, b, strict=True)) / m for b in C] for a in C]


MEANS = [0.0, -1e11, (1e11, -1e3, 0.0, 1e15), "drift"]


@pytest.mark.parametrize("mean", MEANS, ids=str)
@pytest.mark.parametrize("block", [1, 10])
def test_what_is_proved_of_a_stream_holds_for_its_rows_whatever_their_mean(mean, block):
    rng = np.random.default_rng(block)
    X = rng.standard_normal((40, 4)) * [3, 2, 1, 1]
    X += 1e9 * (np.arange(40) >= 3)[:, None] if mean == "drift" else np.array(mean)
    model = nspca.NSPCA(k=3, nonneg=False)
    for start in range(0, 40, block):
        model.partial_fit(X[start : start + block], finish=start + block >= 40)
    A = np.array([[float(entry) for entry in row] for row in exactly(X)])
    assert np.abs(model.covariance_ - A).max() <= 1e-14 * np.trace(A)
    at_once = nspca.NSPCA(k=3, nonneg=False).fit(X)
    assert model.explained_variance_[0] == pytest.approx(at_once.explained_variance_[0], rel=1e-12)
    certificate = model.certificates_[0]
    assert at_once.explained_variance_[0] <= certificate.upper * (1 + 1e-13)
    assert nspca.verify(model.covariance_, certificate) <= certificate.upper
    assert np.allclose(model.mean_, X.mean(axis=0), rtol=1e-15)


@pytest.mark.parametrize("factor", [1e155, 1e-200, 1e-160])
def test_rows_whose_squares_are_no_numbers_are_refused_and_not_taken_in(factor):
    model, X = nspca.NSPCA(k=3), planted()
    with pytest.raises(nspca.InvalidProblem, match=r"must add up to about 1e-270 to 1e270"):
        model.partial_fit(factor * X)
    once = nspca.NSPCA(k=3).partial_fit(X)
    assert np.array_equal(model.partial_fit(X).components_, once.components_)
    with pytest.raises(nspca.InvalidProblem, match="got inf; multiply"):
        model.partial_fit(np.vstack((np.repeat(X, 20, axis=0), 1e160 * X)))
    again = once.partial_fit(X).components_
    assert np.array_equal(model.partial_fit(X).components_, again)


def test_rows_that_are_all_the_same_explain_nothing():
    for value in (0.1, 1e-155, 1e12 / 3):
        model = nspca.NSPCA(k=2)
        for start in range(0, 7, 3):
            model.partial_fit(np.full((7, 3), value)[start : start + 3])
        assert model.certificates_[0].upper == model.explained_variance_[0] == 0.0
        assert np.array_equal(model.mean_, [value] * 3)


def test_more_features_than_a_sum_holds_are_refused_with_the_way_that_works(monkeypatch):
    monkeypatch.setattr("nspca.estimator.LARGEST_SUM", 5)
    with pytest.raises(nspca.InvalidOption, match=r"at most 5 features, got 6: .* make shards"):
        nspca.NSPCA(k=2).partial_fit(np.eye(6))
