"""Bounds for every feature by the witness of a certificate, whose cover is refined.

In each cone of the cover, the largest sum over supports with a feature, and over those without it, takes the
place of the largest sum over all supports (docs/certificates.md, *In or out*).
"""

from dataclasses import dataclass, replace

import numpy as np

from nspca.bounds import core
from nspca.bounds.elimination import Kept
from nspca.bounds.membership.claims import Bounds, Interest, stated
from nspca.bounds.witness import Witness, lifted, lost_by_rounding, query_of, spectral_half
from nspca.certificate import Certificate
from nspca.covariance.linalg import UNIT_ROUNDOFF, Array
from nspca.lowrank import membership as search
from nspca.problem import Problem
from nspca.progress import Report, silent

WORK, FEWEST = 4e7, 200
"""Maximum terms of all cones of a certificate together; and cones that each cover may have in any case."""
RANK = 3
"""Rank of the lift for a witness without one. Without a lift all features would get the same bounds."""


def whole(problem: Problem, certificate: Certificate) -> Certificate:
    """Return a certificate of form "inequality" with its bound on all answers claimed for every feature."""
    t, F = certificate.witness["claims"]
    half = Half(float(t), float(F), np.zeros(0), np.zeros(0), certificate.witness["tree"])
    same = np.full(problem.n, half.upper)
    bounds = Bounds(same, same, half.upper)
    return stated(problem, certificate.kind, "inequality", bounds, certificate.witness)


def of_inequality(
    problem: Problem, certificate: Certificate, interest: Interest, report: Report = silent
) -> Certificate:
    """Return bounds for every feature from the witness W, M, U of a certificate of the form "inequality".

    A witness without U gets a lift first.
    """
    arrays, forced = certificate.witness, np.array(problem.forced, dtype=int)
    rows = arrays.get("rows")
    features = np.arange(problem.n) if rows is None else rows
    fixed = forced.size if np.array_equal(features[: forced.size], forced) else 0
    outside = np.setdiff1d(problem.usable, features)
    t, floor = float(arrays["claims"][0]), float(arrays["tau"][0]) if "tau" in arrays else 0.0
    witness, kind = Witness(*(arrays.get(name) for name in ("W", "M", "U"))), certificate.kind
    if witness.U is None:
        kept = Kept(rows, problem.covariance.block(features), floor, free=outside.size, fixed=fixed)
        weighted = core.with_weights(problem, features, floor, t, arrays["y"]) if "y" in arrays else kept
        if weighted is None:  # no lift is possible, and the claim t of the certificate stays
            witness = replace(witness, U=np.zeros((features.size, 0)))
        else:
            witness, left = lifted(weighted, witness, RANK)
            t, kind = spectral_half(problem, weighted, witness, left), witness.kind
    kept = Kept(features, np.zeros((features.size, 0)), floor, free=outside.size, fixed=fixed)
    half = search_half(problem, kept, witness, t, interest, WORK, report)
    bounds = half.spread(problem.n, features, outside, problem.size)
    bounds.having[np.setdiff1d(np.arange(problem.n), problem.usable)] = -np.inf
    named = {"W": witness.W, "M": witness.M, "U": witness.U, "rows": rows}
    named |= {name: arrays.get(name) for name in ("tau", "y")}
    given = {name: a for name, a in named.items() if a is not None and (a.size or name in ("rows", "y"))}
    given |= {"claims": np.array([t, half.F]), "tree": half.tree}
    return stated(problem, kind, "inequality", bounds, given)


@dataclass(frozen=True, eq=False)
class Half:
    """Proved halves of bounds: t, the search half F on all answers, and on those having or lacking each row.

    `tree` holds the codes of the cover. Rows of zeros for features outside follow those of the witness.
    """

    t: float
    F: float
    having: Array
    lacking: Array
    tree: np.ndarray

    @property
    def upper(self) -> float:
        """Bound t + F, raised by the rounding error of the sum."""
        return self.t + self.F + 8 * UNIT_ROUNDOFF * (abs(self.t) + abs(self.F))

    def spread(self, n: int, features: np.ndarray, outside: np.ndarray, k: int) -> Bounds:
        """Return the bounds for n features; `features` have rows, `outside` are usable but have none."""
        upper = self.upper
        having, lacking = np.full(n, upper), np.full(n, upper)
        own = [np.where(part < self.F, self.t + part, upper) for part in (self.having, self.lacking)]
        having[features], lacking[features] = (part[: features.size] for part in own)
        if outside.size:
            having[outside] = own[0][features.size]
        if 0 < outside.size <= k:  # with more, lacking one of them changes nothing
            lacking[outside] = own[1][features.size]
        return Bounds(having, lacking, upper)


def search_half(
    problem: Problem, kept: Kept, witness: Witness, t: float, interest: Interest, work: float, report: Report
) -> Half:
    """Search the sphere with at most `work` terms, and return the halves of the bounds for every row.

    t is the spectral claim of the witness. The block of the kept rows is not read.
    """
    query = query_of(kept, witness, problem.size, problem.nonneg)
    D = query.V.shape[1] + (query.tau > 0)
    cap = max(FEWEST, int(work / (len(query.V) * D * (D + 1) / 2 + 1)))
    found = search.rows(query, [level - t for level in interest.levels], interest.tol, cap, report)
    lost = lost_by_rounding(query, witness.M)
    more = lost + 8 * UNIT_ROUNDOFF * abs(t)
    return Half(t, found.upper + lost, found.having + more, found.lacking + more, found.tree)
