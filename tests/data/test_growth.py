"""Packed files that would fill memory: each format is refused by the ratio of its numbers to its bytes."""

import gzip

import numpy as np
import openpyxl
import pandas as pd
import pytest
from PIL import Image

from nspca.data import read
from nspca.errors import InvalidData
from tests.files import archive, npy, npz, saved

ROWS, COLUMNS = 70_000, 35
"""A table of 19 MiB, just above what is read whatever its ratio."""


def parquet(X: np.ndarray) -> bytes:
    return saved(pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]).to_parquet)


def workbook() -> bytes:
    """One row of 4000 cells above 5000 rows of one: as wide as the first, as long as all."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append([1] * 4000)
    for _ in range(5000):
        sheet.append([1])
    return saved(book.save)


def blank_image() -> bytes:
    return saved(Image.new("L", (1000, 1000)).save, "PNG")


def repeated() -> np.ndarray:
    """Columns of four values each, as in an export sorted by group."""
    return np.repeat(np.arange(4.0), ROWS // 4)[:, None] + np.arange(COLUMNS)


BOMBS = {
    "parquet": lambda: parquet(repeated()),
    "parquet in gzip": lambda: gzip.compress(parquet(repeated())),
    "parquet in a zip": lambda: archive({"table.parquet": parquet(repeated())}),
    "npz": lambda: npz(X=np.zeros((ROWS, COLUMNS))),
    "npz of one byte a value": lambda: npz(X=np.zeros((ROWS, COLUMNS), bool)),
    "npz of large labels": lambda: npz(X=np.eye(3), labels=np.zeros(ROWS * COLUMNS)),
    "npz in gzip": lambda: gzip.compress(npz(X=np.zeros((ROWS, COLUMNS)))),
    "npy in gzip": lambda: gzip.compress(npy(np.zeros((ROWS, COLUMNS)))),
    "npy of one byte a value in gzip": lambda: gzip.compress(npy(np.zeros((ROWS, COLUMNS), bool))),
    "npy in a zip": lambda: archive({"a.npy": npy(np.zeros((ROWS, COLUMNS)))}),
    "short cells in gzip": lambda: gzip.compress((b"0," * (COLUMNS - 1) + b"0\n") * ROWS),
    "text in gzip in a zip": lambda: archive({"a.csv.gz": gzip.compress(b"0,0\n" * 5 * 2**20)}),
    "images": lambda: archive({f"{i}.png": blank_image() for i in range(24)}),
}


@pytest.fixture(scope="module", autouse=True)
def imported():
    """Import what reads Parquet first, so that its modules are no part of the memory of a test."""
    read(parquet(np.eye(3)))


@pytest.fixture(params=BOMBS)
def bomb(request):
    return BOMBS[request.param]()


def test_a_packed_file_that_grows_too_much_is_refused(bomb, bounded_memory):
    assert len(bomb) < 2**17
    with pytest.raises(InvalidData, match=r"(would grow \d+ times|grows more than 200 times).*: .*\.$"):
        read(bomb)


@pytest.mark.visit
def test_a_workbook_that_spans_far_more_than_it_holds_is_refused(bounded_memory):
    with pytest.raises(InvalidData, match="cells far from the others, down to row 5001 and column 4000"):
        read(workbook())


@pytest.mark.parametrize(
    "write",
    [
        parquet,
        pytest.param(lambda X: gzip.compress(parquet(X)), marks=pytest.mark.visit),
        lambda X: archive({"a.parquet": parquet(X)}),
        pytest.param(lambda X: npz(X=X), marks=pytest.mark.visit),
        pytest.param(lambda X: npz(X=X.astype(np.int16)), marks=pytest.mark.visit),
        lambda X: gzip.compress(npy(X), 1),
        lambda X: npy(X.astype(bool).astype(np.int8)),
    ],
)
def test_counts_shrink_by_less_and_are_read(write):
    X = np.random.default_rng(0).poisson(0.3, (70_000, 30)).astype(float)
    assert X.nbytes > 16 * 2**20
    assert read(write(X)).X.shape == X.shape


@pytest.mark.parametrize("write", [parquet, lambda X: npz(X=X), lambda X: gzip.compress(npy(X), 1)])
def test_a_small_table_is_read_whatever_its_ratio(write):
    X = np.ones((50_000, 35))
    X[0] = 2
    assert read(write(X)).X.shape == X.shape
