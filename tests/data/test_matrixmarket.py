"""Matrix Market: every form SciPy writes is read; a size line is believed only as far as the file is long."""

import io

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import nspca
from nspca.data import covariance_suggestion, read
from nspca.errors import InvalidData
from nspca.shards.sources import shard
from tests.files import saved

X = np.array([[1.0, 0, 2], [0, 0, 3.5], [4, 5, 0], [0, 1 / 3, 0]])


def mtx(matrix, **options) -> bytes:
    return saved(scipy.io.mmwrite, matrix, precision=17, **options)


def text(*lines: str) -> bytes:
    return "\n".join(["%%MatrixMarket matrix " + lines[0], *lines[1:]]).encode() + b"\n"


def test_integers_and_patterns():
    assert read(mtx(sp.coo_array(X.astype(int)))).X.dtype == np.float64
    assert read(text("coordinate pattern general", "2 3 2", "1 1", "2 3")).X.toarray().tolist() == [
        [1, 0, 0],
        [0, 0, 1],
    ]
    assert read(text("coordinate real general", "2 2 3", "1 1 2", "2 2 1", "1 1 3")).X.toarray().tolist() == [
        [5, 0],
        [0, 1],
    ]


def test_a_symmetric_matrix_is_offered_as_a_covariance():
    A = X.T @ X
    for raw in (mtx(A), mtx(sp.coo_array(A), symmetry="symmetric")):
        assert b" symmetric" in raw[:60]
        data = read(raw)
        assert np.array_equal(data.X, A) and covariance_suggestion(data.X)[0]


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("form", [np.asarray, sp.coo_array])
def test_as_scipy_reads_it(form, symmetry):
    B = np.random.default_rng(3).integers(-4, 5, (7, 7)).astype(float)
    B = {"general": B, "symmetric": B + B.T, "skew-symmetric": B - B.T}[symmetry]
    raw = mtx(form(B), symmetry=symmetry)
    expected = scipy.io.mmread(io.BytesIO(raw), spmatrix=False)
    found = read(raw).X
    assert np.array_equal(
        found.toarray() if sp.issparse(found) else found,
        expected.toarray() if sp.issparse(expected) else expected,
    )


def test_comments_and_empty_lines_in_the_body():
    lines = ("3 2", "\n" * 2**20, "% between", *("1", "2 % two", "", "3", "4", "5", "6"), "", "")
    assert read(text("array real general", *lines)).X.tolist() == [[1, 4], [2, 5], [3, 6]]


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (text("array real general", "8000 8000", "1"), "too short"),
        (text("array real skew-symmetric", "8000 8000", "1"), "too short"),
        (text("array real general", "99999999999999999999 2", "1"), "too short"),
        (text("coordinate real general", "10 10 20000000", "1 1 1"), "too short"),
        (text("coordinate real general", "10 10 99999999999", "1 1 1"), "too short"),
        (text("coordinate real symmetric", "9000000 9000000 1", "1 1 1"), "at most"),
        (text("coordinate real general", "3 4 1", "0 1 1"), "does not fit its header"),
        (text("coordinate real general", "3 4 1", "1 x 1"), "does not fit its header"),
        (text("coordinate complex hermitian", "2 2 1", "1 1 1 1"), "real numbers"),
        (text("array real general", "2 2 2", "1"), "size line"),
        (b"%%MatrixMarket", "first line"),
        (b"%%MatrixMarket matrix array real general\n" + b"%" * 10**6, "size line"),
        (text("array real general", "3 2", " ".join(["1"] * 200_000)), "does not fit its header"),
        (text("array real general", "3 2", "1 2 3 4 5 6"), "does not fit its header"),
        (text("coordinate real general", "3 3 0", "but words follow"), "does not fit its header"),
    ],
)
def test_hostile_files_are_one_sentence(raw, said, bounded_memory):
    with pytest.raises(InvalidData, match=said) as caught:
        read(raw)
    assert str(caught.value).endswith(".") and "\n" not in str(caught.value)


def test_a_short_line_is_no_missing_value():
    """A line with too few numbers is refused, although pandas fills it with NaN."""
    raw = text("coordinate real general", "3 3 3", "1 1 1", "2 3", "3 3 nan")
    with pytest.raises(InvalidData, match='Line 4 is "2 3" and does not fit its header'):
        read(raw, missing="mean")


def test_comments_as_long_as_they_please(tmp_path):
    lines = ("% " + "long " * 1000, "3 2 3", "% between " * 500, "1 1 2", "2 2 3 % aside", "", "3 1 4")
    (tmp_path / "a.mtx").write_bytes(text("coordinate real general", *lines))
    expected = [[2, 0], [0, 3], [4, 0]]
    assert read(tmp_path / "a.mtx").X.toarray().tolist() == expected
    (block,) = shard(tmp_path / "a.mtx", tmp_path / "shards").blocks()
    assert block.toarray().tolist() == expected
    assert nspca.plan(tmp_path / "a.mtx", 1).size.entries == 3


def test_missing_values():
    raw = text("array real general", "3 2", "1", "nan", "3", "4", "5", "6")
    with pytest.raises(InvalidData, match="row 2, column 1 holds none"):
        read(raw)
    assert read(raw, missing="mean").X.tolist() == [[1, 4], [2, 5], [3, 6]]
