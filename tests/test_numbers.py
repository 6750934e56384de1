"""One gate for numbers: `Problem` and `verify` take the same tables, and nothing is rounded."""

import re
from array import array
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

import nspca
from tests.rowblocks import InMemory

LARGE = 1_700_000_000_000_000_000 + np.array([[0, 3], [100, 1], [50, 2], [10, 7]])
X = np.array([[0.5, 3.0], [1.0, 1.0], [0.25, 2.0], [2.0, 7.0]])
WHOLE = np.array([[0, 3], [100, 1], [50, 2], [10, 7]])
LONG = X.astype(np.longdouble) + np.longdouble(2) ** -60
IS_LONG = np.finfo(np.longdouble).nmant > 52


def objects(entry, kind=float):
    """A table of objects with one entry of its own."""
    table = X.astype(object)
    table[1, 1] = entry
    return table


def frame(one, other):
    return pd.DataFrame({"a": one, "b": other})


def masked_entries():
    """Sparse X, one of its entries masked."""
    sparse = sp.csr_array(X)
    sparse.data = np.ma.masked_array(sparse.data, mask=np.arange(sparse.data.size) == 7)
    return sparse


TAKEN = {
    "float64": X,
    "float32": X.astype(np.float32),
    "longdouble that float64 holds": X.astype(np.longdouble),
    "int64": WHOLE,
    "int64 beyond 2**53 that float64 holds": WHOLE * 2**54,
    "uint64 beyond 2**63 that float64 holds": WHOLE.astype(np.uint64) * 2 + np.uint64(2**63) - 2**63 + 2**53,
    "bool": WHOLE > 5,
    "objects": objects(3),
    "decimals that float64 holds": objects(Decimal("0.125")),
    "fractions that float64 holds": objects(Fraction(3, 8)),
    "truth among objects": objects(True),
    "a whole number beyond 2**53 that float64 holds": objects(2**60),
    "long doubles among objects": objects(np.longdouble(3)),
    "lists": X.tolist(),
    "lists of whole numbers and others": [[1, 0.5], [2**60, 3.0]],
    "a frame": frame(WHOLE[:, 0], X[:, 1]),
    "a nullable frame": frame(X[:, 0], X[:, 1]).astype("Float64"),
    "an Arrow table": pa.table({"a": WHOLE[:, 0], "b": X[:, 1]}),
    "a list of series": [pd.Series(WHOLE[:, 0]), pd.Series(X[:, 0])],
    "masked, but nowhere": np.ma.masked_array(X, np.zeros(X.shape, dtype=bool)),
    "sparse": sp.csr_array(X),
    "sparse bool": sp.csc_array(WHOLE > 5),
    "sparse longdouble that float64 holds": sp.csr_array(X.astype(np.longdouble)),
}
REFUSED = {
    "int64": LARGE,
    "uint64": LARGE.astype(np.uint64) + np.uint64(2**62),
    "decimals": objects(Decimal("0.1")),
    "fractions": objects(Fraction(1, 3)),
    "a whole number among objects": objects(2**53 + 1),
    "beyond all floats": objects(10**400),
    "text among objects": objects("3"),
    "a date among objects": objects(np.datetime64("2020-01-01")),
    "a duration among objects": objects(np.timedelta64(3, "s")),
    "complex among objects": objects(3 + 0j),
    "missing among objects": objects(None),
    "lists": LARGE.tolist(),
    "lists of whole numbers and others": [[2**53 + 1, 0.5], [1, 2]],
    "a list of arrays": [LARGE[:, 0], X[:, 0]],
    "a list of series": [pd.Series(LARGE[:, 0]), pd.Series(X[:, 0])],
    "a list of buffers": [array("q", LARGE[:, 0].tolist()), X[:, 0].tolist()],
    "an Arrow table": pa.table({"a": LARGE[:, 0], "b": X[:, 1]}),
    "a frame": frame(LARGE[:, 0], X[:, 1]),
    "a nullable frame": pd.DataFrame(LARGE).astype("Int64"),
    "complex": X + 0j,
    "text": X.astype(str),
    "bytes": X.astype("S"),
    "dates": LARGE.astype("datetime64[ns]"),
    "durations": WHOLE.astype("timedelta64[s]"),
    "records": np.zeros(X.shape, dtype=[("a", float)]),
    "nan": np.where(X == 7, np.nan, X),
    "masked": np.ma.masked_equal(X, 7),
    "a masked row in a list": [np.ma.masked_equal(X[0], 3), X[1]],
    "sparse int64": sp.csr_array(LARGE),
    "sparse int64 once it is summed": sp.coo_array(([2**53, 1, 1], ([0, 0, 1], [0, 0, 1])), (2, 2)),
    "sparse complex": sp.csr_array(X + 0j),
    "sparse masked": masked_entries(),
    "sparse nan": sp.csr_array(np.where(X == 7, np.nan, X)),
    "sparse inf": sp.csr_array(np.where(X == 7, -np.inf, X)),
}
if IS_LONG:
    REFUSED |= {
        "longdouble": LONG,
        "longdouble beyond all floats": LONG * np.longdouble(10) ** 400,
        "a longdouble among objects": objects(LONG[0, 0]),
        "sparse longdouble": sp.csr_array(LONG),
        "a frame with longdouble": frame(LONG[:, 0], WHOLE[:, 1]),
    }


def in_float64(data):
    """Return the table rounded to float64, as the maker of the certificate had it."""
    if sp.issparse(data):
        return sp.csr_array(data).astype(np.float64)
    data = pd.DataFrame(data).to_numpy() if isinstance(data, pd.DataFrame) else np.array(data)
    return data.astype(np.float64)


@pytest.mark.parametrize("name", TAKEN)
def test_what_float64_holds_is_taken_by_both_sides(name):
    data = TAKEN[name]
    problem = nspca.Problem.from_data(data, 1)
    certificate = nspca.solve(problem).certificate
    assert problem.covariance.digest == nspca.Problem.from_data(in_float64(data), 1).covariance.digest
    assert nspca.verify(data, certificate, problem) == nspca.verify(in_float64(data), certificate)


@pytest.mark.parametrize("name", REFUSED)
def test_what_float64_rounds_or_is_no_number_is_taken_by_neither(name):
    data = REFUSED[name]
    with pytest.raises(nspca.InvalidProblem, match=r"must be (\w+ )?(numbers|complete)") as refused:
        nspca.Problem.from_data(data, 1)
    assert ";" in str(refused.value)
    certificate = nspca.solve(nspca.Problem.from_data(X, 1)).certificate
    with pytest.raises(nspca.CertificateError) as refused:
        nspca.verify(data, certificate)
    assert "digest" not in str(refused.value) and "shape" not in str(refused.value)


@pytest.mark.skipif(not IS_LONG, reason="long doubles are doubles here")
def test_a_long_float_is_told_with_the_digits_that_are_lost():
    with pytest.raises(nspca.InvalidProblem) as refused:
        nspca.Problem.from_data(LONG, 1)
    given, rounded = re.search(r"got (\S+), which it rounds to (\S+);", str(refused.value)).groups()
    assert Decimal(given) != Decimal(rounded)


@pytest.mark.parametrize("large", [LARGE, LONG if IS_LONG else LARGE])
def test_blocks_of_rows_have_the_same_gate(large):
    table = InMemory(sp.csr_array(large.astype(float)), 3)
    problem = nspca.Problem.from_shards(table, 1)
    certificate = nspca.solve(problem).certificate
    nspca.verify(table, certificate, problem)
    table.X = sp.csr_array(large)
    with pytest.raises(nspca.CertificateError, match="that float64 holds exactly"):
        nspca.verify(table, certificate)
    with pytest.raises(nspca.InvalidProblem, match="must be numbers that fit float64"):
        nspca.Problem.from_shards(table, 1)


@pytest.mark.parametrize("large", [sp.csr_array(LARGE), sp.lil_array(LARGE), LARGE])
def test_an_estimator_has_it_too(large):
    model = nspca.NSPCA(k=1, certify=None).fit(X)
    for call in (nspca.NSPCA(k=1).fit, nspca.NSPCA(k=1).partial_fit, model.transform, model.score):
        with pytest.raises(nspca.InvalidProblem, match="must be numbers that fit float64"):
            call(large)
