"""Form `answers`: every component that explains more than the bound uses all features of a listed set.

A witness has a tree as in form `fixing`, and listed sets of features. Each set T has a vector w on its
features, and a value. "Uses" counts the forced features in any case.

Theorem. Let x be a component, and S its support with the forced features. Then S has all features of a listed
set, or x'Ax <= b = max(v, the largest t + F of the leaves), where v is the level of the tree.
Proof. Let x'Ax > b. Without forced features, let S be a smallest part of that support on which some component
x explains more than b; the set that contains S has what S has. By the theorem of `fixing` S arrives at a
leaf. A leaf that bounds x'Ax by b is none of these. One of code MIXED has a single set, which is no such S
by the theorem of `mixed`. It is refused where features are forced. So the leaf has the code COVERED. There
all features of a listed T are in, and S has all features that are in.

The value of a set is proved too: w'Aw >= value w'w. With entries E as computed, w'Aw is at least
w'Ew - eps (|w|'size)^2 - lost (|w|'1)^2. There are 2p + 2 roundings in w'Ew for p features. The bound needs
no values. Sets that explain less than the level make it no less true.

`entry` calls `answers` for this form.
"""

from fractions import Fraction

import numpy as np

from nspca.checker import matrix
from nspca.checker.fixing import NAMES, Part, prove_tree
from nspca.checker.matrix import Matrix
from nspca.checker.mixed import reached
from nspca.checker.reading import Arrays, Recipe
from nspca.checker.refusal import require

OF_SETS = ("counts", "members", "weights", "values")
"""Witness arrays of the listed sets: number of features of each, features and weights of all, and values."""


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
        proved = reached(part, np.searchsorted(used, members[own]), weights[own])
        require(
            0 <= value <= proved, f"the vector of listed set {i} is not proved to reach its value {value!r}"
        )
    return prove_tree(A, recipe, arrays, listed=listed)
