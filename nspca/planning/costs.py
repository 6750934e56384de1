"""The plan of a problem: memory, passes and seconds, computed from sizes and from one measured speed.

Users call `plan`. Specs and pages call `planned`, since they know the size already.
"""

import os
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.bounds.plan import FACTOR_LIMIT, JOINT_PLANS, PLANS
from nspca.covariance.covariance import DENSE_LIMIT
from nspca.covariance.data import CANDIDATES, MANY_ROWS, WHOLE_LIMIT
from nspca.data import limits
from nspca.data.containers import open_reader
from nspca.data.formats.base import Size, Source
from nspca.errors import InvalidData, InvalidOption, shown
from nspca.problem import Problem
from nspca.proving import EFFORTS, EXHAUSTIVE
from nspca.shards import Shards
from nspca.shards.sources import MEGABYTES
from nspca.validation.archive import MAX_BYTES, mib
from nspca.validation.features import features_of
from nspca.validation.options import check_whole

COORDINATES, TABLE = 12, 8
"""Bytes of an entry of a sparse matrix in memory, and of a dense one."""
COPIES = 4
"""Number of copies of sparse entries in memory: as given, in order, by columns, and a selection of them."""
SQUARES = 5
"""Number of square matrices in memory at a time, with the features on which A is formed."""
PASSES = {"memory": 4, "shards": 5}
"""Passes over the data where A is formed on some features, for data in memory and in shards."""
SKETCH_PASSES = 5
"""Additional passes for several components in memory, which start from a sketch of all features."""
STEPS = 250
"""Number of products with A on the chosen features that a component and its proof take."""
BY_BLOCKS = 16
"""Number of columns with which a pass multiplies the data."""
BASE, EACH, MOST = 2e8, 2e6, 2000
"""Multiplications for a component and its proof besides products: ``BASE + EACH * min(features, MOST)``.

Here `features` is the number of features on which A is formed. Measured on pitprops, digits, LRS, CBCL,
Leukemia and KOS.
"""
USUAL = 10
"""Default number of features of a component."""
MEASURED = 2**18
"""Entries of the sparse matrix by which the speed of the machine is measured."""
DENSE, TEXT_BYTE = 1 / 4, 10
"""Times of a multiplication in a dense product, and of a byte of text, relative to the measured one."""


@dataclass(frozen=True)
class Plan:
    """The cost estimate of a problem on this machine.

    Attributes
    ----------
    size : Size
    at : str
        Where the data will be: "memory", or on disk in "shards".
    features : int
        The number of features on which A is formed.
    bytes : int
        Memory at the peak, besides the program itself.
    passes : int
        Passes over the data.
    seconds : float
    proved : str
        The bound that a certificate will prove, in words.
    reason : str
        Why the problem cannot be solved in memory; empty when it can.
    command : str
        The command that makes it possible then.
    """

    size: Size
    at: str
    features: int
    bytes: int
    passes: int
    seconds: float
    proved: str
    reason: str = ""
    command: str = ""

    def __str__(self) -> str:
        """Describe size, cost and expected bound in three lines, and a fourth if shards are needed."""
        about = "" if self.size.exact else "about "
        kind = "nonzeros" if self.size.sparse else "numbers"
        not_counted = f" ({self.size.not_counted})" if self.size.not_counted else ""
        lines = [
            f"{about}{self.size.rows} x {self.size.columns}, {about}{self.size.entries} {kind}{not_counted}",
            f"memory {mib(self.bytes)}, {self.passes} pass{'es' * (self.passes > 1)} over the data, "
            f"about {self.seconds:.2g} s",
            self.proved,
        ]
        if self.command:
            lines.append(f"{self.reason}; make shards first, which these numbers are for: {self.command}")
        return "\n".join(lines)


def plan(source: Any, k: int | None = None, components: int = 1, effort: str = "fast") -> Plan:
    """Estimate the cost of solving and certifying a problem, without reading the data whole.

    Parameters
    ----------
    source : Problem, Dataset, array, sparse matrix, data frame, str or Path
        A problem, a table, a folder of shards, or a docword, Matrix Market, Parquet, CSV, NPZ, NPY or HDF5
        file.
    k, components : int
        Features of a component, and the number of components found together. By default one component of 10
        features, or of all if there are fewer. A `Problem` has its own.
    effort : str
        The effort of the certificate. For "exhaustive" the estimate covers the answer and a first bound: no
        estimate covers the search until the optimum is proved.

    Returns
    -------
    Plan

    Raises
    ------
    InvalidData
        For a file whose header makes no sense, and for less than two rows or columns.
    InvalidOption
        For more features than there are columns, and for what is no such source.
    """
    if not isinstance(effort, str) or effort not in EFFORTS:
        raise InvalidOption(f"effort must be one of {', '.join(EFFORTS)}, got {shown(effort)}")
    size, sizes = read_size(source), getattr(source, "sizes", None)
    if sizes is None:
        check_whole("components", components, 1)
        if min(size.rows, size.columns) < 2:
            raise InvalidData(
                f"At least two rows and two columns are needed, got {size.rows} x {size.columns}"
                f"{f' ({size.not_counted})' if size.not_counted else ''}: give another table."
            )
        k = max(1, min(USUAL, size.columns // components)) if k is None else k
        check_whole("k", k, 1)
        if k * components > size.columns:  # disjoint components share no feature
            what = "k" if components == 1 else "k times components"
            raise InvalidOption(
                f"{what} must be at most {size.columns}, the number of columns, got {k * components}"
            )
        sizes = (k,) * components
    found = planned(size, sizes, effort)
    command = f"python -m nspca shard {shlex.quote(str(source))} FOLDER"
    return replace(found, command=command) if found.reason else found


def read_size(source: Any) -> Size:
    """Return the size of a `Problem`, a table, a folder of shards or a file, of which only the header and the
    beginning are read.

    Raises
    ------
    InvalidOption
        For anything else.
    InvalidData
        For a file whose header makes no sense.
    """
    if isinstance(source, Problem):
        A, (m, n) = source.covariance, source.covariance.shape
        is_sparse = A.source == "data" and A.Z is None
        return Size(m, n, A.nonzeros, sparse=is_sparse, at="shards" if A.on_disk else "memory")
    if isinstance(source, str | Path):
        path = Path(source)
        if not path.is_dir():
            size = open_reader(Source(path)).probe()
            if size.sparse:
                limits.check_filled(size.rows, size.columns, size.entries, str(path))
            return size
        source = Shards(path)
    if isinstance(source, Shards):
        return Size(*source.shape, source.nonzeros, sparse=True, at="shards")
    X = features_of(source, covariance=True)[0]
    if len(getattr(X, "shape", ())) != 2:
        raise InvalidOption(
            "a problem, a table, or the path of a file or a folder of shards is required, got "
            f"{type(source).__name__}"
        )
    m, n = X.shape
    return Size(m, n, X.nnz if sp.issparse(X) else m * n, sparse=sp.issparse(X), at="memory")


def planned(size: Size, sizes: Sequence[int], effort: str) -> Plan:
    """Return the plan for components of these sizes, found together; it names no command.

    `size` is that of the data.
    """
    reason = _beyond(size) if size.at == "file" else ""
    at = "shards" if reason or size.at == "shards" else "memory"
    features = _worked_on(size, at, sizes)
    held = _bytes(size, at, features, sizes)
    if at == "memory" and size.at == "file" and (free := available()) is not None and held > free:
        reason, at = f"{mib(held)} of memory are needed, {mib(free)} are free", "shards"
        features = _worked_on(size, at, sizes)
        held = _bytes(size, at, features, sizes)
    more = SKETCH_PASSES if len(sizes) > 1 and at == "memory" else 0
    passes = 1 if features == size.columns else PASSES[at] + more
    return Plan(
        size=size,
        at=at,
        features=features,
        bytes=held,
        passes=passes,
        seconds=_seconds(size, features, passes, sizes),
        proved=_proved(size, sizes, effort),
        reason=reason,
    )


def available() -> int | None:
    """Return the bytes of free memory, None where the system does not say."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _beyond(size: Size) -> str:
    """Return a phrase about the limit of files in memory that the source exceeds; empty for none."""
    found = (
        ("rows", size.rows, limits.MAX_ROWS),
        ("columns", size.columns, limits.MAX_COLUMNS),
        ("nonzeros", size.entries if size.sparse else 0, limits.MAX_ENTRIES),
        ("numbers", 0 if size.sparse else size.entries, limits.MAX_VALUES),
        ("bytes", size.text, MAX_BYTES),
    )
    for what, got, most in found:
        if got > most:
            return f"a file may have {most} {what} in memory, this one has {got}"
    return ""


def _worked_on(size: Size, at: str, sizes: Sequence[int]) -> int:
    """Return the number of features on which A is formed: some of them for large data, otherwise all."""
    by_parts = size.columns > _most_formed(size) and (
        at == "shards" or (size.sparse and size.rows > MANY_ROWS)
    )
    return min(size.columns, max(CANDIDATES, 2 * sum(sizes))) if by_parts else size.columns


def _most_formed(size: Size) -> int:
    """Return the largest number of features on which A is formed: more for full data with many rows."""
    is_full = (size.at == "shards" or not size.sparse) and 2 * size.entries >= size.rows * size.columns
    return WHOLE_LIMIT if is_full and size.rows >= size.columns else DENSE_LIMIT


def _bytes(size: Size, at: str, features: int, sizes: Sequence[int]) -> int:
    whole_data = COORDINATES * COPIES if size.sparse else TABLE * 3
    block = min(size.entries, MEGABYTES * 2**20 // COORDINATES)
    data = size.entries * whole_data if at == "memory" else block * COORDINATES * COPIES
    if features == size.columns and size.sparse and at == "memory":
        data += size.rows * size.columns * TABLE  # a dense copy, to form A
    vectors = size.columns * (BY_BLOCKS + len(sizes)) * TABLE
    smaller = min(size.rows, size.columns)
    side = max(features * (features <= _most_formed(size)), smaller * (smaller <= FACTOR_LIMIT))
    return int(data + vectors + SQUARES * side**2 * TABLE)


def _seconds(size: Size, features: int, passes: int, sizes: Sequence[int]) -> float:
    sparse = speed()
    dense = DENSE * sparse
    going = passes * 2 * BY_BLOCKS * size.entries * sparse
    each = size.entries / max(size.rows, 1)
    if size.sparse:
        forming = size.entries * min(each, features) * sparse
    else:  # the cheaper of Z'Z and ZZ'
        forming = size.entries * min(size.rows, features) * dense
    product = features**2 if features <= _most_formed(size) else 2 * size.entries
    besides = BASE + EACH * min(features, MOST)
    seeking = (1 + len(sizes) / 4) * (STEPS * product + besides) * dense
    return size.text * TEXT_BYTE * sparse + going + forming + seeking


def _proved(size: Size, sizes: Sequence[int], effort: str) -> str:
    joint = len(sizes) > 1
    begins = "standard" if effort == EXHAUSTIVE else effort
    rows = min((JOINT_PLANS if joint else PLANS)[begins].rows[-1], size.columns)
    what = f"{len(sizes)} disjoint components together" if joint else "one component"
    return (
        f"proved: a bound on {what}, on all {size.columns} features, from a dual on at most {rows} of them "
        f"(effort {begins})"
        + (", before a search until the optimum is proved, which has no estimate" * (effort == EXHAUSTIVE))
    )


@cache
def speed() -> float:
    """Return the seconds of one multiplication in a sparse matrix product: the quickest of three products.

    It is measured once in each process, in some twenty milliseconds.
    """
    indices = np.random.default_rng(0).integers(0, 2**16, MEASURED)
    pointers = np.arange(0, MEASURED + 1, 2**6)
    X = sp.csr_array((np.ones(MEASURED), indices, pointers), shape=(MEASURED // 2**6, 2**16))
    Y, seconds = np.ones((2**16, 4)), []
    for _ in range(3):
        begun = time.perf_counter()
        X.T @ (X @ Y)
        seconds.append(time.perf_counter() - begun)
    return max(min(seconds), 1e-9) / (8 * MEASURED)
