"""Steps that change a data set after reading, such as leaving features out or taking logarithms.

`DataSpec` and the opened data of the pages (`dashboard/open_data`) apply them.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nspca.covariance.numbers import canonical, dense_digest, sparse_digest
from nspca.covariance.weighing import Weights
from nspca.data import Dataset, prepare
from nspca.data.dataset import Kind
from nspca.data.findings import Finding
from nspca.presentation.phrases import things
from nspca.shards import Shards

ROWS, ENTRIES = 1000, 2_000_000
"""Maximum rows, and approximate maximum entries, of a sample of a folder of shards."""


def varying(data: Dataset) -> Dataset:
    """Return the data without constant features. Images become a plain table, since pixels are missing."""
    constant = data.constant_columns()
    if data.is_covariance or not constant.size:
        return data
    keep = np.setdiff1d(np.arange(data.X.shape[1]), constant)
    note = (
        f"Left out because of one value only: {things(len(constant), 'feature')}, the first is "
        f"{data.feature_names[constant[0]]}."
    )
    return replace(
        data,
        X=data.X[:, keep],
        feature_names=tuple(data.feature_names[j] for j in keep),
        axis=None if data.axis is None else data.axis[keep],
        image_shape=None,
        kind="table" if data.kind == "image" else data.kind,
        findings=(*data.findings, Finding(note)),
    )


def logged(data: Dataset) -> Dataset:
    """Return the data with log2(x + 1) in place of every x; a covariance is returned unchanged."""
    return data if data.is_covariance else prepare(data, "log2")


def together(data: Dataset, whole: Dataset, group: Sequence[int]) -> Dataset:
    """Return the data with a group of features joined into one, given by their numbers in `whole`.

    Features that earlier steps left out are ignored.
    """
    there = set(data.feature_names)
    names = [name for name in (whole.feature_names[j] for j in whole.numbers(group)) if name in there]
    return data if len(names) < 2 else data.together(names)


def sample_rows(table: Shards) -> int:
    """Return the maximum number of rows in a sample of a folder of shards."""
    return int(np.clip(ENTRIES * table.shape[0] / max(table.nonzeros, 1), 2, ROWS))


def sample_of(table: Shards, most: int) -> Dataset:
    """Return at most `most` random rows of a folder of shards; equal folders give equal rows."""
    X, numbers = table.sample(most)
    counts = table.has_names and bool(np.all((X.data > 0) & (X.data % 1 == 0)))
    total = f"{table.shape[0]:,}"
    kind: Kind = "words" if counts else "table"
    names = tuple(f"{'document' if counts else 'row'} {number + 1}" for number in numbers)
    said = f"{len(names):,} of the {total} rows of a folder on the server, chosen at random"
    return Dataset(table.folder.name, X, table.feature_names, names, kind=kind, provenance=said)


def content_of(data: Dataset | Shards) -> str:
    """Return the digest of the numbers of a data set, and of the weights of its samples."""
    if isinstance(data, Shards):
        return f"shards {data.digest}"
    found = dense_digest(data.X) if isinstance(data.X, np.ndarray) else sparse_digest(canonical(data.X))
    weights = "" if data.weights is None else Weights(data.weights, data.X.shape[0]).digest
    return f"{found} weights {weights}" if weights else found
