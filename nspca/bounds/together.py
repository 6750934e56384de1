"""Prove what several disjoint components explain together: the joint bounds, then a search over their sets.

The search is made for problems with few features, or when the caller sets limits. It begins with the prices,
W, M and lift of the joint bound. `nspca.proving` calls `prove_joint` for a problem of several sizes.
"""

from dataclasses import dataclass

import numpy as np

from nspca.bounds import elimination
from nspca.bounds.disjoint.search import JointTree
from nspca.bounds.fixing.ground import Ground
from nspca.bounds.fixing.stored import Stored
from nspca.bounds.fixing.tree import Limits
from nspca.bounds.inequality import threshold
from nspca.bounds.joint import certify_joint
from nspca.bounds.plan import CLOSED, JOINT_PLANS, PLANS
from nspca.bounds.witness import Witness
from nspca.certificate import Certificate
from nspca.covariance.linalg import Array, one_thread
from nspca.errors import Cancelled
from nspca.problem import Problem
from nspca.progress import Report, silent

ROWS = 1200
"""Maximum kept rows of a search over sets."""


def prove_joint(
    problem: Problem,
    lower: float,
    effort: str = "standard",
    report: Report = silent,
    answer: Array | None = None,
    limits: Limits | None = None,
    resume: Certificate | None = None,
) -> tuple[Certificate, Array | None]:
    """Return a certificate for r disjoint components of the sizes `problem.k`, and a better answer (n, r) if
    the search met one.

    Parameters
    ----------
    problem, lower, effort, report
        As for `certify_joint`, which comes first; `lower` is the best known value, in unit scale.
    answer : (n, r) float64, optional
        Known components, from which the search begins.
    limits : Limits, optional
        Search until nothing is open or one of these is reached, whatever the effort allows. The certificate
        then has the tree of an unfinished search in it, whatever its bound.
    resume : Certificate, optional
        Earlier certificate for this problem. Its tree is continued. One with prices, which `certify_joint`
        made, takes the place of the joint bound. Any other is only a first bound.
    """
    tree = None if resume is None else resume.tree
    if resume is not None and (tree is not None or prices_of(problem, resume) is not None):
        best = resume
    else:
        best = certify_joint(problem, lower, effort, report)
        best = best if resume is None else smaller(best, resume)
    nodes = JOINT_PLANS[effort].searched_nodes(problem.n)
    if limits is None and not nodes:
        return best, None
    with one_thread():
        run = _Sets(problem, lower, report, answer, best, limits is not None)
        return run.search(limits or Limits(nodes=nodes), tree)


@dataclass(frozen=True, eq=False)
class _Sets:
    """Search over the sets of all components after the joint bound `best`.

    With `goes_on` the certificate keeps the tree of an unfinished search.
    """

    problem: Problem
    lower: float
    report: Report
    answer: Array | None
    best: Certificate
    goes_on: bool

    def search(
        self, limits: Limits, resumed: dict[str, np.ndarray] | None
    ) -> tuple[Certificate, Array | None]:
        """Return the better of the certificate and that of the search, and a better answer if one was met.

        The search goes on from the arrays of a tree, or begins with the prices, W, M and lift of `best`.
        """
        problem, best, lower = self.problem, self.best, self.lower
        closed = best.upper <= lower * (1 + CLOSED) * problem.covariance.unit
        if closed or problem.covariance.trace == 0.0:
            return best, None
        largest = problem.with_k(max(problem.sizes))
        ground = Ground.of(largest, elimination.keep(largest, ROWS))
        tree = JointTree(
            problem,
            PLANS["standard"],
            lower,
            report=self.report,
            ground=ground,
            limits=limits.helped(problem.covariance.client),
            resumed=resumed,
        )
        tree.known = best.upper / problem.covariance.unit
        tree.first, tree.witness = prices_of(problem, best), witness_of(problem, ground, best)
        try:
            tree.run(self.answer)
        except Cancelled as stop:
            stop.best, stop.point = self.better(tree.certificate()), tree.point
            raise
        return self.better(tree.certificate()), tree.point

    def better(self, found: Certificate | None) -> Certificate:
        """Return the certificate with the smaller bound, with the tree of the search if that may go on."""
        if not self.goes_on:
            return smaller(self.best, found).with_unfinished(None)
        tree = self.best.tree if found is None else found.tree
        return smaller(self.best, found).with_unfinished(tree)


def smaller(best: Certificate, other: Certificate | None) -> Certificate:
    """Return the certificate with the smaller bound."""
    return other if other is not None and other.upper < best.upper else best


def prices_of(problem: Problem, certificate: Certificate) -> Array | None:
    """Return the prices (n,) of a certificate, 0 on rows that are not kept; None where it has no prices."""
    arrays = certificate.witness
    if certificate.form != "joint" or "prices" not in arrays:
        return None
    pi = np.zeros(problem.n)
    pi[arrays.get("rows", np.arange(problem.n))] = arrays["prices"]
    return pi


def witness_of(problem: Problem, ground: Ground, certificate: Certificate) -> Stored | None:
    """Return W, M and the lift of a certificate; None without prices, with weights, or for other rows."""
    arrays = certificate.witness
    rows = arrays.get("rows", np.arange(problem.n))
    if certificate.form != "joint" or "prices" not in arrays or "y" in arrays:
        return None
    if not np.isin(rows, ground.part.features).all():
        return None
    W, scales = arrays.get("W"), arrays.get("scales")
    if W is not None and scales is not None:  # a witness of a tree has one limit for all entries
        level = threshold(W / np.multiply.outer(scales, scales), problem.nonneg)
        W = elimination.clipped(W, level, problem.nonneg)
    return Stored.of(rows, Witness(W, arrays.get("M"), arrays.get("lift")))
