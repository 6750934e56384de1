"""A proof that travels light: W in a few digits that compress, and the bound of that W proved anew, a hair
above the first.
"""

import numpy as np

from nspca.bounds import core, elimination, kyfan, packing, witness
from nspca.bounds.digits import rounded
from nspca.bounds.elimination import Kept
from nspca.certificate import Certificate
from nspca.problem import Problem

DIGITS = 12
"""Binary digits of a W entry of usual size. Rounding moves the bound by about ``2**-DIGITS`` of what W
carries: a few millionths.
"""


def lean(problem: Problem, certificate: Certificate, digits: int = DIGITS) -> Certificate:
    """A certificate of the same problem with a W that is stored in a fraction of the bytes; itself where
    there is none to round.

    Whatever W is, the inequality holds for it: nothing of the first proof is believed, and the bound may end
    a little above or below.

    Parameters
    ----------
    problem : Problem
        The one that the certificate is about.
    certificate : Certificate
    digits : int
    """
    W = certificate.witness.get("W")
    single = certificate.form == "inequality" and "M" not in certificate.witness
    if W is None or not (single or certificate.form == "joint"):
        return certificate
    W, rows = rounded((W + W.T) / 2, digits), certificate.witness.get("rows")
    kept = _rows_of(problem, certificate)
    if kept is None or (rows is not None and not np.array_equal(kept.features, rows)):  # ties at the level
        return certificate
    if "prices" in certificate.witness:
        M, (L, prices) = (
            certificate.witness.get("M"),
            (certificate.witness[name] for name in ("lift", "prices")),
        )
        packed = packing.Packed(W, None if M is None else rounded(M, digits), L, prices)
        return packing.of_numbers(problem, kept, packed) or certificate
    if certificate.form == "joint":
        return kyfan.of_weights(problem, kept, W)
    proved, _ = witness.certificate(
        problem, kept, witness.Witness(W, None, certificate.witness.get("U")), kind=certificate.kind
    )
    return proved


def _rows_of(problem: Problem, certificate: Certificate) -> Kept | None:
    """Return the rows that a certificate keeps; None where its weights cannot be used again."""
    witness = certificate.witness
    if "rows" not in witness:
        return elimination.all_rows(problem)
    if "y" not in witness:
        return elimination.keep(problem, len(witness["rows"]))
    tau, t = float(witness["tau"][0]), float(witness["claims"][0])
    return core.with_weights(problem, witness["rows"], tau, t, witness["y"])
