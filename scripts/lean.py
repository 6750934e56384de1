"""Shrink a certificate for storage: round its W to few digits, and prove the bound of the rounded W.

`scripts/answers.py` calls `lean` for the certificates of the stored answers that ship with the samples.
"""

import numpy as np

from nspca.bounds import core, elimination, witness
from nspca.bounds.dual_search import DualSearch, counts_of
from nspca.bounds.elimination import Kept
from nspca.bounds.fixing.stored import rounded
from nspca.bounds.plan import JOINT_PLANS
from nspca.bounds.witness import Witness
from nspca.certificate import Certificate
from nspca.covariance.linalg import Array
from nspca.problem import Problem

DIGITS = 12
"""Binary digits kept of a typical entry of W. Rounding changes the bound by a few millionths."""


def lean(problem: Problem, certificate: Certificate, digits: int = DIGITS) -> Certificate:
    """Return a certificate of the same problem with a rounded W, which needs a fraction of the bytes.

    The inequality holds for any W, so the new bound is proved without relying on the old one. It may be
    slightly larger or smaller. A certificate without W, with row cuts M for one component, or of a
    tree is returned unchanged.

    Parameters
    ----------
    problem : Problem
        The problem of the certificate.
    certificate : Certificate
    digits : int
        Binary digits kept of a typical entry of W.
    """
    W = certificate.witness.get("W")
    single = certificate.form == "inequality" and "M" not in certificate.witness
    if W is None or not (single or certificate.form == "joint"):
        return certificate
    W, rows = rounded((W + W.T) / 2, digits), certificate.witness.get("rows")
    kept = _rows_of(problem, certificate)
    if kept is None or (rows is not None and not np.array_equal(kept.features, rows)):  # other kept rows
        return certificate
    if "prices" in certificate.witness:
        M, (L, prices) = (
            certificate.witness.get("M"),
            (certificate.witness[name] for name in ("lift", "prices")),
        )
        scales = certificate.witness.get("scales")
        numbers = Witness(W, None if M is None else rounded(M, digits), L, prices, scales)
        return of_numbers(problem, kept, numbers) or certificate
    if certificate.form == "joint":
        return of_weights(problem, kept, W)
    proved, _ = witness.certificate(
        problem, kept, Witness(W, None, certificate.witness.get("U")), kind=certificate.kind
    )
    return proved


def of_weights(problem: Problem, kept: Kept, W: Array) -> Certificate:
    """Return the certificate of kind J of any given symmetric W (r, r) on the kept rows."""
    run = DualSearch(problem, JOINT_PLANS["fast"], 0.0, kept=kept, W=W)
    run.prove_dual()
    assert run.certificate is not None  # any W has one
    return run.certificate


def of_numbers(problem: Problem, kept: Kept, numbers: Witness) -> Certificate | None:
    """Return the certificate of kind JP of any given numbers; None when the proof fails."""
    run = DualSearch(problem, JOINT_PLANS["thorough"], 0.0, kept=kept)
    run.search_finely(numbers, [0.0] * len(counts_of(problem)))
    return run.proved(numbers)


def _rows_of(problem: Problem, certificate: Certificate) -> Kept | None:
    """Return the kept rows of a certificate; None if its weights y cannot be used again."""
    witness = certificate.witness
    if "rows" not in witness:
        return elimination.all_rows(problem)
    if "y" not in witness:
        return elimination.keep(problem, len(witness["rows"]))
    tau, t = float(witness["tau"][0]), float(witness["claims"][0])
    return core.with_weights(problem, witness["rows"], tau, t, witness["y"], witness.get("scales"))
