"""Forms of certificates: what each form proves, as a bound on x'Ax at unit scale.

`entry` calls `inequality` for the form of that name and for `joint`. The forms `fixing` and `packing` have
modules of their own.

Theorem. Let x_1..x_r be disjoint, x_j with at most s_j nonzeros. If A - W - sym(M) - LL' <= tI + UU' and
t >= 0, then sum_j x_j'A x_j is at most r t + |U|^2 (|U| is the Frobenius norm) and
- with M = 0 and L = 0: tau sum_j s_j;
- with prices pi >= 0 of the features: topk(pi, sum_j s_j) + sum_j F_j, where F_j is the F of size s_j and
  topk_i( ((v_i'c)+)^2 + h_i - pi_i ) <= F, with k = s_j, for every unit c with c_0 >= 0. Here
  W_il <= tau e_i e_l for scales e > 0 of the rows (1 where none are given), l_i are the rows of L,
  v_i = (l_i, e_i sqrt(tau)), and h is as in the inequality for k = max_j s_j.
Proof. P = sum_j x_j x_j' is a projection of rank r, so tr P(tI + UU') <= r t + tr UU'. And
tr PW <= tau 1'|P|1, 1'|P|1 = sum_j |x_j|_1^2 <= sum_j s_j, as the x_j share no feature. With prices,
(1) to (3) of the inequality, with e'x in the place of 1'x, for x_j with support I_j and |I_j| <= s_j say
x_j'(W + M + LL')x_j <= sum_(I_j) ((v_i'c_j)+)^2 + h_i <= F_j + pi(I_j). No feature is in two supports, so
the pi(I_j) add up to at most the sum_j s_j largest prices. Features that are not kept have no prices,
and enter as in the inequality, with weights too.

Form `inequality` has r = 1, no U, no prices and no scales, and its L is the U of the inequality. One
component whose rows have scales is of form `joint`, with prices of 0.
"""

from fractions import Fraction

import numpy as np

from nspca.checker.cover import prove_cover
from nspca.checker.inequality import row_heights, spectral_half, top_sum
from nspca.checker.matrix import Matrix
from nspca.checker.reading import Arrays, Inequality, Recipe, different
from nspca.checker.refusal import require
from nspca.checker.rounding import TINY, gamma, is_psd, norm, topk


def inequality(A: Matrix, recipe: Recipe, arrays: Arrays) -> Fraction:
    """Prove and return the bound of the one inequality, for one component or for r disjoint ones: r t + |U|^2
    and what W, M and L add.

    If the forced features are the first kept rows, they count as members of every support.
    """
    sizes = recipe.sizes
    witness = Inequality.read(arrays, A.n, sizes)
    outside, fixed = np.setdiff1d(recipe.usable(A.n), witness.rows), len(recipe.forced)
    fixed = fixed if np.array_equal(witness.rows[:fixed], recipe.forced) else 0
    tau = spectral_half(A, witness, outside, recipe.nonneg)
    bound, tree, most = len(sizes) * Fraction(witness.t), witness.tree, sum(sizes)
    if witness.together is not None:
        bound += Fraction(np.sum(witness.together**2) * (1 + gamma(witness.together.size + 4)))
    if not witness.claims:
        return bound + most * Fraction(tau)
    if witness.prices is not None:
        require(witness.prices.min(initial=0.0) >= 0, "prices must not be negative")
        bound += Fraction(float(topk(witness.prices, most) * (1 + gamma(most + 4))))
    h = row_heights(witness, max(sizes), recipe.nonneg)
    for size, F in zip(different(sizes), witness.claims, strict=True):
        tree = prove_cover(top_sum(witness, tau, h, outside.size, size, fixed, recipe.nonneg), F, tree)
        bound += sizes.count(size) * Fraction(F)
    require(not len(tree), "the trees of the certificate have codes left over")
    return bound


def diagonal(A: Matrix, recipe: Recipe, arrays: Arrays) -> float:
    """Prove and return the sum of the k largest variances and k nu.

    Theorem. If A + nu I is psd, then x'Ax <= tr A_II + (k - 1) nu.
    Proof. The largest eigenvalue of A_II + nu I is at most its trace. Forced features are in I.
    A Gram matrix has nu = 0. A covariance is proved psd up to an nu of the size of a rounding error. The code
    adds k nu, so one nu is to spare.
    Roundings: that of (b_ij + b_ji) / 2, which is relative to a_ij, and 1 to add nu; k + 4 for the variances.
    """
    arrays.only()
    k, B, usable, fixed = recipe.k, A.entries, recipe.usable(A.n), len(recipe.forced)
    if B is None:
        return topk(A.size[usable] ** 2, k, fixed) * (1 + gamma(k + 8))
    variances = B.diagonal()
    nu = gamma(8 * (A.n + 8)) * np.abs(variances).sum() + TINY * 1e9
    error = (A.eps + gamma(1)) * norm(B)
    proved = is_psd(B + nu * np.eye(A.n), error)
    require(proved, "the covariance is not proved positive semidefinite")
    return topk(np.maximum(variances[usable], 0), k, fixed) * (1 + gamma(k + 8)) + k * nu * B.any()
