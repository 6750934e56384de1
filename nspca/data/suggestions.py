"""Suggest how to read a table: features in rows, a covariance matrix, or standardised.

Pages and the command line show a suggestion. None is applied unless the user agrees.
"""

import re
from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from nspca.data.dataset import ROUNDING
from nspca.data.names import numbered

# Names of probe sets and accession numbers. Gene symbols such as TP53 have a pattern of their own, because
# sample names S1, S2, ... look similar.
_PROBE = re.compile(
    r"_[a-z]?_?[as]t$|_at$|^AFFX|^ENS[A-Z]*[GTP]\d{6,}|^[NX][MR]_\d+|^ILMN_\d+|^cg\d{6,}|^(probe|gene)[ "
    r"_-]?\d+$"
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


def features_in_rows_suggestion(
    X: np.ndarray, sample_names: Sequence[str] = (), feature_names: Sequence[str] = ()
) -> tuple[bool, str]:
    """Return whether the rows of a table look like features (genes) rather than samples, and why.

    Parameters
    ----------
    X : (m, n) array or sparse matrix, only its shape is used
    sample_names, feature_names : sequences of str
        Names of the rows and of the columns, as they were read.

    Returns
    -------
    suggested : bool
    sentence : str
        Reason, and the shape of the transposed table; empty without a suggestion.
    """
    m, n = X.shape
    if m <= n:
        return False, ""
    if are_genes(sample_names) and not are_genes(feature_names):
        reason = f'Row names such as "{sample_names[0]}" look like genes or probes'
    elif (
        m >= _MANY_TIMES * n
        and tuple(sample_names[:2]) not in ((), numbered("sample", 2))
        and _are_numbered(feature_names)
    ):
        reason = f'There are far more rows than columns, with column names such as "{feature_names[0]}"'
    else:
        return False, ""
    return True, f"{reason}: with features in rows, the table has {n:,} samples and {m:,} features."


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
