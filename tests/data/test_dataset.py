"""The frozen table `Dataset`, and tables that are written to files."""

import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import nspca
from nspca.data import Dataset, frame_to_csv, read
from nspca.data.names import numbered
from nspca.errors import InvalidData
from tests.oracles import brute_force


def dataset(X, **fields):
    m, n = X.shape
    return Dataset("t", X, numbered("feature", n), numbered("sample", m), **fields)


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


GROUPED = np.random.default_rng(5).standard_normal((9, 6)) + 1.0


@pytest.mark.parametrize("group", [(1, 4), (4, 1, 1), (0, 2, 3, 5), range(5), (5, 0)])
def test_features_as_one_are_their_sum_over_the_root_of_their_number(group):
    data, members = dataset(GROUPED, axis=np.arange(6.0)), sorted(set(group))
    one = data.together(group)
    kept = [j for j in range(6) if j not in members[1:]]
    at = kept.index(members[0])
    wanted = GROUPED[:, kept].copy()
    wanted[:, at] = GROUPED[:, members].sum(axis=1) / np.sqrt(len(members))
    assert np.allclose(one.X, wanted, rtol=1e-15, atol=1e-15) and one.X.flags.c_contiguous
    assert np.array_equal(np.delete(one.X, at, 1), np.delete(wanted, at, 1)), "the others are as they were"
    assert one.axis[at] == np.mean(members) and list(np.delete(one.axis, at)) == kept[:at] + kept[at + 1 :]
    first, second = (data.feature_names[j] for j in members[:2])
    called = f"{first} + {second}" if len(members) == 2 else f"{first} + {len(members) - 1} more"
    assert one.feature_names[at] == called and len(set(one.feature_names)) == len(kept)
    assert one.notes[-1] == f"{len(members)} features as one on request, the first is {first}."
    assert one.sample_names == data.sample_names and data.together(group, "mine").feature_names[at] == "mine"


@pytest.mark.parametrize("group", [(1, 4), (0, 2, 3)])
def test_features_as_one_in_a_sparse_table_a_covariance_and_a_dense_one_agree(group):
    X = np.where(GROUPED > 1, GROUPED, 0.0)
    dense = dataset(X).together(group).X
    sparse = dataset(sp.csr_array(X)).together(group).X
    assert sparse.format == "csr" and np.allclose(sparse.toarray(), dense, rtol=1e-15, atol=0)
    A = dataset(X.T @ X, is_covariance=True).together(group)
    assert np.array_equal(A.X, A.X.T) and np.allclose(A.X, dense.T @ dense, rtol=1e-13)
    assert A.is_covariance and [name.split()[-1] for name in A.feature_names] == [
        name.split()[-1] for name in A.sample_names
    ]


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("group", [(1, 4), (0, 2, 3), (2, 3, 4, 5)])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_best_component_with_features_as_one_is_the_best_with_equal_weights_on_them(nonneg, group, k):
    """Against every support of the others, with or without the group, which counts as one."""
    data = dataset(GROUPED)
    result = nspca.solve(
        nspca.Problem.from_data(data.together(group).X, k, nonneg=nonneg), certify="standard"
    )
    A = np.cov(GROUPED.T, bias=True)
    directions = [np.isin(np.arange(6), group) / np.sqrt(len(group))]
    B = np.array(directions + [row for j, row in enumerate(np.eye(6)) if j not in group])
    best = brute_force(B @ A @ B.T, k, nonneg)[0]
    assert np.isclose(result.value, best, rtol=1e-8) and result.certificate.upper >= best * (1 - 1e-12)
    at = min(group)
    x = result.components[:, 0]
    equal = np.insert(x, sorted(group)[1:] - np.arange(len(group) - 1), 0.0)
    equal[list(group)] = x[at] / np.sqrt(len(group))
    assert np.isclose(equal @ A @ equal, result.value) and np.isclose(np.linalg.norm(equal), 1.0)


def test_bytes_and_yes_and_no_are_numbers_when_they_are_added_up():
    for X in (np.array([[250, 200, 1], [3, 2, 1]], np.uint8), np.array([[1, 1, 0], [0, 1, 1]], bool)):
        one = dataset(X).together([0, 1])
        assert np.allclose(one.X[:, 0], X[:, :2].sum(axis=1, dtype=float) / np.sqrt(2))


def test_a_group_can_join_another_and_its_name_is_its_own():
    data = replace(dataset(GROUPED), feature_names=("a", "b", "a + b", "c", "d", "e"))
    one = data.together(["a", "b"])
    assert one.feature_names == ("a + b", "a + b (2)", "c", "d", "e")
    assert one.together(["c", "d"]).together([0, 2], "all").feature_names == ("all", "a + b (2)", "e")


def test_pixels_and_all_features_stay_apart():
    with pytest.raises(InvalidData, match="Pixels of an image cannot become one, got 2"):
        nspca.load_sample("digits").together([20, 21])
    with pytest.raises(InvalidData, match="At least two features must be left, got 1: put fewer"):
        dataset(GROUPED).together(range(6))


@pytest.mark.parametrize(
    "how, features, words",
    [
        ("together", [1], "At least two features become one, got 1"),
        ("together", [2, 2], "At least two features become one, got 1"),
        ("together", [], "got nothing"),
        ("together", [1, 64], "number from 0 to 63, got 64"),
        ("together", [True, 2], "got True"),
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


def test_constant_columns_dense_and_sparse():
    X = np.array([[1.0, 0.0, 2.0, 0.0], [1.0, 3.0, 2.0, 0.0], [1.0, 0.0, 2.5, 0.0]])
    assert dataset(X).constant_columns().tolist() == [0, 3]
    assert dataset(sp.csr_array(X)).constant_columns().tolist() == [0, 3]


def test_a_sparse_table_stays_sparse():
    data = nspca.load_sample("python-docs")
    some = data.only([5, 1, 7])
    assert sp.issparse(some.X) and np.array_equal(some.X.toarray(), data.X[:, [1, 5, 7]].toarray())
