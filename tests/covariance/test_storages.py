"""One contract for all storages of data: each is the same matrix A, whatever reads its rows."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nspca
from nspca.covariance import data as covariance_of_data
from nspca.covariance import rows as rows_of_data
from nspca.covariance import tables
from nspca.covariance.inputs import from_blocks, from_data
from nspca.errors import InvalidProblem
from tests.cancelling import cancelled
from tests.rowblocks import InMemory, in_parts

CASES = [(center, scale) for center in (True, False) for scale in (True, False)]


def on_disk(X, folder, name="X.npy"):
    np.save(folder / name, X)
    return np.load(folder / name, mmap_mode="r")


def file_of(X, rows, folder, patch):
    patch.setattr(tables, "LEAST_SIZE", 0)
    patch.setattr(tables, "WIDEST", 10**9)
    patch.setattr(tables, "BLOCK", rows * X.shape[1])
    return on_disk(np.vstack((X, X[:0])), folder)


STORAGES = {
    "sparse": lambda X, rows, folder, patch: sp.csr_array(X),
    "sparse by columns": lambda X, rows, folder, patch: sp.csc_matrix(X),
    "sparse in parts": lambda X, rows, folder, patch: in_parts(patch, 0, 2, 1) or sp.csr_array(X),
    "blocks": lambda X, rows, folder, patch: InMemory(sp.csr_array(X), rows),
    "blocks in parts": lambda X, rows, folder, patch: (
        in_parts(patch, 0, 2, 1) or InMemory(sp.csr_array(X), rows)
    ),
    "blocks of few dense columns": lambda X, rows, folder, patch: (
        patch.setattr(covariance_of_data, "DENSE_SHARE", 0.5) or InMemory(sp.csr_array(X), rows)
    ),
    "dense blocks": lambda X, rows, folder, patch: DenseBlocks(X, rows),
    "dense pieces": lambda X, rows, folder, patch: patch.setattr(rows_of_data, "AT_ONCE", 3) or X,
    "file": file_of,
}


class DenseBlocks:
    """Blocks of dense rows of a table in memory."""

    def __init__(self, X, rows):
        self.X, self.rows, self.shape = X, rows, X.shape
        self.digest, self.largest = "", float(np.abs(X).max(initial=0.0))

    def blocks(self):
        for start in range(0, len(self.X), self.rows):
            yield self.X[start : start + self.rows].copy()


def made(table, center, scale):
    return (from_blocks if hasattr(type(table), "blocks") else from_data)(table, center, scale)


@st.composite
def small_tables(draw):
    """Small sparse tables, with empty rows and columns, crowded columns at any offset, one row, one block."""
    m, n = draw(st.integers(2, 9)), draw(st.integers(1, 7))
    numbers = st.sampled_from([0.0, 0.0, 0.0, 1.0, 2.0, -3.0, 0.1])
    X = np.array(draw(st.lists(numbers, min_size=m * n, max_size=m * n))).reshape(m, n)
    for j in draw(st.sets(st.integers(0, n - 1), max_size=2)):
        X[:, j] += draw(st.sampled_from([1.0, 1e6, -0.3]))
    X *= draw(st.sampled_from([1.0, 1e-150, 2.0**400]))
    return X, draw(st.integers(1, m))


def agree(one, other, size):
    return np.allclose(one, other, rtol=1e-9, atol=1e-12 * size)


@pytest.mark.parametrize("storage", STORAGES)
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(case=small_tables(), center=st.booleans(), scale=st.booleans())
def test_every_storage_is_the_same_matrix(storage, case, center, scale, tmp_path):
    X, rows = case
    try:
        B = from_data(X, center, scale)
    except InvalidProblem:
        with pytest.MonkeyPatch.context() as patch, pytest.raises(InvalidProblem):
            made(STORAGES[storage](X, rows, tmp_path, patch), center, scale)
        return
    Y, size, some = np.random.default_rng(0).standard_normal((B.n, 2)), B.trace, np.arange(B.n)[::2]
    with pytest.MonkeyPatch.context() as patch:
        table = STORAGES[storage](X, rows, tmp_path, patch)
        A = made(table, center, scale)
        assert (A.exponent, A.shape) == (B.exponent, B.shape) and np.array_equal(A.varies, B.varies)
        if storage.startswith("sparse") or storage == "blocks":
            assert A.digest == from_data(sp.csr_array(X), center, scale).digest
        assert A.cheap_blocks or "parts" in storage
        assert agree(A.product(Y), B.product(Y), size)
        assert agree(A.product(Y[:, 0]), B.product(Y[:, 0]), size)
        assert agree(A.diagonal, B.diagonal, size)
        assert agree(A.columns(some), B.columns(some), size)
        for features in (some, some[:1], some[::-1], np.arange(A.n)):
            assert agree(A.block(features), B.block(features), size)
        assert agree(A.on(some).matrix, B.block(some), size)
        assert agree(A.restrict(some).matrix, B.restrict(some).matrix, size)
        assert agree(A.explained(Y[:, 0]), B.explained(Y[:, 0]), size * A.n)
        assert agree(A.quadratic(Y[:, 0]), B.quadratic(Y[:, 0]), size * A.n)
        assert agree(A.scores(Y), B.scores(Y), np.abs(B.scores(Y)).max())
        assert agree(A.gram(), B.gram(), size)
        assert agree(A.matrix, B.matrix, size)
        assert agree(A.leading(A.n)[0], B.leading(A.n)[0], size)
        (crossed,) = A.crossed([(some, np.arange(A.n))])
        assert agree(crossed, B.block(np.arange(A.n))[some], size)


# --- dense tables in files ----------------------------------------------------------------------------------


@pytest.fixture
def in_pieces(monkeypatch):
    """Let small tables count as large, and read them three rows at a time."""
    monkeypatch.setattr(tables, "LEAST_SIZE", 0)
    monkeypatch.setattr(tables, "BLOCK", 40)


def a_table(seed=0, m=60, n=13, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return ((rng.random((m, n)) + rng.random((m, 1))) * 50 - 10 * rng.random(n)).astype(dtype)


def assert_equal(A, B, tolerance=1e-12):
    assert A.digest == B.digest and A.exponent == B.exponent and A.shape == B.shape
    size = np.sqrt(np.outer(B.diagonal, B.diagonal)) + 1e-300
    assert (np.abs(A.matrix - B.matrix) <= tolerance * size).all()
    assert np.array_equal(A.matrix, A.matrix.T) and np.array_equal(A.varies, B.varies)
    assert A.has_samples and np.allclose(A.table, B.table, rtol=0, atol=1e-12 * np.abs(B.table).max())


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, bool, ">f8"])
@pytest.mark.parametrize("center, scale", CASES)
def test_of_any_type_a_is_that_of_the_table_in_memory(center, scale, dtype, tmp_path):
    X = a_table() > 20 if dtype is bool else a_table(dtype=dtype)
    for table in (on_disk(X, tmp_path), on_disk(np.asfortranarray(X), tmp_path, "F.npy")):
        assert tables.is_long(table)
        A, B = from_data(table, center, scale), from_data(X, center, scale)
        assert A.on_disk and not B.on_disk
        assert_equal(A, B)


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize("factor", [1e-310, 1e100, 1e300])
@pytest.mark.parametrize("center", [True, False])
def test_files_of_any_size_of_numbers(center, factor, tmp_path):
    X = a_table(3) * factor
    table = on_disk(X, tmp_path)
    assert_equal(from_data(table, center, True), from_data(X, center, True))
    if 1e-120 < factor < 1e120:
        assert_equal(from_data(table, center, False), from_data(X, center, False))
    else:
        for data in (table, X):
            with pytest.raises(InvalidProblem, match="multiply the data"):
                from_data(data, center, False)


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize("center, scale", CASES)
def test_of_an_open_hdf5_file_too(center, scale, tmp_path):
    h5py, X = pytest.importorskip("h5py"), a_table()
    with h5py.File(tmp_path / "X.h5", "w") as file:
        assert not tables.is_long(file.create_dataset("X", data=X)), "open for writing"
    with h5py.File(tmp_path / "X.h5", "r") as file:
        assert tables.is_long(file["X"]) and not tables.is_long(file)
        problem = nspca.Problem.from_data(file["X"], 3, center=center, scale=scale)
        assert_equal(problem.covariance, from_data(X, center, scale))
        assert nspca.verify(file["X"], nspca.certify(problem, effort="fast")) > 0


@pytest.mark.usefixtures("in_pieces")
def test_the_first_passes_tell_their_progress_and_can_be_ended(tmp_path):
    table, events = on_disk(a_table(), tmp_path), []
    nspca.Problem.from_data(table, 3, report=events.append)
    assert {(event.stage, event.total) for event in events} == {("covariance", 60)}
    assert [event.done for event in events[:20]] == list(range(0, 60, 3))
    cancelled(nspca.Problem.from_data, table, 3, when=lambda seen: seen[-1].done > 30)


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize(
    "change, words",
    [
        (lambda X: X.__setitem__((17, 3), np.nan), "nan at row 18, column 4"),
        (lambda X: X.__setitem__((59, 0), -np.inf), "-inf at row 60, column 1"),
        (lambda X: X.__setitem__((slice(None), 5), 0.1), "constant columns 6"),
    ],
)
def test_bad_numbers_are_refused_as_in_memory(change, words, tmp_path):
    X = a_table()
    change(X)
    for table in (X, on_disk(X, tmp_path)):
        with pytest.raises(InvalidProblem, match=words):
            nspca.Problem.from_data(table, 3, scale=True)


@pytest.mark.usefixtures("in_pieces")
def test_whole_numbers_that_would_be_rounded_are_refused(tmp_path):
    X = np.arange(24).reshape(8, 3)
    X[5, 1] = 2**60 + 1
    with pytest.raises(InvalidProblem, match="1152921504606846977"):
        nspca.Problem.from_data(on_disk(X, tmp_path), 2)


def test_other_tables_are_copied(tmp_path, monkeypatch):
    X = a_table()
    assert not tables.is_long(on_disk(X, tmp_path)), "small"
    monkeypatch.setattr(tables, "LEAST_SIZE", 0)
    assert tables.is_long(on_disk(X, tmp_path))
    assert not tables.is_long(X), "in memory, where others may write"
    assert not tables.is_long(np.load(tmp_path / "X.npy", mmap_mode="c"))
    assert not tables.is_long(np.load(tmp_path / "X.npy", mmap_mode="r+"))
    assert not tables.is_long(on_disk(X.T, tmp_path)), "wide"


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize(("k", "mapped"), [(4, False), ((3, 3), True)])
def test_forming_a_can_be_ended_and_tells_its_progress(k, mapped, tmp_path, monkeypatch):
    """In the search and in the proof, whichever needs A first; a later run forms A and ends well."""
    monkeypatch.setattr(covariance_of_data, "STEP", 1)
    monkeypatch.setattr(covariance_of_data, "LEAST_ROWS", 7)
    X = a_table(5, 200, 14)
    table = on_disk(X, tmp_path) if mapped else X
    answer = nspca.solve(nspca.Problem.from_data(X.copy(), k), certify=None)
    for run in (nspca.solve, lambda problem, report: nspca.certify(problem, answer, report=report)):
        problem = nspca.Problem.from_data(table, k)
        half = lambda seen: seen[-1].stage == "covariance" and seen[-1].done > seen[-1].total / 2  # noqa: E731
        _, seen = cancelled(run, problem, when=half)
        rows = [event.done for event in seen if event.stage == "covariance"]
        assert len(rows) > 10 and rows == sorted(rows) and seen[-1].total == 200
        assert "matrix" not in vars(problem.covariance)
        seen.clear()
        assert nspca.certify(problem, answer, effort="fast", report=seen.append).ratio(answer.value) > 0.5
        assert sum(event.stage == "covariance" for event in seen) > len(rows)


def test_long_data_in_memory_form_a_whole_and_wide_ones_do_not(monkeypatch):
    monkeypatch.setattr(covariance_of_data, "FORMED", 20)
    monkeypatch.setattr(covariance_of_data, "WHOLE_LIMIT", 30)
    for m, n, whole in ((40, 30, True), (29, 30, False), (40, 31, False), (15, 20, True)):
        A = from_data(a_table(0, m, n), True, False)
        assert A.small is whole
        X = np.random.default_rng(0).standard_normal(n)
        assert np.allclose(A.product(X), A.Z.T @ (A.Z @ X) / m)
