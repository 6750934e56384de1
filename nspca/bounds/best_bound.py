"""Prove the bounds of witnesses on some kept rows, and keep the best with its certificate.

A `BestBound` is the state of a search for the strongest certificate of one component. `tree_stage` and
`bound_search` add the steps of that search.
"""

from dataclasses import dataclass

import numpy as np

from nspca.bounds.dual.rounds import Work
from nspca.bounds.dual.splitting import Splitting
from nspca.bounds.elimination import Kept
from nspca.bounds.plan import Plan
from nspca.bounds.witness import Proof, Witness, lifted, prove, stated
from nspca.certificate import Certificate
from nspca.covariance.linalg import Array
from nspca.lowrank.cones import Budget

STALL = 0.02
"""Share of the gap that counts as hardly anything: less than this is no reason to go on."""


@dataclass(eq=False, kw_only=True)
class BestBound(Work[Plan]):
    """The best bound on some kept rows, and what is known besides.

    Attributes
    ----------
    known : float
        Bound known before, in unit scale.
    best : Certificate or None
        Certificate of `upper`, if better than `known`.
    point : (n,) float64 or None
        A component better than the best value known before.
    """

    stage = "dual"
    kept: Kept
    known: float = np.inf
    best: Certificate | None = None
    point: Array | None = None

    def offer_plain(self, W: Array) -> None:
        """Try the bound B5 of W, and the plain lifts (B6) of W."""
        self.offer(Witness(W))
        for rank in self.plan.plain:
            if not self.closed:
                self.offer(*lifted(self.kept, Witness(W), rank))

    def offer(self, witness: Witness, estimate: float | None = None, kind: str | None = None) -> None:
        """Prove the bound of a witness, and keep the bound if it is the best."""
        self.keep(witness, self.prove(witness, estimate), kind)

    def prove(self, witness: Witness, estimate: float | None = None) -> Proof:
        """Prove the bound of a witness, as finely as the best known value needs."""
        tol, known = (1e-10, self.lower) if self.lower > 0 else (1e-3, np.inf)
        budget = Budget(tol, hopeless=self.upper, known=known, cap=self.plan.cap)
        return prove(self.problem, self.kept, witness, budget, estimate=estimate, report=self.quietly)

    def keep(self, witness: Witness, proof: Proof, kind: str | None = None) -> None:
        """Keep the certificate of a proof if its bound is the best so far."""
        if proof.upper < self.upper:
            self.best, self.upper = stated(self.problem, self.kept, witness, proof, kind), proof.upper
            self.tell()

    def no_room(self, least: float) -> bool:
        """Tell whether bounds of at least `least` can hardly reduce the gap."""
        return np.isfinite(least) and self.upper - least <= STALL * (self.upper - self.lower)

    def splitting(self, rho: float = 1.0, count: int | None = None) -> Splitting:
        """Return a new splitting on the kept rows, with penalty `rho` relative to the largest eigenvalue.

        With a `count` of 1 no eigenvalue below the claim outside the rows counts.
        """
        return Splitting(self.kept, self.problem.size, self.problem.nonneg, rho=rho, count=count)

    @property
    def shown(self) -> float | None:
        """Bound of the best certificate in the units of the data, or None."""
        return None if self.best is None else self.best.upper

    @property
    def known_upper(self) -> float | None:
        """Best bound so far, proved here or known before, in the units of the data."""
        if self.best is None and np.isfinite(self.known):
            return self.known * self.problem.covariance.unit
        return self.shown
