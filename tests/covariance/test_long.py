"""Long dense tables in files: A from blocks of rows is that of the table in memory."""

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.covariance import long, sharded
from nspca.covariance.inputs import from_dense
from nspca.covariance.sharded import ShardedCovariance
from nspca.errors import Cancelled
from tests.rowblocks import InMemory

CASES = [(center, scale) for center in (True, False) for scale in (True, False)]


@pytest.fixture
def in_pieces(monkeypatch):
    """Let small tables count as large, and read them a few rows at a time."""
    monkeypatch.setattr(long, "LEAST_SIZE", 0)
    monkeypatch.setattr(long, "AT_ONCE", 97)
    monkeypatch.setattr(long, "MEASURED", 40)
    monkeypatch.setattr(long, "TILE", 5)


def on_disk(X, folder, name="X.npy"):
    np.save(folder / name, X)
    return np.load(folder / name, mmap_mode="r")


def a_table(seed=0, m=60, n=13, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return ((rng.random((m, n)) + rng.random((m, 1))) * 50 - 10 * rng.random(n)).astype(dtype)


def assert_equal(A, B, tolerance=1e-13):
    assert A.digest == B.digest and A.exponent == B.exponent and A.shape == B.shape
    size = np.sqrt(np.outer(B.diagonal, B.diagonal)) + 1e-300
    assert (np.abs(A.matrix - B.matrix) <= tolerance * size).all()
    assert np.array_equal(A.matrix, A.matrix.T) and np.array_equal(A.varies, B.varies)
    assert np.allclose(A.Z, B.Z, rtol=0, atol=1e-12 * np.abs(B.Z).max())


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16, bool, ">f8"])
@pytest.mark.parametrize("center, scale", CASES)
def test_of_any_type_a_is_that_of_the_table_in_memory(center, scale, dtype, tmp_path):
    X = a_table() > 20 if dtype is bool else a_table(dtype=dtype)
    for table in (on_disk(X, tmp_path), on_disk(np.asfortranarray(X), tmp_path, "F.npy")):
        assert long.is_long(table)
        A, B = long.from_file(table, center, scale), from_dense(X, center, scale)
        assert_equal(A, B)
        x = np.random.default_rng(1).standard_normal(A.n)
        assert np.allclose(A.scores(x), B.scores(x), rtol=1e-12, atol=1e-12)
        assert np.isclose(A.explained(x), B.explained(x), rtol=1e-12)
        few = np.array([3, 1, 8])
        assert np.array_equal(A.restrict(few).matrix, A.matrix[np.ix_(few, few)])


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize("factor", [1e-310, 1e-100, 1e100, 1e160])
@pytest.mark.parametrize("center", [True, False])
def test_scaled_tables_may_have_any_size_and_others_that_of_the_table_in_memory(center, factor, tmp_path):
    X = a_table(3) * factor
    table = on_disk(X, tmp_path)
    assert_equal(long.from_file(table, center, True), from_dense(X, center, True), 1e-12)
    if 1e-120 < factor < 1e120:
        assert_equal(long.from_file(table, center, False), from_dense(X, center, False))
    else:
        for make, data in ((long.from_file, table), (from_dense, X)):
            with pytest.raises(nspca.errors.InvalidProblem, match="multiply the data"):
                make(data, center, False)


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize("center, scale", CASES)
def test_of_an_open_hdf5_file_too(center, scale, tmp_path):
    h5py, X = pytest.importorskip("h5py"), a_table()
    with h5py.File(tmp_path / "X.h5", "w") as file:
        assert not long.is_long(file.create_dataset("X", data=X)), "open for writing"
    with h5py.File(tmp_path / "X.h5", "r") as file:
        assert long.is_long(file["X"]) and not long.is_long(file)
        problem = nspca.Problem.from_data(file["X"], 3, center=center, scale=scale)
        assert_equal(problem.covariance, from_dense(X, center, scale))
        assert nspca.verify(file["X"], nspca.certify(problem, effort="fast")) > 0


@pytest.mark.usefixtures("in_pieces")
def test_the_first_pass_tells_its_progress_and_can_be_ended(tmp_path):
    table, events = on_disk(a_table(), tmp_path), []
    nspca.Problem.from_data(table, 3, report=events.append)
    assert {(event.stage, event.total) for event in events} == {("covariance", 60)}
    assert [event.done for event in events] == list(range(0, 60, 3))

    def end(event):
        if event.done > 30:
            raise Cancelled

    with pytest.raises(Cancelled):
        nspca.Problem.from_data(table, 3, report=end)


@pytest.mark.usefixtures("in_pieces")
def test_sums_that_might_overflow_take_the_usual_way(tmp_path):
    X = a_table()
    X[:, 4] *= 2.0**1000
    table = on_disk(X, tmp_path)
    assert long.from_file(table, True, True) is None
    problem = nspca.Problem.from_data(table, 3, scale=True)
    assert problem.covariance.digest == from_dense(X, True, True).digest


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize("scale", [True, False])
def test_a_large_mean_and_a_column_of_one_value_lose_no_digits(scale, tmp_path):
    X = a_table(1)
    X[:, :5] += 1e9
    if not scale:
        X[:, 2] = 1e12
    assert_equal(long.from_file(on_disk(X, tmp_path), True, scale), from_dense(X, True, scale), 1e-12)


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
        with pytest.raises(nspca.errors.InvalidProblem, match=words):
            nspca.Problem.from_data(table, 3, scale=True)


@pytest.mark.usefixtures("in_pieces")
def test_whole_numbers_that_would_be_rounded_are_refused(tmp_path):
    X = np.arange(24).reshape(8, 3)
    X[5, 1] = 2**60 + 1
    with pytest.raises(nspca.errors.InvalidProblem, match="1152921504606846977"):
        nspca.Problem.from_data(on_disk(X, tmp_path), 2)


def test_other_tables_are_copied_as_before(tmp_path, monkeypatch):
    X = a_table()
    assert not long.is_long(on_disk(X, tmp_path)), "small"
    monkeypatch.setattr(long, "LEAST_SIZE", 0)
    assert long.is_long(on_disk(X, tmp_path))
    assert not long.is_long(X), "in memory, where others may write"
    assert not long.is_long(np.load(tmp_path / "X.npy", mmap_mode="c"))
    assert not long.is_long(np.load(tmp_path / "X.npy", mmap_mode="r+"))
    assert not long.is_long(on_disk(X.T, tmp_path)), "wide"


@pytest.mark.usefixtures("in_pieces")
def test_certificates_hold_for_the_file_and_for_the_table_in_memory(tmp_path):
    X = a_table(5, 400, 30)
    table = on_disk(X, tmp_path)
    for k in (4, (3, 3)):
        problem = nspca.Problem.from_data(table, k)
        assert isinstance(problem.covariance, long.LongCovariance)
        result = nspca.solve(problem, certify="standard")
        plain = nspca.solve(nspca.Problem.from_data(X, k), certify=None)
        assert result.value == pytest.approx(plain.value, rel=1e-9)
        for data in (table, X):
            assert nspca.verify(data, result.certificate) <= result.certificate.upper
    assert nspca.solve(problem.with_k(3), components=2, certify=None).components.shape == (30, 2)


@pytest.mark.usefixtures("in_pieces")
@pytest.mark.parametrize(
    ("k", "mapped"),
    [
        (4, True),
        ((3, 3), False),
        *(pytest.param(*case, marks=pytest.mark.visit) for case in ((4, False), ((3, 3), True))),
    ],
)
def test_forming_a_long_table_shows_progress_and_can_be_ended(mapped, k, tmp_path, monkeypatch):
    """In the search and in the proof, whichever needs A first; a later run forms A and ends well."""
    monkeypatch.setattr("nspca.covariance.data.FORMED", 1)
    monkeypatch.setattr("nspca.covariance.data.LEAST_ROWS", 7)
    X = a_table(5, 400, 30)
    table = on_disk(X, tmp_path) if mapped else X
    answer = nspca.solve(nspca.Problem.from_data(X.copy(), k), certify=None)
    for run in (nspca.solve, lambda problem, report: nspca.certify(problem, answer, report=report)):
        problem, seen = nspca.Problem.from_data(table, k), []

        def end(event, seen=seen):
            seen.append(event)
            if event.stage == "covariance" and event.done > event.total / 2:
                raise nspca.Cancelled

        with pytest.raises(nspca.Cancelled):
            run(problem, report=end)
        rows = [event.done for event in seen if event.stage == "covariance"]
        assert len(rows) > 10 and rows == sorted(rows) and seen[-1].total == 400
        assert "matrix" not in vars(problem.covariance)
        seen.clear()
        assert nspca.certify(problem, answer, report=seen.append).ratio(answer.value) > 0.5
        assert sum(event.stage == "covariance" for event in seen) > len(rows)


def test_long_data_in_memory_form_a_whole_and_wide_ones_do_not(monkeypatch):
    monkeypatch.setattr("nspca.covariance.data.DENSE_LIMIT", 20)
    monkeypatch.setattr("nspca.covariance.data.WHOLE_LIMIT", 30)
    for m, n, whole in ((40, 30, True), (29, 30, False), (40, 31, False), (15, 20, True)):
        A = from_dense(a_table(0, m, n), True, False)
        assert A._small is whole
        X = np.random.default_rng(0).standard_normal(n)
        assert np.allclose(A.product(X), A.Z.T @ (A.Z @ X) / m)


@pytest.mark.parametrize("center, scale", CASES)
def test_full_shards_form_a_whole_from_dense_blocks(center, scale, monkeypatch):
    monkeypatch.setattr(sharded, "WHOLE", 5)
    X = a_table(2, 60, 13)
    X[:, 11] *= X[:, 11] > np.quantile(X[:, 11], 0.8)  # not full
    A, B = ShardedCovariance(InMemory(sp.csr_array(X), 17), center, scale), from_dense(X, center, scale)
    blocks = [A.rows._scale.of(block) for block in A.rows.table.blocks()]
    assert A.small and all(isinstance(block, np.ndarray) is center for block in blocks)
    passes, Y = A.passes, np.random.default_rng(0).standard_normal((13, 2))
    size = np.sqrt(np.outer(B.diagonal, B.diagonal))
    assert (np.abs(A.matrix - B.matrix) <= 1e-12 * size).all() and np.array_equal(A.matrix, A.matrix.T)
    assert np.allclose(A.leading(3)[0], B.leading(3)[0], rtol=1e-10)
    assert A.passes == passes + 1, "everything else is done on A"
    assert np.allclose(A.scores(Y), B.scores(Y), rtol=0, atol=1e-10 * np.abs(B.Z).max())
    wide = ShardedCovariance(InMemory(sp.csr_array(X[:12]), 5), center, False)
    assert not wide.small
    few = np.array([1, 11, 4])
    assert np.allclose(wide.product(Y), from_dense(X[:12], center, False).product(Y))
    assert np.allclose(wide.columns(few), from_dense(X[:12], center, False).columns(few))
