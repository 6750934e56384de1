"""Input given by mistake: refused in a sentence that names the problem, or read as plainly meant."""

import decimal
import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import nspca
from nspca.components import explained_variances
from nspca.errors import CertificateError, InvalidData, InvalidOption, InvalidProblem

X = np.random.default_rng(0).standard_normal((12, 6))
P = nspca.Problem.from_data(X, 2)
MASKED = np.ma.masked_array(X, mask=np.arange(72).reshape(12, 6) == 7)


@pytest.mark.parametrize("seed", [-1, 1.5, "a", None, True, np.nan])
@pytest.mark.parametrize("call", [nspca.solve, lambda P, seed: nspca.sweep(P, [2], seed=seed)])
def test_a_seed_is_a_whole_number(call, seed):
    with pytest.raises(InvalidOption, match="seed must be a whole number, 0 or more, got"):
        call(P, seed=seed)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (sp.csr_array(X + 0j), "must be real numbers, got complex numbers"),
        (MASKED, "must be complete, got 1 masked entries"),
        ([*MASKED], "must be complete, got 1 masked entries"),
        (sp.csr_array(np.array([[2**63 - 1, 0], [0, 1]])), "got 9223372036854775807, which it rounds to"),
        (pd.DataFrame({"t": [10**18 + 1, 2], "x": [0.5, 1]}), "which it rounds to .*, in column 't'"),
        (pd.DataFrame({"day": pd.date_range("2020", periods=3), "x": [1.0, 2, 3]}), "dates, in column 'day'"),
        (pd.DataFrame({"day": [pd.Timestamp(1)], "x": [2]}, dtype=object), "which is Timestamp"),
        (pd.DataFrame({"a": ["1", "2"], "b": [1.0, 2.0]}), "'1', which is str"),
        ([[1, 2], [3]], "must have rows of one length, got 2 and 1 entries in rows 1 and 2"),
        ([1, [2, 3]], "got 1 and 2 entries in rows 1 and 2"),
        ([np.zeros(2), np.zeros(3)], "got 2 and 3 entries"),
        ([[1, 2], [3, [4]]], r"got \[4\], which is list"),
        (np.array([[1, {}], [2, 3]], dtype=object), "got {}, which is dict"),
        ({"a": [1, 2]}, r"got {'a': \[1, 2\]}, which is dict"),
        ([[10**400, 2], [3, 4]], "got a number beyond 1.8e308"),
        (np.array([[None, 1.0], [2.0, 3.0]]), "got nan at row 1, column 1"),
        (sp.coo_array(np.array([1.0, 2.0])), "rows and columns, got shape"),
        (sp.csr_array((0, 3)), "rows and columns, got shape"),
        (None, "must be numbers|rows and columns"),
        ("X.csv", "real numbers, got text"),
    ],
)
def test_data_that_are_no_numbers(data, words):
    for make in (nspca.Problem.from_data, nspca.Problem.from_covariance):
        with pytest.raises(InvalidProblem, match=words):
            make(data, 1)


@pytest.mark.parametrize("value", ["no", "False", 0, 1, None, 2.0])
@pytest.mark.parametrize("name", ["nonneg", "center", "scale"])
def test_switches_are_true_or_false(name, value):
    with pytest.raises(InvalidOption, match=f"{name} must be True or False, got"):
        nspca.Problem.from_data(X, 2, **{name: value})
    assert nspca.Problem.from_data(X, 2, **{name: np.True_}).k == 2


@pytest.mark.parametrize(
    "x", [np.ones(5), np.ones(7), np.ones((6, 1)), 1.0, "abc", np.full(6, np.nan), [None] * 6]
)
def test_a_component_has_n_finite_entries(x):
    for ask in (P.value, P.violation):
        with pytest.raises(InvalidProblem, match=r"component.* must be"):
            ask(x)
    with pytest.raises((InvalidProblem, ValueError)):
        P.scores(np.ones(5))


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (np.ones(6) + 1j, "must be real numbers, got complex numbers"),
        (np.ma.masked_array(np.ones(6), mask=np.arange(6) == 2), "must be complete, got 1 masked entries"),
        (np.array(["1"] * 6), "must be real numbers, got text"),
        (np.array([b"1"] * 6), "must be real numbers, got bytes"),
        (np.full(6, np.datetime64("2020-01-01")), "must be real numbers, got dates"),
        (np.full(6, 1e51), r"finite .*1e\+50"),  # whose squares are not held
    ],
)
def test_a_component_of_something_else_than_numbers_is_refused_by_its_kind(x, words):
    for ask in (P.value, P.violation, P.scores, lambda x: explained_variances(P, x)):
        with pytest.raises(InvalidProblem, match=rf"^(a component|components) .*{words}"):
            ask(x)


def test_a_component_of_numbers_of_every_kind_has_its_value():
    plain = np.array([1.0, 0, 1, 0, 0, 0])
    whole = plain.astype(int)
    for x in (
        plain.tolist(),
        whole,
        plain > 0,
        plain.astype(np.float16),
        np.array([decimal.Decimal(int(one)) for one in whole]),
        np.ma.masked_array(plain, mask=False),
        pd.Series(whole, dtype="Int64"),
    ):
        assert P.value(x) == P.value(plain) and P.violation(x) == P.violation(plain)
        assert np.array_equal(P.scores(x), P.scores(plain))


def test_one_number_of_another_type_is_that_number():
    assert nspca.sweep(P, 3).frame.k.tolist() == nspca.sweep(P, np.int64(3)).frame.k.tolist() == [3]
    assert nspca.solve(P, components=np.int64(2)).components.shape == (6, 2)
    assert nspca.solve(P, seed=np.int64(3)).value == nspca.solve(P, seed=3).value
    result = nspca.solve(P, tol=np.float32(1e-3), rank=np.int64(2))
    assert json.loads(json.dumps(result.info)) == result.info
    A = np.cov(X, rowvar=False)
    dense, sparse = (nspca.solve(nspca.Problem.from_covariance(given, 2)) for given in (A, sp.csc_matrix(A)))
    assert dense.value == sparse.value
    assert nspca.verify(sp.coo_array(A), sparse.certificate) == nspca.verify(A, dense.certificate)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"k": (2, 2)}, "k must be a whole number"),
        ({"k": 0}, "k must be a whole number"),
        (
            {"k": 5, "n_components": 3},
            "^3 components of 5 features that share none need 15 features, got n = 6; ask for k of at most "
            "2, or for fewer n_components$",
        ),
        ({"k": 1, "n_components": 7}, "n_components must be a whole number, 1 to 6, got 7"),
        ({"n_components": 1.5}, "n_components must be a whole number"),
        ({"random_state": "a"}, "seed must be a whole number"),
        ({"nonneg": "no"}, "nonneg must be True or False"),
    ],
)
def test_the_estimator_says_what_it_was_not_made_for(options, words):
    with pytest.raises(ValueError, match=words):
        nspca.NSPCA(**options).fit(X)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([[1.0, 2.0], [3.0, 4.0]], "a NumPy array or a scipy.sparse table in CSR form is needed, got list"),
        (pd.DataFrame(X), "scipy.sparse table in CSR form is needed, got DataFrame"),
        (sp.csc_array(X), "scipy.sparse table in CSR form is needed, got csc"),
        (None, "scipy.sparse table in CSR form is needed, got NoneType"),
        (X[0], "rows and columns is needed, got an array with 1 dimensions"),
        (X + 0j, "must be a real number, got type complex128"),
        (X.astype(object), "must be a real number, got type object"),
        (X.astype(str), "must be a real number, got type <U"),
        (np.full((3, 2), np.timedelta64(1, "s")), "must be a real number, got type timedelta64"),
        (MASKED, "must be there, got 1 masked ones"),
    ],
)
def test_a_dataset_is_of_numbers(given, words):
    m, n = np.shape(given) if np.ndim(given) == 2 else (3, 2)
    with pytest.raises(InvalidData, match=f"(?i){words}"):
        nspca.Dataset("a", given, tuple(map(str, range(n))), tuple(map(str, range(m))))


def test_the_estimator_takes_every_kind_of_seed():
    none, zero = (nspca.NSPCA(k=2, random_state=seed)._seed() for seed in (None, 0))
    again = [nspca.NSPCA(k=2, random_state=np.random.RandomState(3)) for _ in range(2)]
    assert none == zero == 0 and again[0]._seed() == again[1]._seed()
    assert np.array_equal(*(one.fit(X).components_ for one in again))


# --- files ----------------------------------------------------------------------------------------


def damages(content):
    """Yield the bytes of an archive, damaged in many ways."""
    rng = np.random.default_rng(0)
    yield b""
    yield b"PK"
    for cut in rng.integers(1, len(content), 20):
        yield content[:cut]
    for at in rng.integers(0, len(content), 200):
        spoilt = bytearray(content)
        spoilt[at] ^= 1 << int(rng.integers(8))
        yield bytes(spoilt)


def repacked(content, **changes):
    """The archive with other arrays: bytes as they are, None leaves one out."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            if name.removesuffix(".npy") not in changes:
                new.writestr(name, old.read(name))
        for name, value in changes.items():
            if value is not None:
                raw = io.BytesIO()
                np.lib.format.write_array(raw, value, allow_pickle=True) if isinstance(
                    value, np.ndarray
                ) else raw.write(value)
                new.writestr(f"{name}.npy", raw.getvalue())
    return buffer.getvalue()


def test_damaged_bytes_of_results_and_certificates_are_refused_as_such():
    result = nspca.solve(P)
    content = result.to_bytes()
    for spoilt in damages(content):
        try:
            again = nspca.Result.from_bytes(spoilt)
        except InvalidData as error:
            assert "must be bytes written by Result.to_bytes" in str(error)
        else:  # a bit that nobody reads: a date, a comment
            assert np.array_equal(again.components, result.components)
    for spoilt in damages(result.certificate.to_bytes()):
        try:  # what is damaged may be the name of an array only, which nobody misses before the proof
            proved = nspca.verify(X, nspca.Certificate.from_bytes(spoilt))
        except CertificateError:
            continue
        assert proved == nspca.verify(X, result.certificate)
    for changes in (
        {"header": None},
        {"header": np.array("[]")},
        {"header": np.array("{}")},
        {"header": np.array(json.dumps({"status": "FINE", "method": "auto", "seconds": 0, "info": {}}))},
        {"header": np.array(json.dumps({"status": "LIMIT", "method": "auto", "seconds": None, "info": 3}))},
        {"components": np.zeros(6)},
        {"components": np.array("text")},
        {"components": np.full((6, 1), np.nan)},
        {"values": np.zeros(2)},
        {"values": b"\x93NUMPY"},
        {"certificate": np.zeros(5, np.uint8)},
        {"components": np.array([{}], dtype=object)},
    ):
        with pytest.raises(InvalidData, match=r"must be bytes written by Result\.to_bytes"):
            nspca.Result.from_bytes(repacked(content, **changes))


@pytest.fixture(scope="module")
def honest():
    """Return a certificate, and the file that holds it."""
    certificate = nspca.certify(P)
    return certificate, certificate.to_bytes()


@pytest.mark.parametrize(
    "change",
    [
        {"nonneg": "signed"},
        {"nonneg": None},
        {"center": 1},
        {"scale": 0},
        {"k": True},
        {"k": 2.0},
        {"k": [1, True]},
        {"forced": [5, 0]},
        {"forced": [True]},
        {"forced": "0"},
        {"exponent": 2.0},
        {"shape": [12.0, 6]},
        {"version": True},
        {"source": 3},
        {"upper": True},
        {"upper": float("nan")},
        {"probability": 0.5},
    ],
)
def test_words_of_a_certificate_are_not_read_by_their_truth_value(change, honest):
    certificate, content = honest
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        header = json.loads(str(np.load(io.BytesIO(archive.read("header.npy")))))
    with pytest.raises(CertificateError, match=next(iter(change))):
        nspca.Certificate.from_bytes(repacked(content, header=np.array(json.dumps(header | change))))

    class Forged:  # the checker is handed anything that has the attributes
        pass

    forged = Forged()
    for name in (*header, "witness"):
        setattr(forged, name, getattr(certificate, name))
    forged.k = certificate.k
    assert nspca.verify(X, forged) <= certificate.upper
    for name, value in change.items():
        setattr(forged, name, tuple(value) if name in ("shape", "forced") else value)
    if "probability" not in change:
        with pytest.raises(CertificateError):
            nspca.verify(X, forged)


def test_a_small_file_does_not_unpack_to_gigabytes(monkeypatch):
    """Its directory is read first; and a header that promises more than its file holds allocates nothing."""
    bomb, buffer = io.BytesIO(), io.BytesIO()
    with (
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("witness_W.npy", "w", force_zip64=True) as file,
    ):
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f8", "fortran_order": False, "shape": (8400, 8000)}
        )
        for _ in range(84):
            file.write(bytes(64 * 10**5))
    assert len(bomb.getvalue()) < 2**20
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        raw = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            raw, {"descr": "<f8", "fortran_order": False, "shape": (10**6, 10**6)}
        )
        archive.writestr("witness_W.npy", raw.getvalue())

    def unpacked(*_):
        raise AssertionError("a file of the archive was unpacked")

    for read, error in (
        (nspca.Certificate.from_bytes, CertificateError),
        (nspca.Result.from_bytes, InvalidData),
    ):
        with pytest.raises(error, match="the file holds"):
            read(buffer.getvalue())
        with monkeypatch.context() as patch:
            patch.setattr(zipfile.ZipExtFile, "read", unpacked)
            with pytest.raises(error, match="would unpack to 513 MiB"):
                read(bomb.getvalue())
