"""What tables of numbers give cause to suspect: codes, totals, genes in rows, a covariance, other scales.

`suspicions` returns findings about a `Dataset` of any format. Nothing is changed: each finding names the
option that acts on it.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import Any

import numpy as np
import scipy.sparse as sp

from nspca.data.dataset import ROUNDING, Dataset
from nspca.data.findings import Finding, suspicion
from nspca.data.names import Numbered, quote_names, short
from nspca.errors import Way
from nspca.presentation.phrases import things

# Names of probe sets and accession numbers. Gene symbols such as TP53 have a pattern of their own, because
# sample names S1, S2, ... look similar.
_PROTEIN = re.compile(
    r"^[OPQ]\d[A-Z0-9]{3}\d(-\d+)?([;|].*)?$|^[A-NR-Z]\d([A-Z][A-Z0-9]{2}\d){1,2}(-\d+)?([;|].*)?$|^(sp|tr)\|"
)
"""Accessions of UniProt."""
_PROBE = re.compile(
    r"^(hsa|mmu|rno)-(mir|miR|let)-|^chr[\dXYM]+[:_-]\d+|^(OTU|ASV)[_ ]?\d+$|^[ACGT]{20,}$"
    r"|_[a-z]?_?[as]t$|_at$|^AFFX|^ENS[A-Z]*[GTP]\d{6,}|^[NX][MR]_\d+|^ILMN_\d+|^cg\d{6,}|^(FBgn|WBGene)\d+$"
    r"|^(?i:probe|gene)[ _-]?\d+$|" + _PROTEIN.pattern
)
_SYMBOL = re.compile(r"^[A-Z]{2,}[A-Z0-9-]{1,10}$")
_MONTH_GENE = re.compile(
    r"\d{1,2}-(Sep|Mar|Dec|Oct|Feb|Apr|Nov)|(Sep|Mar|Dec)-\d{1,2}|\d{4}-\d\d-\d\d", re.IGNORECASE
)
"""Dates that spreadsheets make of symbols such as SEPT1 and MARCH2, as they show or store them."""
_SAMPLE = re.compile(
    r"(s|samples?|ctrl|ctl|control|trt|treat[a-z]*|wt|ko|mut(ant)?|tumou?r|normal|case|patient|donor"
    r"|gsm|srr|err|tcga)[\W_]*\d.*|tcga-\w\w-\w{4}.*",
    re.IGNORECASE,
)
"""Numbered names that samples have, such as S1, control_2 and GSM100."""
_BARCODE = re.compile(r"tcga-\w\w-\w{4}.*|gsm\d{3,}|[sed]rr\d{5,}", re.IGNORECASE)
"""Names that public archives give to samples, and to nothing else."""
# Ratio of rows to columns from which rows may be features. Ordinary data reach a ratio of 28: digits are
# 1797 x 64, faces 2429 x 361.
_MANY_TIMES = 50
# Maximum side of a square table that is compared with its transpose, which takes a tenth of a second. The
# user must declare a larger covariance matrix.
_COMPARED = 4000
_TAIL, _UNLIKE, _MOST = 0.1, 5.0, 0.5
"""Features have different scales when the standard deviations at the quantiles _TAIL and 1 - _TAIL differ at
least by the factor _UNLIKE, or when one that differs so from their median has more than the share _MOST of
the variance.
"""
LOOKED_AT = 2000
"""Maximum rows that are searched for codes, times and classes; evenly spread over the table."""
WORDS = 3
"""Words of a name from which it is a sentence, such as a question of a survey."""
FEW_CLASSES = 12
"""Maximum different whole numbers of a column that looks like class codes."""
ALONE = 0.95
"""Share of the variance from which one feature alone decides every component."""
FAR = 5.0
"""A repeated value is a code when it lies this many ranges of all other values away from them."""
LABELS = re.compile(
    r"(^|[\W_])(class(es)?|labels?|target|groups?|diagnosis|type|y|species|category|cluster|outcome|grade|status|"
    r"sex|gender|pheno(type)?|batch|plate|block|treatments?|conditions?|replicate|rep|cohort|arm|site|race)"
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
AXIS = r"wave_?length|wave_?number|nm|cm-1|raman[ _]?shift"
ORDER = re.compile(
    rf"years([\W_].*)?|(?!age)([^(\[]*(?<=[\W_]))?(year|(date|time|time_?stamp|jahr|datum|zeit|{AXIS})s?)"
    r"([\W_].*)?",
    re.IGNORECASE,
)
"""Names of columns that name the samples when their numbers rise or fall.

Behind another word, as in age_years and "follow-up (years)", years are a unit.
"""
_POST = re.compile(r"(^|[\W_])(zip|zip ?codes?|post ?codes?|postal|plz)($|[\W_])", re.IGNORECASE)
"""Names of columns of postcodes."""
TOTAL = re.compile(
    r"(grand[ _]|.* |sub[ _-]?)?(sub)?total( \w+){0,3}( \(\d+\))?"
    r"|(sum|mean|average|avg|median|std|sd|st\.? ?dev|std\.? ?dev"
    r"|variance|summe|gesamt|mittelwert|zwischensumme|standardabweichung|std\.?[ -]?abw|overall)s?\.?( \d+)?",
    re.IGNORECASE,
)
"""Names of rows that sum up the others."""


def suspicions(data: Dataset) -> tuple[Finding, ...]:
    """Return what numbers and names give cause to suspect; nothing of images, words and covariances."""
    if data.is_covariance or data.kind in ("image", "words") or len(data.feature_names) > 200_000:
        return ()
    found = [*_constants(data), *_strange_names(data)]
    if not sp.issparse(data.X):
        with np.errstate(all="ignore"):  # numbers near the largest float64
            found += [*_codes(data), *_columns(data), *_totals(data), *_alone(data)]
    m, n = data.X.shape
    _, why = genes_in_rows(m, n, data.sample_names, data.feature_names)
    if {"start", "end"} <= {str(name).lower() for name in data.feature_names[:20]}:
        why = why or "features are called “start” and “end”, as positions of genes and peaks are"
    if why and not any(one.option == "features_in_rows" for one in data.findings):
        found.append(may_be_turned(why))
    return tuple(found)


def may_be_turned(why: str) -> Finding:
    """Return the suspicion that the rows of a table are features, since `why`."""
    way = Way("features_in_rows", True, "Take the rows as features")
    return suspicion("The rows may be features, and the columns samples", way, where="rows", why=why)


def _about(data: Dataset, j: int, what: str, *options: str, why: str = "") -> Finding:
    """Return a suspicion about feature j, with the options of `_USES` that act on it, and to leave it out."""
    name = str(data.feature_names[j])
    item: str | int = int(j) if isinstance(data.feature_names, Numbered) else name
    aside = _without(data, [item])
    uses = [Way(option, item, _USES[option]) for option in options if aside.option == "drop_columns"]
    ways = [*uses, aside]
    return suspicion(f"Feature “{short(name)}” {what}", *ways, where=f'column "{short(name)}"', why=why)


def _without(data: Dataset, features: Sequence[str | int]) -> Way:
    """Return the way to leave out features, which are rows of the file where the table was turned."""
    is_turned = any(one.where == "rows" and not one.is_suspicion for one in data.findings)
    words = "Leave it out" if len(features) == 1 else "Leave them out"
    return Way("drop_rows" if is_turned else "drop_columns", tuple(features), words)


_USES = {"id_column": "Use as names", "label_column": "Use as labels"}


def _constants(data: Dataset) -> Iterator[Finding]:
    constant = data.constant_columns()
    if 0 < constant.size < len(data.feature_names) - 1:
        names = quote_names(data.feature_names[j] for j in constant)
        many = things(constant.size, "feature") + (" takes" if constant.size == 1 else " take")
        way = Way("drop_constant", True, "Leave out what never varies")
        yield suspicion(f"{many} one value only ({names})", way, where="features")


def _strange_names(data: Dataset) -> Iterator[Finding]:
    """Yield findings about names among genes: a first one such as an age, and dates made of symbols."""
    names = [str(name) for name in data.feature_names[:200]]
    dates = [name for name in map(str, data.feature_names) if _MONTH_GENE.fullmatch(name)]
    if dates and are_genes([name for name in names if name not in dates]):
        yield suspicion(
            f"{quote_names(dates)} {'was' if len(dates) == 1 else 'were'} probably a gene such as SEPT1",
            _without(data, dates),
            where="features",
            why="spreadsheets change such symbols into dates",
        )
    first = [*takewhile(lambda name: not _PROBE.search(name), names[:11])]
    are_probes = all(map(_PROBE.search, names[len(first) :])) and not any(map(_SYMBOL.match, first))
    if 0 < len(first) < min(11, len(names) / 4) and are_probes:
        yield suspicion(
            f"{quote_names(first)} {'is' if len(first) == 1 else 'are'} called unlike the features below",
            _without(data, first),
            where="features",
            why="those are genes or probes",
        )


def some_rows(X: np.ndarray) -> np.ndarray:
    """Return at most `LOOKED_AT` rows, evenly spread."""
    return X if len(X) <= LOOKED_AT else X[np.linspace(0, len(X) - 1, LOOKED_AT).astype(int)]


def _codes(data: Dataset) -> Iterator[Finding]:
    """Yield a finding about repeated values apart from all others, such as -9999, or 88 and 99."""
    X: Any = data.X
    if X.dtype == np.uint8 or not X.size or any(one.option == "missing_codes" for one in data.findings):
        return
    ends, times = np.unique([X.min(axis=0), X.max(axis=0)], return_counts=True)
    shared = [one for one in ends[times > 1] if _is_nines(one)]  # of several columns, beside a larger one
    for extreme in map(float, dict.fromkeys((X.min(), X.max(), *shared))):
        size = f"{abs(extreme):g}"
        if extreme % 1 and not _is_nines(extreme):
            continue
        codes = [extreme]
        if size in ("88", "99", "888", "999"):  # answers have several codes, such as 77, 88 and 99
            codes = [one for one in (extreme - extreme / int(size[0]) * k for k in range(4)) if one in X]
        here = np.logical_or.reduce([one == X for one in codes])
        count = int(here.sum())
        inside = X[:, here.any(axis=0)]
        others = inside[~np.isin(inside, codes)]
        if 2 <= count <= X.size // 2 and others.size and _is_code(extreme, codes, others):
            low, high = float(others.min()), float(others.max())
            plain = tuple(int(one) if one == round(one) else one for one in sorted(codes))
            many = " and ".join(f"{one:g}" for one in plain)
            value = f"The value {many} stands" if len(plain) == 1 else f"The values {many} stand"
            means = f"{many} mean{'s' if len(plain) == 1 else ''} a missing value"
            yield suspicion(
                f"{value} {count} times, far from all others ({low:g} to {high:g}), as programs write "
                "missing values: the answer will be about these numbers",
                Way("missing_codes", plain, means),
                where=things(int(here.any(axis=0).sum()), "feature"),
            )


def _is_nines(value: float) -> bool:
    """Tell whether a number is written with nines alone, such as -9999 and 999.9, or as 9.25 and the like."""
    return f"{abs(value):g}".strip("9") in ("", ".", ".25")


def _is_code(extreme: float, codes: Sequence[float], others: np.ndarray) -> bool:
    """Tell whether a smallest or largest value is a code for a missing value, from the `others` beside it."""
    low, high = float(others.min()), float(others.max())
    spread, size = high - low, abs(extreme)
    gap = min(low - one if extreme < low else one - high for one in codes)  # below 0 for one among them
    are_nines = _is_nines(size) or len(codes) > 1
    if extreme == 0:  # a weight of nothing
        return low > 9 and gap > spread > 0
    if size >= 9 and extreme == round(extreme) and gap > FAR * spread > 0:
        return True
    if size >= 77 or extreme % 1:
        return are_nines and gap > spread / 2
    if not bool((others == np.round(others)).all()):
        return False
    if extreme < 0:  # the only negative number among counts and answers
        return low >= 0 and (size in (8, 9) or (size == 1 and high > 4))
    return extreme == 9 and low >= 1 and 3 <= high <= 6  # among answers; counts begin with 0


def _columns(data: Dataset) -> Iterator[Finding]:
    """Yield findings about features that look like row numbers, times, postcodes or classes."""
    X = some_rows(data.X)
    if X.dtype.kind != "f" or len(X) < 5:
        return
    m, n = X.shape
    whole = (np.round(X) == X).all(axis=0)
    mixed = whole.mean() < 0.5
    has_names = not isinstance(data.feature_names, Numbered)
    close = (X.min(axis=0) >= 1000) & (np.ptp(X, axis=0) < 0.1 * X.min(axis=0))
    for j in range(min(n, 2000)) if mixed or has_names else (0, n - 1):
        column, called = X[:, j], str(data.feature_names[j]) if has_names else ""
        steps = np.diff(column)
        is_even = j == 0 and not whole[j] and steps[0] != 0 and np.allclose(steps, steps[0], 1e-6, 0)
        if is_even or (ORDER.fullmatch(called) and bool((steps > 0).all() or (steps < 0).all())):
            yield _about(data, j, "rises or falls from row to row, as times do", "id_column")
            continue
        if not whole[j]:
            continue
        values = np.unique(column)
        is_id = bool(ID.search(called))
        repeats = values.size < m
        listed = ", ".join(f"{value:g}" for value in values[:4]) + ", ..." * (values.size > 4)
        is_year = bool(ORDER.fullmatch(called)) and (column.min() >= 1800) and (column.max() <= 2100)
        if is_year or (_POST.search(called) and values.size > 2):
            what = "holds years" if is_year else "looks like postcodes"
            yield _about(data, j, f"{what}, which are no quantities", "id_column")
        elif _is_time(column):
            why = "its numbers are dates as digits, or seconds since 1970"
            what = f"looks like dates or times ({column[0]:.0f}, {column[1]:.0f}, ...)"
            yield _about(data, j, what, "id_column", why=why)
        elif column.min() >= 0 and (
            (is_id and 4 * values.size >= m)
            or (
                not repeats
                and j == 0
                and m >= 8
                and (mixed or (steps == 1).all() or (close[0] and not close[1:].any()))
            )
        ):
            kind = "whole numbers" if repeats else "distinct whole numbers"
            yield _about(data, j, f"holds {kind}, as row numbers and identifiers do", "id_column")
        elif 2 <= values.size <= min(FEW_CLASSES, m // 3) and (
            (LABELS.search(called) and len(called.split()) <= WORDS)
            or (j in (0, n - 1) and (mixed or (values[-1] < values.size + 1 and X.max() >= 10 * values.size)))
        ):
            what = f"takes {values.size} whole values ({listed}), as class codes do"
            yield _about(data, j, what, "label_column")


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
    are_numbered = isinstance(data.sample_names, Numbered)
    names = [] if are_numbered else [str(one) for one in data.sample_names]
    summaries = [name for name in names if TOTAL.fullmatch(name.strip())]
    found: list[tuple[int, str]] = []
    if 4 <= len(X) <= 10**6:
        whole = X.sum(axis=0, dtype=float)
        found = [(i, summary_of(X[i].astype(float), whole, len(X))) for i in (-1, 0)]
        found = [(i, what) for i, what in found if what][:1]
    for i, what in found if len(summaries) < 2 else ():
        name, place = str(data.sample_names[i]), "last" if i else "first"
        way = Way("drop_rows", (i % len(X) if are_numbered else name,), "Leave this row out")
        what = f"The {place} row, “{short(name)}”, is the {what} of the others"
        yield suspicion(what, way, where=f"row {i % len(X) + 1}")
        summaries = [one for one in summaries if one != name]
    if 0 < len(summaries) <= len(names) // 2:
        words = "Leave this row out" if len(summaries) == 1 else "Leave these rows out"
        yield suspicion(
            f"Names such as {quote_names(summaries)} are those of totals or means of the other rows",
            Way("drop_rows", tuple(summaries), words),
            where="rows",
        )
    if X.shape[1] >= 4 and not isinstance(data.feature_names, Numbered):
        some = some_rows(X).astype(float)
        sums, n = some.sum(axis=1), X.shape[1]
        for j, what in [(j, summary_of(some[:, j], sums, n)) for j in (n - 1, 0)]:
            if what:
                yield _about(data, j, f"is the {what} of all others")
                return


def summary_of(row: np.ndarray, whole: np.ndarray, count: int) -> str:
    """Return "sum" or "mean" for a row that is one of the others, up to rounding to a few digits, else "".

    `whole` is the sum of all `count` rows.
    """
    if not row.any() or np.unique(row).size < 3:
        return ""
    scale = float(np.median(np.abs(row[row != 0])))  # one large column tells nothing of the others
    for what, value in (("sum", whole - row), ("mean", (whole - row) / (count - 1))):
        if (np.abs(row - value) <= 2e-3 * np.abs(value) + 1e-6 * scale).mean() >= 0.9:
            return what
    return ""


def _alone(data: Dataset) -> Iterator[Finding]:
    """Yield a finding about a feature that alone carries nearly all variance."""
    variances = some_rows(data.X).astype(float).var(axis=0)
    total, j = variances.sum(), int(variances.argmax())
    if variances.size >= 3 and 0 < total < np.inf and variances[j] > ALONE * total:
        why = "it has far larger numbers than the others, so standardise the features or leave it out"
        what = f"alone carries {100 * variances[j] / total:.1f} % of the variance"
        yield _about(data, j, what, why=why)


def is_counter(cells: Sequence[str]) -> bool:
    """Tell whether cells are whole numbers that rise from 0 or 1 by one from row to row."""
    if (
        len(cells) < 3
        or cells[0] not in ("0", "1")
        or not all(cell.isdecimal() and len(cell) < 16 for cell in cells)
    ):
        return False
    return all(int(b) - int(a) == 1 for a, b in pairwise(cells))


def genes_in_rows(
    rows: int, columns: int, row_names: Sequence[str], column_names: Sequence[str]
) -> tuple[bool, str]:
    """Return whether the rows of a table are surely features, such as genes, and the evidence for it.

    `rows` and `columns` are counts; the names are those of the first rows, and of the columns.
    """
    if not row_names:
        return False, ""
    are_barcodes = all(map(_BARCODE.match, column_names)) and not any(map(_BARCODE.match, row_names))
    if are_genes(row_names) and not are_genes(column_names):
        what = "proteins" if are_proteins(row_names) else "genes or probes"
        counts = f"{columns:,} samples and {rows:,} features"
        why = f'names of rows such as "{short(row_names[0])}" look like {what}; this gives {counts}'
        return rows > columns or are_barcodes, why
    if are_barcodes:
        why = f'names of columns such as "{short(column_names[0])}" are those of samples in public archives'
        return True, why
    if rows <= columns:
        return False, ""
    stems = {name.rstrip("0123456789") for name in column_names}
    are_numbered = len(stems) <= max(1, len(column_names) // 10) and stems != {"feature "}
    if rows >= _MANY_TIMES * columns and row_names[0] != "sample 1" and are_numbered:
        return False, (
            f'there are far more rows than columns, with names of columns such as "{short(column_names[0])}"'
        )
    if all(map(_SAMPLE.fullmatch, column_names)) and not any(map(_SAMPLE.fullmatch, row_names)):
        return False, f'the columns are called as samples are, such as "{short(column_names[0])}"'
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


def are_proteins(names: Sequence[str]) -> bool:
    """Return whether at least 80 % of the first 200 names look like accessions of proteins."""
    found = [bool(_PROTEIN.search(name)) for name in names[:200]]
    return sum(found) >= 0.8 * len(found) > 0


def covariance_suggestion(X: np.ndarray) -> tuple[bool, str]:
    """Return whether a table looks like a covariance or correlation matrix, and a sentence that says so.

    Such a matrix is symmetric, and no entry is larger than its two diagonal entries allow.
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

    They are not when the standard deviations of the features spread, or when one feature, such as the age
    among answers from 1 to 5, has more variance than all others together. Those that are zero are ignored.
    """
    known = deviations[deviations > 0]
    if known.size < 2:
        return ""
    low, high = np.quantile(known, (_TAIL, 1 - _TAIL))
    known = known / known.max()
    share = 1 / float(known @ known) if _UNLIKE * np.median(known) <= 1 else 0.0
    if high >= _UNLIKE * low:
        between = " and ".join(f"{float(f'{value:.3g}'):,g}" for value in (low, high))
        said = f"most standard deviations lie between {between}. As they are, the features with large numbers"
    elif share > _MOST:
        said = f"one has {100 * share:.0f} % of the variance of all {known.size}. As they are, this feature"
    else:
        return ""
    many = "decide" if high >= _UNLIKE * low else "decides"
    return f"The features have different scales: {said} {many}. Standardised, every feature counts alike."
