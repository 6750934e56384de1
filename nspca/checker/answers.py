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

Each listed set has a vector, too, which is proved to reach the value of the set. The bound needs no values:
sets that explain less than the level make it no less true.

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


def answers(A: Matrix, recipe: Recipe, arrays: Arrays) -> Fraction:
    """Return a bound on x'Ax for all components x that do not use all features of any listed set."""
    arrays.only(*NAMES, "counts", "members", "weights", "values")
    sets, members = arrays.sets(A.n), arrays.codes("members").astype(int)
    few = all(np.union1d(T, recipe.forced).size <= recipe.k for T in sets)
    require(few, f"a listed set must have at most {recipe.k} features, forced ones counted")
    weights, values = arrays.numbers("weights", members.shape), arrays.numbers("values", (len(sets),))
    require(not recipe.nonneg or (weights >= 0).all(), "a nonnegative component has no negative weights")
    used, end = np.unique(members), 0
    matrix.require_few(A, used)
    part = Part(A, used)
    for T, value in zip(sets, values.tolist(), strict=True):
        end += T.size
        proved = reached(part, np.searchsorted(used, T), weights[end - T.size : end])
        sentence = f"the vector of listed set {T.tolist()} is not proved to reach its value {value!r}"
        require(0 <= value <= proved, sentence)
    return prove_tree(A, recipe, arrays, listed=sets)
