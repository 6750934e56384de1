"""Tables whose columns are the points of an axis, such as wavelengths: their rows are read as spectra."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from nspca.data.dataset import Dataset
from nspca.data.findings import Finding
from nspca.data.names import quote_names, short
from nspca.data.suspicions import are_genes
from nspca.errors import InvalidData, Way

MOST_OTHERS = 3
"""Columns beside those of an axis, such as a moisture, that are left out."""
LEAST_POINTS = 20
"""Columns from which a table may be one of spectra."""
LOOKED_AT = 500
"""Rows that are looked at, spread over the table."""
ROUGH = 0.2
"""Roughness below which rows are spectra; numbers in no order have 1 (the ratio of von Neumann, halved)."""
YEARS = 1800, 2100
"""Range of whole numbers in steps of 1 that are years."""
_NAME = re.compile(r"(?P<before>[^\d.+-]*)(?P<number>[+-]?\d+(\.\d*)?|[+-]?\.\d+)(?P<after>\D*)")
"""A number, and what is the same in all names, such as a unit."""


def as_spectra(data: Dataset, wanted: bool | None) -> Dataset:
    """Return a table with the numbers in the names of its columns as an axis, where its rows are spectra.

    They are where `wanted`. Where it is None, they are if the numbers are in order, are neither years nor
    counted from 0 or 1 nor those of genes, and the rows rise and fall slowly. A few other columns are left
    out.
    """
    if wanted is False or data.kind != "table" or data.is_covariance or data.axis is not None:
        return data
    found = _axis(data)
    if found is None:
        if wanted is None:
            return data
        raise InvalidData(
            "The rows of a table of spectra are drawn over the numbers in the names of its columns, but here "
            f"these are no numbers that rise or fall: the first is “{short(data.feature_names[0])}”; leave "
            "the option out, or give the columns such names."
        )
    axis, unit, out = found
    if wanted is None and not _is_scale(axis):
        return data
    spectra = data.without(out) if out else data
    if wanted is None and (_are_accessions(spectra) or not _are_smooth(spectra)):
        return data
    names = quote_names(data.feature_names[j] for j in out)
    way = Way("spectra", False, "It is a table")
    why = "" if wanted else "the names of the columns are numbers in order, and the rows rise and fall slowly"
    left = f"; {names} {'is' if len(out) == 1 else 'are'} no part of them and left out" if out else ""
    said = Finding(f"The rows were read as spectra{left}", "columns", why, (way,))
    return replace(spectra, kind="spectrum", axis=axis, axis_name=unit, findings=(*data.findings, said))


def _axis(data: Dataset) -> tuple[np.ndarray, str, list[int]] | None:
    """Return the numbers in the names of the columns, what else all of them say, and the other columns; None
    without numbers in order.
    """
    found = [_NAME.fullmatch(name.strip()) for name in data.feature_names]
    around = Counter((one["before"], one["after"]) for one in found if one is not None)
    usual = around.most_common(1)[0][0] if around else None
    of_axis = [j for j, one in enumerate(found) if one is not None and (one["before"], one["after"]) == usual]
    if usual is None or len(found) - len(of_axis) > MOST_OTHERS:
        return None
    axis = np.array([float(one["number"]) for j in of_axis if (one := found[j]) is not None])
    steps = np.diff(axis)
    if not (np.all(steps > 0) or np.all(steps < 0)):
        return None
    unit = " ".join(part.strip(" _()[]") for part in usual).strip()
    return axis, unit, sorted({*range(len(found))} - {*of_axis})


def _is_scale(axis: np.ndarray) -> bool:
    """Tell whether numbers are many, and neither years nor counted from 0 or 1."""
    is_counted = bool(np.all(np.abs(np.diff(axis)) == 1))
    is_year = YEARS[0] <= axis.min() and axis.max() <= YEARS[1]
    return axis.size >= LEAST_POINTS and not (is_counted and (is_year or axis.min() in (0, 1)))


def _are_accessions(data: Dataset) -> bool:
    """Tell whether the numbers are those of genes or proteins, such as ENSG00000000003 or of Entrez."""
    turned = [one.why for one in data.findings if one.where == "rows" and not one.is_suspicion and one.why]
    are_masses = any(re.search(r'called "m\W?z"', why, re.IGNORECASE) for why in turned)
    return are_genes(data.feature_names) or (bool(turned) and not are_masses)


def _are_smooth(data: Dataset) -> bool:
    """Tell whether the median row rises and falls slowly from column to column."""
    if sp.issparse(data.X):
        return False
    X = np.asarray(data.X[:: max(1, len(data.X) // LOOKED_AT)], dtype=np.float64)
    with np.errstate(all="ignore"):  # numbers near the largest float64, and rows of one value
        apart = X - X.mean(axis=1, keepdims=True)
        rough = np.square(np.diff(X)).sum(axis=1) / (2 * np.square(apart).sum(axis=1))
    return bool(np.median(rough) < ROUGH)
