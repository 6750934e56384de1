"""Tables whose columns are the points of an axis, such as wavelengths: their rows are read as spectra."""

import re
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.data.dataset import Dataset
from nspca.data.findings import Finding
from nspca.data.names import quote_names, short
from nspca.data.suspicions import FEW_CLASSES, are_genes, some_rows
from nspca.errors import InvalidData, Way

MOST_OTHERS = 3
"""Columns beside those of an axis, such as a moisture, that are left out."""
LEAST_POINTS = 20
"""Columns from which a table may be one of spectra."""
ROUGH = 0.2
"""Roughness below which rows are spectra; numbers in no order have 1 (the ratio of von Neumann, halved)."""
YEARS = 1800, 2100
"""Range of whole numbers that are years, also as the first digits of a month or a day."""
_NAME = re.compile(
    r"(?P<before>\D*?)(?P<number>((?<!\w)[+-])?(\d+(\.\d*)?|(?<!\w)\.\d+))(?P<after>\D*(cm-1\D*)?)"
)
"""A number, and what is the same in all names, such as a unit. Behind a word a mark is no sign: ch-1."""


def as_spectra(data: Dataset, wanted: bool | None) -> Dataset:
    """Return a table with the numbers in the names of its columns as an axis, where its rows are spectra.

    They are where `wanted`. Where it is None, they are if the numbers are in order, are neither years nor
    counted from 0 or 1 nor those of genes, and the rows rise and fall slowly. A few other columns are left
    out.
    """
    if wanted is False or data.kind != "table" or data.is_covariance or data.axis is not None:
        return data
    try:
        axis, unit, out = _axis(data)
    except InvalidData:
        if wanted:
            raise
        return data
    if wanted is None and not _is_scale(axis):
        return data
    spectra = data.without(out) if out else data
    if wanted is None and (_are_accessions(spectra) or not _are_smooth(spectra)):
        return data
    names = quote_names(data.feature_names[j] for j in out)
    groups = [str(data.feature_names[j]) for j in out if _are_codes(data.X[:, [j]])]
    labels = [Way("label_column", name, f"Use “{short(name)}” as labels") for name in groups]
    ways = (Way("spectra", False, "It is a table"), *labels)
    why = "" if wanted else "the names of the columns are numbers in order, and the rows rise and fall slowly"
    left = f"; {names} {'is' if len(out) == 1 else 'are'} no part of them and left out" if out else ""
    said = Finding(f"The rows were read as spectra{left}", "columns", why, ways)
    return replace(spectra, kind="spectrum", axis=axis, axis_name=unit, findings=(*data.findings, said))


def _axis(data: Dataset) -> tuple[np.ndarray, str, list[int]]:
    """Return the numbers in the names of the columns, what else all of them say, and the other columns.

    Raises
    ------
    InvalidData
        Where most names are not alike, or their numbers neither rise nor fall.
    """
    found = [_NAME.fullmatch(name.strip()) for name in data.feature_names]
    around = Counter((one["before"], one["after"]) for one in found if one is not None)
    usual = max(around, key=lambda words: around[words], default=None)
    of_axis = [j for j, one in enumerate(found) if one is not None and (one["before"], one["after"]) == usual]
    out = sorted({*range(len(found))} - {*of_axis})
    axis = np.array([float(one["number"]) for j in of_axis if (one := found[j]) is not None])
    steps = np.diff(axis)
    cause = "" if np.all(steps > 0) or np.all(steps < 0) else "some are out of order"
    if usual is None or len(out) > MOST_OTHERS:
        others = quote_names((data.feature_names[j] for j in out), 2)
        cause = f"{len(out)} columns have other names ({others})"
    if usual is None or cause:
        raise InvalidData(
            "The rows of a table of spectra are drawn over the numbers in the names of its columns, but here "
            f"these are no numbers that rise or fall, since {cause}: leave the option out, or give the "
            "columns such names."
        )
    unit = " ".join(part.strip(" _.-()[]") for part in usual).strip()
    return axis, unit, out


def _is_scale(axis: np.ndarray) -> bool:
    """Tell whether numbers are many, and neither years nor counted from 0 or 1."""
    if axis.size < LEAST_POINTS:
        return False
    is_whole = bool(np.all(axis % 1 == 0))
    is_counted = np.median(np.abs(np.diff(axis))) == 1 and axis.min() in (0, 1)
    years = [axis // place for place in (1, 100, 10_000)]
    are_years = any(YEARS[0] <= one.min() and one.max() <= YEARS[1] for one in years)
    return not (is_whole and (is_counted or are_years))


def _are_codes(column: Any) -> bool:
    """Tell whether a column (m, 1) has few whole values, as codes of classes are."""
    values = np.unique(column.toarray() if sp.issparse(column) else column)
    return 2 <= values.size <= FEW_CLASSES and bool(np.all(values % 1 == 0))


def _are_accessions(data: Dataset) -> bool:
    """Tell whether the numbers are those of genes or proteins, such as ENSG00000000003 or of Entrez."""
    turned = [one.why for one in data.findings if one.where == "rows" and not one.is_suspicion and one.why]
    are_masses = any(re.search(r'called "m\W?z"', why, re.IGNORECASE) for why in turned)
    return are_genes(data.feature_names) or (bool(turned) and not are_masses)


def _are_smooth(data: Dataset) -> bool:
    """Tell whether the median row rises and falls slowly from column to column."""
    if sp.issparse(data.X):
        return False
    X = some_rows(data.X).astype(np.float64)
    with np.errstate(all="ignore"):  # numbers near the largest float64, and rows of one value
        apart = X - X.mean(axis=1, keepdims=True)
        rough = np.square(np.diff(X)).sum(axis=1) / (2 * np.square(apart).sum(axis=1))
    return bool(np.median(np.nan_to_num(rough, nan=1)) < ROUGH)
