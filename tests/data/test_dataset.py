"""The frozen table itself, and tables on their way out."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import nspca
from nspca.data import Dataset, frame_to_csv, read
from nspca.data.dataset import numbered
from nspca.errors import InvalidData


def dataset(X, **fields):
    m, n = X.shape
    return Dataset("t", X, numbered("feature", n), numbered("sample", m), **fields)


def test_constant_columns_dense_and_sparse():
    X = np.array([[1.0, 0.0, 2.0, 0.0], [1.0, 3.0, 2.0, 0.0], [1.0, 0.0, 2.5, 0.0]])
    assert dataset(X).constant_columns().tolist() == [0, 3]
    assert dataset(sp.csr_array(X)).constant_columns().tolist() == [0, 3]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"labels": np.zeros(2)}, "3 labels are needed, got 2"),
        ({"image_shape": (2, 3)}, "2 x 3 pixels does not have 4 features"),
        ({"axis": np.zeros(3)}, "4 axis are needed, got 3"),
        ({"is_covariance": True}, "as many rows as columns"),
    ],
)
def test_parts_that_do_not_fit(fields, sentence):
    with pytest.raises(InvalidData, match=sentence):
        dataset(np.ones((3, 4)), **fields)


def test_asymmetric_covariance_and_wrong_dimensions():
    with pytest.raises(InvalidData, match="differs from its transpose by up to 1"):
        dataset(np.array([[1.0, 1.0], [0.0, 1.0]]), is_covariance=True)
    with pytest.raises(InvalidData, match="1 dimensions"):
        Dataset("t", np.ones(3), (), ())


def test_a_value_that_is_not_finite_is_named_in_sparse_tables_too():
    X = sp.csr_array(np.array([[0.0, 1.0], [0.0, 0.0], [np.inf, 2.0]]))
    with pytest.raises(InvalidData, match='sample "sample 3", feature "feature 1" is inf'):
        dataset(X)


def test_it_cannot_be_changed():
    with pytest.raises(AttributeError):
        dataset(np.ones((2, 2))).name = "other"


def test_export_neutralises_texts_names_and_nothing_else():
    frame = pd.DataFrame(
        {"=name": ["=cmd()", "plain"], "value": [-1.5, 2.0], "mixed": ["+x", -3], "missing": [None, "@a"]}
    )
    raw = frame_to_csv(frame)
    assert raw.startswith(b"\xef\xbb\xbf")
    back = pd.read_csv(io.BytesIO(raw), dtype=str, keep_default_na=False)
    assert list(back.columns) == ["'=name", "value", "mixed", "missing"]
    assert back.iloc[0].tolist() == ["'=cmd()", "-1.5", "'+x", ""]
    assert back.iloc[1].tolist() == ["plain", "2.0", "-3", "'@a"]
    assert frame.columns[0] == "=name"


def test_exported_numbers_come_back_exactly():
    X = np.random.default_rng(0).standard_normal((5, 3)) * 10.0 ** np.arange(-200, -199 + 2)
    frame = pd.DataFrame(X, columns=["µm", "b", "c"])
    data = read(frame_to_csv(frame))
    assert np.array_equal(data.X, X)
    assert data.feature_names == ("µm", "b", "c")


# --- some features only
# -----------------------------------------------------------------------------------------------------


def test_some_features_only_or_all_without_some():
    data = nspca.load_sample("pitprops")
    last = data.feature_names[-1]
    some, others = data.only([3, last, 3]), data.without([3, last])
    assert some.is_covariance and np.array_equal(some.X, data.X[np.ix_([3, 12], [3, 12])])
    assert some.feature_names == some.sample_names == (data.feature_names[3], last)
    assert np.array_equal(others.X, np.delete(np.delete(data.X, [3, 12], 0), [3, 12], 1))
    assert "Only 2 features of 13" in some.notes[-1] and "Without 2 features" in others.notes[-1]


def test_pixels_that_are_left_out_stay_as_zeros():
    data = nspca.load_sample("digits")
    some = data.without([20, 21])
    assert some.image_shape == data.image_shape and some.X.dtype == data.X.dtype
    assert not some.X[:, [20, 21]].any() and np.array_equal(
        np.delete(some.X, [20, 21], 1), np.delete(data.X, [20, 21], 1)
    )
    x = nspca.solve(nspca.Problem.from_data(some.X, 5)).components[:, 0]
    assert not x[[20, 21]].any()


@pytest.mark.visit
def test_a_sparse_table_stays_sparse():
    data = nspca.load_sample("python-docs")
    some = data.only([5, 1, 7])
    assert sp.issparse(some.X) and np.array_equal(some.X.toarray(), data.X[:, [1, 5, 7]].toarray())


@pytest.mark.parametrize(
    "how, features, words",
    [
        ("only", [], "got nothing"),
        ("only", [1], "At least two features must be left, got 1"),
        ("only", [64, 2], "number from 0 to 63, got 64"),
        ("without", [-1], "number from 0 to 63, got -1"),
        ("without", ["none"], "got 'none'"),
        ("only", [0.9, 2], "got 0.9"),
        ("only", [-1, 2], "got -1"),
        ("without", range(63), "At least two features must be left, got 1"),
    ],
)
def test_features_that_are_not_there_are_named(how, features, words):
    data = replace(nspca.load_sample("digits"), image_shape=None, kind="table")
    with pytest.raises(InvalidData, match=words):
        getattr(data, how)(list(features))
