"""Form `answers`: every component that explains more than the bound uses all features of a listed set.

A witness has a tree as in form `fixing`, and listed sets of features. Each set T has a vector w on its
features, and a value. "Uses" counts the forced features in any case.

Theorem. Let x be a component, and S its support with the forced features. Then S has all features of a listed
set, or x'Ax <= max(v, the largest t + F of the leaves), where v is the level of the tree.
Proof. By the theorem of `fixing`, x'Ax <= v, or S arrives at a leaf. A leaf bounds x'Ax, or has the code
COVERED. There all features of a listed T are in, and S has all features that are in.

The value of a set is proved too: w'Aw >= value w'w. With entries E as computed, w'Aw is at least
w'Ew - eps (|w|'size)^2 - lost (|w|'1)^2. There are 2p + 2 roundings in w'Ew for p features. The bound needs
no values. Sets that explain less than the level make it no less true.

`entry` calls `answers` for this form.
"""

from fractions import Fraction

import numpy as np
from numpy import ndarray as Array

from nspca.checker import matrix
from nspca.checker.fixing import NAMES, Part, prove_tree
from nspca.checker.matrix import Matrix
from nspca.checker.reading import Arrays, Recipe
from nspca.checker.refusal import require
from nspca.checker.rounding import gamma, margin

OF_SETS = ("counts", "members", "weights", "values")
"""Witness arrays of the listed sets: number of features of each, features and weights of all, and values."""
FAR = 1e-6
"""Largest distance of the squared length of a vector from 1."""


def answers(A: Matrix, recipe: Recipe, arrays: Arrays) -> Fraction:
    """Return a bound on x'Ax for all components x that do not use all features of any listed set."""
    arrays.only(*NAMES, *OF_SETS)
    counts, members = arrays.codes("counts").tolist(), arrays.codes("members").astype(int)
    require(all(count >= 1 for count in counts), "a listed set must have a feature")
    require(sum(counts) == members.size, "witness counts must add up to the number of witness members")
    weights, values = arrays.numbers("weights", (members.size,)), arrays.numbers("values", (len(counts),))
    in_range = ((members >= 0) & (members < A.n)).all()
    require(in_range, f"features of listed sets must be numbers from 0 to {A.n - 1}")
    listed = np.zeros((len(counts), A.n), dtype=bool)
    at = np.repeat(np.arange(len(counts)), np.array(counts, dtype=int))
    listed[at, members] = True
    require(int(listed.sum()) == members.size, "a listed set must not have a feature twice")
    with_forced = listed.copy()
    with_forced[:, list(recipe.forced)] = True
    few = (with_forced.sum(axis=1) <= recipe.k).all()
    require(few, f"a listed set must have at most {recipe.k} features, forced ones counted")
    require(not recipe.nonneg or (weights >= 0).all(), "a nonnegative component has no negative weights")
    used = np.flatnonzero(listed.any(axis=0))
    matrix.require_few(A, used)
    part, ends = Part(A, used), np.cumsum([0, *counts])
    for i, value in enumerate(values.tolist()):
        own = slice(ends[i], ends[i + 1])
        proved = reaches(part, np.searchsorted(used, members[own]), weights[own], value)
        require(proved, f"the vector of listed set {i} is not proved to reach its value {value!r}")
    return prove_tree(A, recipe, arrays, listed=listed)


def reaches(A: Part, T: Array, w: Array, value: float) -> bool:
    """Tell whether w'Aw >= value w'w is proved for weights w on the features T of A."""
    E, size, length = A.block(T, T), np.abs(w), float(w @ w)
    lost = margin(2 * T.size + 8, size @ np.abs(E) @ size) + A.lost * size.sum() ** 2
    lost += A.eps * (size @ A.size[T]) ** 2
    enough = value * length * (1 + gamma(T.size + 8)) <= w @ E @ w - 1.01 * lost
    return bool(value >= 0 and abs(length - 1) <= FAR and enough)
