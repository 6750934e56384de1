"""Claims about single features: upper bounds on the answers that have each, and on those that lack it.

Every way to make them (`sums`, `sphere`, `trees`) returns a certificate by `stated`. `sources` asks for all.
"""

from dataclasses import dataclass

import numpy as np

from nspca.certificate import Certificate
from nspca.covariance.linalg import Array
from nspca.problem import Problem

NEAR, NEAREST = 0.05, 2e-4
"""Cones are split until their bound is this close to their value f: NEAR times the distance between the value
and the level of interest, and at least NEAREST times the value.
"""
NAMES = ("having", "lacking")
"""Names of the arrays (n,) of a certificate: bounds on answers that have a feature, and that lack it."""
BELOW = 1e-8
"""Relative distance of the target of bounds below a level, so that they are below it despite rounding."""
DEEPER = (1, 3, 10)
"""Distances of further levels from the value, as multiples of that of the level of interest. They are used to
measure the cost of features while work is left.
"""


@dataclass(frozen=True)
class Interest:
    """The answers that membership is about: all whose value is at least `share` times the best known `value`.

    `value` is in unit scale.
    """

    value: float
    share: float

    @property
    def levels(self) -> list[float]:
        """Levels for the bounds, decreasing: the level of interest, then lower ones while work is left."""
        return [self.value * max(0.0, 1 - d * (1 - self.share)) * (1 - BELOW) for d in DEEPER]

    @property
    def tol(self) -> float:
        """Distance between the bound of a cone and its value f at which the cone is no longer split."""
        return self.value * max(NEAR * (1 - self.share), NEAREST)


@dataclass(frozen=True, eq=False)
class Bounds:
    """Upper bounds on the answers that have a feature (n,), that lack a feature (n,), and on all answers.

    Bounds are in unit scale. Entries are -inf where no such answers exist.
    """

    having: Array
    lacking: Array
    upper: float


def decides(certificate: Certificate, interest: Interest) -> tuple[int, float]:
    """Return a sort key for certificates: the number of claims below the level of interest, and a tie-break.

    The tie-break is minus the sum of the claims, where those below the level count as the level.
    """
    claims, level = np.array([certificate.witness[name] for name in NAMES]), interest.value * interest.share
    return int(np.count_nonzero(claims < level)), -float(np.maximum(claims, level).sum())


def stated(
    problem: Problem, kind: str, form: str, bounds: Bounds, witness: dict[str, np.ndarray]
) -> Certificate:
    """Return the certificate that claims the given bounds, clipped to between 0 and the bound on all answers.

    `witness` holds the arrays that prove the bounds.
    """
    claims = {
        name: np.clip(part, 0.0, bounds.upper)
        for name, part in (("having", bounds.having), ("lacking", bounds.lacking))
    }
    return Certificate.of(problem, kind, form, bounds.upper, witness | claims)
