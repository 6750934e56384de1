"""Entry point of the checker: `verify`, and the checks of a certificate, one after the other.

`nspca.verify` (in `nspca.verifying`) and the tests call `verify`.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from nspca.checker import forms, reading
from nspca.checker.answers import answers
from nspca.checker.fixing import fixing
from nspca.checker.matrix import Matrix, matrix_of
from nspca.checker.packing import others, packing
from nspca.checker.refusal import require
from nspca.checker.rounding import float_up
from nspca.errors import CertificateError, shown

FORMS: dict[str, Callable[[Matrix, reading.Recipe, reading.Arrays], Fraction | float]] = {
    "inequality": forms.inequality,
    "fixing": fixing,
    "answers": answers,
    "joint": forms.inequality,
    "packing": packing,
    "others": others,
    "diagonal": forms.diagonal,
}
"""For each form the function that proves and returns the bound on x'Ax at unit scale."""


def verify(
    data: Any,
    certificate: Any,
    problem: Any = None,
    *,
    sample_weight: Any = None,
    k: Any = None,
    nonneg: Any = None,
    center: Any = None,
    scale: Any = None,
    source: Any = None,
    forced: Any = None,
) -> float:
    """Return the upper bound, in the units of the data, that `certificate` proves for `data`.

    Data are a table, or a reader of one in blocks of rows (`nspca.Shards`), which is never held whole.
    `sample_weight` (m,) has the weights of its samples, which a certificate about them requires.

    A certificate that proves no bound raises CertificateError with the reason. The proof is about the problem
    that the certificate names: its k, sign, centring, scaling, data or covariance, forced features. With
    `problem` (an `nspca.Problem`), or any of its properties alone, a certificate about another problem is
    refused. None requires nothing, and no forced features are ``()``.
    """
    asked = {"k": k, "nonneg": nonneg, "center": center, "scale": scale, "source": source, "forced": forced}
    try:
        recipe = reading.read_recipe(certificate, FORMS)
        if problem is not None:
            reading.same_problem(recipe, reading.properties_of(problem))
        reading.same_problem(recipe, {name: value for name, value in asked.items() if value is not None})
        with np.errstate(all="ignore"):  # what overflows becomes inf or NaN and fails its comparison
            value = proved(data, certificate, recipe, sample_weight)
        claimed = f"the upper bound {recipe.upper!r} is claimed, but only {value!r} is proved"
        require(value <= recipe.upper < np.inf, claimed)
        return value
    except CertificateError:
        raise
    except Exception as error:  # methods of foreign objects may raise anything
        raise CertificateError(f"the data or the certificate cannot be read: {error!r}") from error


def proved(data: Any, certificate: Any, recipe: reading.Recipe, sample_weight: Any = None) -> float:
    """Return the smallest float, in the units of the data, that is at least the bound proved by
    the witness.
    """
    shifted = recipe.shift >= 0 if recipe.source == "covariance" else not recipe.shift
    sentence = (
        f"only a covariance may have a shift, of at least 0, got {recipe.shift!r} for {recipe.source!r}"
    )
    require(shifted, sentence)
    A = matrix_of(data, recipe, sample_weight)
    sizes = recipe.sizes
    possible = min(sizes) >= 1 and max(*sizes, len(sizes)) <= A.n
    require(possible, f"k must be between 1 and n = {A.n}, got {', '.join(map(str, sizes))}")
    forced = recipe.forced
    increasing = list(forced) == sorted({*forced}) and all(0 <= i < A.n for i in forced)
    sentence = f"forced features must be some from 0 to {A.n - 1} in increasing order, got {shown(forced)}"
    require(increasing, sentence)
    counted = not forced or (recipe.form not in reading.OF_SEVERAL and len(forced) <= recipe.k)
    require(counted, f"forced features count among the k of one component, got {len(forced)} of {recipe.k}")
    bound = FORMS[recipe.form](A, recipe, reading.Arrays(recipe.form, certificate.witness))
    given = Fraction(bound) - len(sizes) * A.relief
    return float_up(given * Fraction(2) ** A.exponent)
