"""Effect sizes: how far components separate labelled groups of samples, on these rows or on held-out rows.

`nspca.group_effects` and `nspca.held_out_group_effects` are public. The pages of several components show
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nspca.api import solve
from nspca.covariance.linalg import Array
from nspca.covariance.moments import moments
from nspca.errors import InvalidOption, InvalidProblem, within_memory
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.selection.rows import read_rows, report_whole
from nspca.solvers import METHODS
from nspca.validation.options import check_whole, flag, known_seed

if TYPE_CHECKING:
    import pandas as pd

PERMUTATIONS = 999
"""Labels are shuffled this often by default: the smallest p-value is then 1 / 1000."""
ETA, COHEN = "eta squared", "Cohen's d"
TIE = 1e-9
"""Relative difference up to which shuffled labels count as separating as far. Rounding must not make a
p-value smaller; `test_a_tie_counts` pins it.
"""
Codes = NDArray[np.int64]
"""Number of the group of each sample, -1 without a label; or row numbers."""


@dataclass(frozen=True, eq=False)
class GroupEffects:
    """Measures of how far each component separates labelled groups of samples.

    Attributes
    ----------
    measure : str
        "Cohen's d" for two groups: the difference of their means over their pooled standard deviation, the
        first group minus the second. "eta squared" for more: the share of the variance of the scores that
        lies between the groups, from 0 to 1.
    groups : tuple of str
        The labels, in alphabetical order.
    counts : tuple of int
        Samples of each group that were measured.
    effect : (r,) float64
        The measure for each component; nan where its scores do not vary.
    p : (r,) float64 or None
        Share of shuffled labels that separate the held-out samples as far, times r and at most 1
        (Bonferroni). None for effects on the samples that the components were found on, where it would mean
        nothing.
    unlabelled : int
        Samples without a label, which were left out.
    """

    measure: str
    groups: tuple[str, ...]
    counts: tuple[int, ...]
    effect: Array
    p: Array | None = None
    unlabelled: int = 0

    @property
    def frame(self) -> "pd.DataFrame":
        """Table with a row for each component: its number, its effect named after the measure, and p."""
        import pandas as pd  # slow to import, and needed only here

        columns = {"component": np.arange(1, len(self.effect) + 1), self.measure: self.effect}
        return pd.DataFrame(columns | ({} if self.p is None else {"p": self.p}))


def group_effects(scores: ArrayLike, labels: Any) -> GroupEffects:
    """Return how far the scores of each component separate labelled groups of samples.

    Nothing here is a test: the components may have been chosen for these samples. See
    `held_out_group_effects` for one.

    Parameters
    ----------
    scores : (m,) or (m, r) float64
        Scores of the samples along each component.
    labels : (m,) sequence
        The group of each sample; None, nan and an empty text are no group.

    Raises
    ------
    InvalidProblem
        Where fewer than two groups are named, or every group has one sample only.
    """
    S = np.asarray(scores, float)
    S = S[:, None] if S.ndim == 1 else S
    names, codes = coded(labels, len(S))
    known = codes >= 0
    counts = np.bincount(codes[known], minlength=len(names))
    return GroupEffects(
        COHEN if len(names) == 2 else ETA,
        names,
        tuple(map(int, counts)),
        _effects(S[known], codes[known]),
        None,
        int((~known).sum()),
    )


@within_memory()
def held_out_group_effects(
    X: Any,
    labels: Any,
    k: int | Sequence[int],
    components: int = 1,
    *,
    method: str = "joint",
    nonneg: bool = True,
    center: bool = True,
    scale: bool = False,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    report: Report | None = None,
    **options: Any,
) -> GroupEffects:
    """Return how far components of one half of the rows separate the groups of the other half.

    The halves are drawn by chance within each group. The components know nothing of the samples that are
    measured, nor of any label. So a p-value holds for them, from labels shuffled among those samples.

    Parameters
    ----------
    X : (m, n) array, data frame, scipy.sparse matrix or `nspca.Dataset`
    labels : (m,) sequence
        The group of each sample; None, nan and an empty text are no group, and such rows are left out.
    k : int, or one for each component
    components : int
        How many components, where `k` is one number.
    method, nonneg, center, scale, **options
        As for `nspca.solve` and `Problem.from_data`. Columns are scaled by the standard deviations of all
        rows.
    permutations : int
        How often the labels are shuffled.
    seed : int
        Seed of the random halves, of the shuffles and of the method.
    report : callable, optional

    Raises
    ------
    InvalidProblem
        Where fewer than two groups have four samples, so that each half has two of them.
    """
    Z = read_rows(X, flag("scale", scale))
    seed = known_seed(seed)
    check_whole("permutations", permutations, 1)
    sizes = (k,) * components if isinstance(k, int | np.integer) else tuple(k)
    names, codes = coded(labels, Z.shape[0])
    found_on, measured = halves(codes, seed)
    there, held = np.unique(codes[measured], return_inverse=True)
    names = tuple(names[i] for i in there)
    send = silent if report is None else report
    same = len(set(sizes)) == 1
    if not same and (method not in METHODS or not METHODS[method].joint):
        raise InvalidOption(
            f"components of different sizes need a method that finds them together, got {method!r}; use joint"
        )
    problem = Problem.from_data(Z[found_on], sizes[0] if same else sizes, nonneg, center)
    of_solve = report_whole(send, 0, 2, "one half")
    V = solve(problem, method, len(sizes), seed, of_solve, certify=None, **options).components
    send(Event("the other half", 1, 2))
    mean = moments(Z[found_on])[0] if center else np.zeros(Z.shape[1])
    scores = np.asarray(Z[measured] @ V) - mean @ V
    effect = _effects(scores, held)
    reached = np.zeros(V.shape[1])
    rng = np.random.default_rng([seed, 1])
    for _ in range(permutations):
        reached += np.abs(_effects(scores, rng.permutation(held))) >= np.abs(effect) * (1 - TIE)
    p = np.where(np.isnan(effect), np.nan, (1 + reached) / (1 + permutations))
    return GroupEffects(
        COHEN if len(names) == 2 else ETA,
        names,
        tuple(map(int, np.bincount(held))),
        effect,
        np.minimum(1.0, len(p) * p),
        int((codes < 0).sum()),
    )


def coded(labels: Any, m: int) -> tuple[tuple[str, ...], Codes]:
    """Return the names of the groups and the number of the group of each of m samples, -1 without a label."""
    given = list(labels)
    if len(given) != m:
        raise InvalidProblem(f"labels must be one for each of {m} samples, got {len(given)}")
    text = np.array([_text(label) for label in given], dtype=object)
    names = sorted(set(text) - {""})
    place = {name: i for i, name in enumerate(names)}
    codes = np.array([place.get(one, -1) for one in text], dtype=np.int64)
    if len(names) < 2:
        raise InvalidProblem(f"labels must name at least two groups of samples, got {len(names)}")
    if np.bincount(codes[codes >= 0]).max() < 2:
        raise InvalidProblem(
            f"labels must put at least two samples into one group, got {len(names)} groups of one; choose "
            "labels that samples share"
        )
    return tuple(names), codes


def halves(codes: Codes, seed: int) -> tuple[Codes, Codes]:
    """Return the rows of two halves, drawn within each group of at least four samples; see `coded`."""
    rng, first, second = np.random.default_rng([seed, 0]), [], []
    for group in range(codes.max() + 1):
        rows = rng.permutation(np.flatnonzero(codes == group))
        if len(rows) >= 4:
            first.append(rows[: len(rows) // 2])
            second.append(rows[len(rows) // 2 :])
    if len(first) < 2:
        raise InvalidProblem(
            f"two halves need at least two groups of four samples each, got {len(first)}; choose labels "
            "with larger groups"
        )
    return np.sort(np.concatenate(first)), np.sort(np.concatenate(second))


def _text(label: Any) -> str:
    if label is None or (isinstance(label, float | np.floating) and np.isnan(label)):
        return ""
    return str(label).strip()


def _effects(S: Array, codes: Codes) -> Array:
    """Return the measure of each column of S (m, r), which has a group number for each row."""
    S = S - S[:1]  # a column of one value becomes exact zeros, whose effect is nan and no rounding error
    counts = np.bincount(codes)
    means = np.array([S[codes == group].mean(axis=0) for group in range(len(counts))])
    within = np.square(S - means[codes]).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        if len(counts) == 2:
            return (means[0] - means[1]) / np.sqrt(within / (counts.sum() - 2))
        between = (counts[:, None] * np.square(means - S.mean(axis=0))).sum(axis=0)
        return between / (between + within)
