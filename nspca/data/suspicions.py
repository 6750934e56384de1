"""What tables of numbers give cause to suspect: codes, totals, genes in rows, a covariance, other scales.

`suspicions` returns findings about a `Dataset` of any format. Nothing is changed: each finding names the
option that acts on it.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.data.dataset import ROUNDING, Dataset
from nspca.data.findings import Finding, suspicion
from nspca.data.names import Numbered, counted, numbered, quote_names, short
from nspca.errors import Way

# Names of probe sets and accession numbers. Gene symbols such as TP53 have a pattern of their own, because
# sample names S1, S2, ... look similar.
_PROBE = re.compile(
    r"^(hsa|mmu|rno)-(mir|miR|let)-|^chr[\dXYM]+[:_-]\d+|^(OTU|ASV)[_ ]?\d+$|^[ACGT]{20,}$"
    r"|_[a-z]?_?[as]t$|_at$|^AFFX|^ENS[A-Z]*[GTP]\d{6,}|^[NX][MR]_\d+|^ILMN_\d+|^cg\d{6,}|^(probe|gene)[ "
    r"_-]?\d+$|^[OPQ]\d[A-Z0-9]{3}\d(-\d+)?([;|].*)?$|^[A-NR-Z]\d[A-Z][A-Z0-9]{2}\d(-\d+)?([;|].*)?$|^(sp|tr)\|"
)
_SYMBOL = re.compile(r"^[A-Z]{2,}[A-Z0-9-]{1,10}$")
# Ratio of rows to columns from which rows may be features. Ordinary data reach a ratio of 28: digits are
# 1797 x 64, faces 2429 x 361.
_MANY_TIMES = 50
# Maximum side of a square table that is compared with its transpose, which takes a tenth of a second. The
# user must declare a larger covariance matrix.
_COMPARED = 4000
_TAIL, _UNLIKE = 0.1, 5.0
"""Features have different scales when the standard deviations at the quantiles _TAIL and 1 - _TAIL differ at
least by the factor _UNLIKE.
"""
LOOKED_AT = 2000
"""Maximum rows that are searched for codes, times and classes; evenly spread over the table."""
FEW_CLASSES = 12
"""Maximum different whole numbers of a column that looks like class codes."""
ALONE = 0.95
"""Share of the variance from which one feature alone decides every component."""
FAR = 5.0
"""A repeated value is a code when it lies this many ranges of all other values away from them."""
LABELS = re.compile(
    r"(^|[\W_])(class(es)?|labels?|target|groups?|diagnosis|type|y|species|category|cluster|outcome|grade|status)"
    r"($|[\W_\d])",
    re.IGNORECASE,
)
"""Names of columns that hold classes."""
ID = re.compile(
    r"(^|[\W_\d])(id|ids|no|nr|index|idx|key|code|row|rownames?|accession|uuid|barcode|patient|"
    r"respondent|subject|participant|case_?id|student_?(number|nr|no))"
    r"($|[\W_\d])|[a-z](ID|Id|No)$"
    r"|^unnamed|^#$",
    re.IGNORECASE,
)
"""Names of columns of numbers that name the samples, such as sample_id, No. and Unnamed: 0."""
_POST = re.compile(r"(^|[\W_])(zip|zip ?codes?|post ?codes?|postal|plz)($|[\W_])", re.IGNORECASE)
"""Names of columns of postcodes."""
TOTAL = re.compile(
    r"(grand[ _])?(sub[ _-]?total|total|sum|mean|average|avg|median|std|sd|st\.? ?dev|std\.? ?dev|variance|"
    r"summe|gesamt|mittelwert|zwischensumme|standardabweichung|overall)s?\.?( \d+)?",
    re.IGNORECASE,
)
"""Names of rows that sum up the others."""


def suspicions(data: Dataset) -> tuple[Finding, ...]:
    """Return what the numbers and names of a data set give cause to suspect.

    Parameters
    ----------
    data : Dataset
        Of a file as it was read; images, word counts and covariances have nothing to suspect.
    """
    if data.is_covariance or data.kind in ("image", "words") or len(data.feature_names) > 200_000:
        return ()
    found = [*_constants(data)]
    if not sp.issparse(data.X):
        with np.errstate(all="ignore"):  # numbers near the largest float64
            found += [*_codes(data), *_columns(data), *_totals(data), *_alone(data)]
    _, why = genes_in_rows(data.X.shape[0], data.X.shape[1], data.sample_names, data.feature_names)
    if why and not any(one.option == "features_in_rows" for one in data.findings):
        found.append(
            suspicion(
                "The rows may be features, such as genes, and the columns samples",
                Way("features_in_rows", True, "Take the rows as features"),
                where="rows",
                why=why,
            )
        )
    return tuple(found)


def _constants(data: Dataset) -> Iterator[Finding]:
    constant = data.constant_columns()
    if 0 < constant.size < len(data.feature_names) - 1:
        names = quote_names(data.feature_names[j] for j in constant)
        one = constant.size == 1
        yield suspicion(
            f"{counted(constant.size, 'feature')} {'takes' if one else 'take'} one value only ({names})",
            Way("drop_constant", True, "Leave it out" if one else "Leave them out"),
            where="features",
            why="a constant has no variance to explain, and cannot be standardised",
        )


def _some_rows(X: np.ndarray) -> np.ndarray:
    """Return at most `LOOKED_AT` rows, evenly spread."""
    return X if len(X) <= LOOKED_AT else X[np.linspace(0, len(X) - 1, LOOKED_AT).astype(int)]


def _codes(data: Dataset) -> Iterator[Finding]:
    """Yield a finding about a value that is repeated and far from all others, such as -9999."""
    X: Any = data.X
    if X.dtype == np.uint8 or not X.size:
        return
    for side, extreme in ((min, X.min()), (max, X.max())):
        extreme = float(extreme)
        digits = f"{abs(extreme):g}"
        if digits.lstrip("9") not in ("", ".25") and (extreme != round(extreme) or abs(extreme) < 9):
            continue
        here = extreme == X
        count = int(here.sum())
        if not 2 <= count <= X.size // 2:
            continue
        inside = X[:, here.any(axis=0)]
        others = inside[inside != extreme]
        if not others.size:
            continue
        low, high = float(others.min()), float(others.max())
        gap = low - extreme if side is min else extreme - high
        nines = digits.lstrip("9") in ("", ".25") and gap > 0.5 * (high - low)
        if abs(extreme) < 99:  # only a negative number among counts and answers
            nines = nines and extreme < 0 <= low and bool((others == np.round(others)).all())
        if gap > FAR * (high - low) > 0 or nines:
            yield suspicion(
                f"The value {extreme:g} stands {count} times and is far from all others ({low:g} to "
                f"{high:g})",
                Way(
                    "missing_codes",
                    (int(extreme) if extreme == round(extreme) else extreme,),
                    f"{extreme:g} means a missing value",
                ),
                where=f"{counted(int(here.any(axis=0).sum()), 'feature')}",
                why="programs write such numbers for missing values",
            )


def _columns(data: Dataset) -> Iterator[Finding]:
    """Yield findings about features that look like row numbers, times, postcodes or classes."""
    X = _some_rows(data.X)
    if X.dtype.kind != "f" or len(X) < 5:
        return
    whole = (np.round(X) == X).all(axis=0)
    mixed = whole.mean() < 0.5
    has_names = not isinstance(data.feature_names, Numbered)
    suspects = np.flatnonzero(whole) if mixed else np.arange(X.shape[1])
    for j in suspects[:2000]:
        name, column = str(data.feature_names[j]), X[:, j]
        called = (has_names and name) or ""
        if not whole[j] or (not mixed and not called):
            continue
        different = np.unique(column)
        use = Way("id_column", name, "Use as names")
        aside = Way("drop_columns", (name,), "Leave it out")
        where = f'column "{short(name)}"'
        if _POST.search(called) and different.size > 2:
            yield suspicion(
                f"Feature “{short(name)}” looks like postcodes, which are no quantities",
                aside,
                use,
                where=where,
            )
        elif _is_time(column):
            yield suspicion(
                f"Feature “{short(name)}” looks like dates or times ({column[0]:.0f}, {column[1]:.0f}, ...)",
                aside, use, where=where, why="its numbers are dates as digits, or seconds since 1970",
            )  # fmt: skip
        elif (
            column.min() >= 0
            and (4 * different.size >= len(column) if ID.search(called) else different.size == len(column))
            and (ID.search(called) or (j == 0 and mixed and len(X) >= 8))
        ):
            kind = "distinct whole numbers" if different.size == len(column) else "whole numbers"
            yield suspicion(
                f"Feature “{short(name)}” holds {kind}, as row numbers and identifiers do",
                *((use, aside) if has_names else (Way("id_column", 0, "Use as names"),)),
                where=where,
            )
        elif (
            2 <= different.size <= min(FEW_CLASSES, len(column) // 3)
            and (LABELS.search(called) or (mixed and j in (0, X.shape[1] - 1)))
        ):  # fmt: skip
            listed = ", ".join(f"{value:g}" for value in different[:4]) + ", ..." * (different.size > 4)
            yield suspicion(
                f"Feature “{short(name)}” takes {different.size} whole values ({listed}), as class codes do",
                Way("label_column", name if has_names else int(j), "Use as labels"), aside, where=where,
            )  # fmt: skip
    if {"start", "end"} <= {str(name).lower() for name in data.feature_names}:
        yield suspicion(
            "Features “start” and “end” look like positions of genes or peaks, which are rows here",
            Way("features_in_rows", True, "Take the rows as features"),
            where="rows",
        )


def _is_time(column: np.ndarray) -> bool:
    """Tell whether whole numbers are dates such as 20240131, or seconds or milliseconds since 1970."""
    low, high = column.min(), column.max()
    if low >= 19000101 and high <= 21001231:
        months, days = column // 100 % 100, column % 100
        return bool(((months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)).all())
    rising = bool((np.diff(column) >= 0).all() or (np.diff(column) <= 0).all())
    return rising and (9e8 <= low <= high <= 2.2e9 or 9e11 <= low <= high <= 2.2e12)


def _totals(data: Dataset) -> Iterator[Finding]:
    """Yield a finding about a last or first row, and about a column, that sums up or averages the others."""
    X: Any = data.X
    names = [] if isinstance(data.sample_names, Numbered) else [str(one) for one in data.sample_names]
    summaries = [name for name in names if TOTAL.fullmatch(name.strip())]
    if 0 < len(summaries) <= len(names) // 4:
        one = len(summaries) == 1
        yield suspicion(
            f"{'Row' if one else 'Rows'} {quote_names(summaries)} may sum up others",
            Way("drop_rows", tuple(summaries), "Leave this row out" if one else "Leave these rows out"),
            where="rows",
            why="of the name" if one else "of the names",
        )
    elif len(X) >= 4 and len(X) <= 10**6:
        whole = X.sum(axis=0, dtype=float)
        for i, place in ((len(X) - 1, "last"), (0, "first")):
            row = X[i].astype(float)
            sums = (("sum", whole - row), ("mean", (whole - row) / (len(X) - 1)))
            what = next((what for what, value in sums if _agrees(row, value)), None)
            if what is None:
                continue
            name = str(data.sample_names[i])
            yield suspicion(
                f"The {place} row (“{short(name)}”) is the {what} of the others",
                Way("drop_rows", (i if isinstance(data.sample_names, Numbered) else name,),
                    "Leave this row out"),
                where=f"row {i + 1}",
            )  # fmt: skip
            break
    if X.shape[1] >= 4 and not isinstance(data.feature_names, Numbered):
        some = _some_rows(X).astype(float)
        for j in (X.shape[1] - 1, 0):
            others = some.sum(axis=1) - some[:, j]
            for what, value in (("sum", others), ("mean", others / (X.shape[1] - 1))):
                if _agrees(some[:, j], value):
                    name = str(data.feature_names[j])
                    yield suspicion(
                        f"Feature “{short(name)}” is the {what} of all others",
                        Way("drop_columns", (name,), "Leave it out"),
                        where=f'column "{short(name)}"',
                    )
                    return


def _agrees(row: np.ndarray, value: np.ndarray) -> bool:
    """Tell whether two rows are equal up to rounding to a few digits, and not trivially."""
    scale = float(np.abs(row).max())
    if scale == 0 or np.unique(row).size < 3:
        return False
    return bool((np.abs(row - value) <= 2e-3 * np.abs(value) + 1e-6 * scale).mean() >= 0.9)


def _alone(data: Dataset) -> Iterator[Finding]:
    """Yield a finding about a feature that alone carries nearly all variance."""
    X = _some_rows(data.X).astype(float)
    if X.shape[1] < 3:
        return
    with np.errstate(over="ignore", invalid="ignore"):
        variances = X.var(axis=0)
        total = variances.sum()
    if not 0 < total < np.inf:
        return
    j = int(variances.argmax())
    if variances[j] > ALONE * total:
        name = str(data.feature_names[j])
        item: str | int = j if isinstance(data.feature_names, Numbered) else name
        yield suspicion(
            f"Feature “{short(name)}” alone carries {100 * variances[j] / total:.1f} % of the variance",
            Way("drop_columns", (item,), "Leave it out"),
            where=f'column "{short(name)}"',
            why="it has far larger numbers than the others, so standardise the features or leave it out",
        )


def is_counter(cells: Sequence[str]) -> bool:
    """Tell whether cells are whole numbers that rise by one from row to row."""
    if len(cells) < 3 or not all(cell.isdecimal() and len(cell) < 16 for cell in cells):
        return False
    return all(int(b) - int(a) == 1 for a, b in pairwise(cells))


def genes_in_rows(
    rows: int, columns: int, row_names: Sequence[str], column_names: Sequence[str]
) -> tuple[bool, str]:
    """Return whether the rows of a table are surely features, such as genes, and why they may be.

    Parameters
    ----------
    rows, columns : int
        Numbers of rows and of columns with numbers.
    row_names, column_names : sequences of str
        Names of the first rows, and of the columns.

    Returns
    -------
    sure : bool
    why : str
        The evidence; empty when there is none.
    """
    if rows <= columns or not row_names:
        return False, ""
    if are_genes(row_names) and not are_genes(column_names):
        return True, (
            f'names of rows such as "{short(row_names[0])}" look like genes or probes; this gives '
            f"{columns:,} samples and {rows:,} features"
        )
    if (
        rows >= _MANY_TIMES * columns
        and tuple(row_names[:2]) != tuple(numbered("sample", 2))
        and _are_numbered(column_names)
    ):
        return False, (
            f'there are far more rows than columns, with names of columns such as "{short(column_names[0])}"'
        )
    return False, ""


def are_genes(names: Sequence[str]) -> bool:
    """Return whether at least 80 % of the first 200 names look like probes or gene symbols.

    A quarter of the symbols must have a digit, since headings in capitals seldom have one.
    """
    looked_at = list(names[:200])
    probes = sum(bool(_PROBE.search(name)) for name in looked_at)
    symbols = [name for name in looked_at if _SYMBOL.match(name)]
    stems = {name.rstrip("-0123456789") for name in symbols}
    with_digit = sum(any(letter.isdigit() for letter in name) for name in symbols)
    if len(stems) <= len(symbols) / 3 or with_digit < len(symbols) / 4:
        symbols = []
    return bool(looked_at) and max(probes, len(symbols)) >= 0.8 * len(looked_at)


def _are_numbered(names: Sequence[str]) -> bool:
    """Return whether names are numbered, such as S1, S2, ..., but not by nspca as "feature 1"."""
    stems = {name.rstrip("0123456789") for name in names}
    return len(stems) <= max(1, len(names) // 10) and stems != {"feature "}


def covariance_suggestion(X: np.ndarray) -> tuple[bool, str]:
    """Return whether a table looks like a covariance or correlation matrix, and why.

    Such a matrix is symmetric, and no entry is larger than its two diagonal entries allow.

    Returns
    -------
    suggested : bool
    sentence : str
        Reason; empty without a suggestion.
    """
    m, n = X.shape
    if m != n or n > _COMPARED or sp.issparse(X):
        return False, ""
    A = np.asarray(X, dtype=np.float64)
    size = np.abs(A)
    diagonal = np.diag(A)
    if not size.any() or np.abs(A - A.T).max() > ROUNDING * size.max() or diagonal.min() < 0:
        return False, ""
    # Every covariance has |a_ij|^2 <= a_ii a_jj. A table of distances fails this, with zeros on its diagonal.
    if (size > np.sqrt(np.outer(diagonal, diagonal)) * (1 + ROUNDING)).any():
        return False, ""
    what = "a correlation matrix" if (diagonal == 1).all() else "a covariance matrix"
    return True, f"This table is square and symmetric, {n} × {n}: it looks like {what} rather than samples."


def scaling_suggestion(deviations: np.ndarray) -> str:
    """Return why a table of measurements should perhaps be standardised; empty when the scales are similar.

    Parameters
    ----------
    deviations : (n,) float64
        Standard deviations of the features. Zeros are ignored.

    Returns
    -------
    sentence : str
        The spread of the deviations, and what standardising changes.
    """
    known = deviations[deviations > 0]
    if known.size < 2:
        return ""
    low, high = np.quantile(known, (_TAIL, 1 - _TAIL))
    if high < _UNLIKE * low:
        return ""
    return (
        "The features have different scales: most standard deviations lie between "
        f"{_rounded(low)} and {_rounded(high)}. As they are, the features with large numbers "
        "decide. Standardised, every feature counts alike."
    )


def _rounded(value: float) -> str:
    """Return a number with three digits, such as ``2,180``."""
    return f"{float(f'{value:.3g}'):,g}"
