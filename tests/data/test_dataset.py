"""The frozen table itself, and tables on their way out."""

import io

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

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
    frame = pd.DataFrame({"=name": ["=cmd()", "plain"], "value": [-1.5, 2.0], "mixed": ["+x", -3], "missing": [None, "@a"]})
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
