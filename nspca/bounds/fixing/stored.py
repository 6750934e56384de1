"""Store witnesses with few binary digits, so that thousands fit into one certificate file.

Nodes of a tree hold their witnesses as `Stored`, and `arrays` writes these into a certificate. `scripts.lean`
rounds the W and M of finished certificates by `rounded`. Bounds are proved after rounding.
"""

from dataclasses import dataclass

import numpy as np

from nspca.bounds.witness import Witness
from nspca.covariance.linalg import Array

DIGITS = 16
"""Binary digits kept of a typical entry of W or M. Rounding changes a bound by about 1e-7, relatively."""
SINGLE = float(np.finfo(np.float32).max)
"""Largest finite number in single precision."""


@dataclass(frozen=True, eq=False)
class Stored:
    """Witness W, M and U on some features in single precision. Bounds are proved for the rounded numbers.

    Attributes
    ----------
    rows : (r,) int64
        Numbers of the features, increasing.
    W : (r, r) float32, symmetric
    M : (r, r) float32 or None
    U : (r, d) float32
    """

    rows: np.ndarray
    W: np.ndarray
    M: np.ndarray | None
    U: np.ndarray

    @classmethod
    def of(cls, features: np.ndarray, witness: Witness) -> "Stored | None":
        """Return a witness on `features` (r,), in any order, rounded; None if single precision overflows."""
        order, r = np.argsort(features, kind="stable"), len(features)
        at = np.ix_(order, order)
        W = np.zeros((r, r)) if witness.W is None or not r else (witness.W + witness.W.T) / 2
        W = rounded(W, DIGITS)[at] if r else W
        M = None if witness.M is None or not r else rounded(witness.M, DIGITS)[at]
        U = np.zeros((r, 0)) if witness.U is None else witness.U[order]
        if not all(part is None or np.abs(part).max(initial=0.0) < SINGLE for part in (W, M, U)):
            return None
        single = (None if part is None else part.astype(np.float32) for part in (W, M, U))
        return cls(features[order], *single)  # type: ignore[arg-type]  # W and U are never None

    def at(self, features: np.ndarray) -> Witness:
        """Return the witness in double precision on `features`, some of its rows, in the given order."""
        at = np.searchsorted(self.rows, features)
        block = np.ix_(at, at)
        M = None if self.M is None else self.M[block].astype(np.float64)
        return Witness(self.W[block].astype(np.float64), M, self.U[at].astype(np.float64))

    def covering(self, features: np.ndarray) -> "Stored":
        """Return a witness whose rows include `features`, with zeros on rows that this witness lacks."""
        rows = np.union1d(self.rows, features)
        if rows.size == self.rows.size:
            return self
        at, r = np.searchsorted(rows, self.rows), rows.size
        W, U = np.zeros((r, r), np.float32), np.zeros((r, self.U.shape[1]), np.float32)
        W[np.ix_(at, at)], U[at] = self.W, self.U
        M = None if self.M is None else np.zeros((r, r), np.float32)
        if M is not None:
            M[np.ix_(at, at)] = self.M
        return Stored(rows, W, M, U)

    def equals(self, other: "Stored") -> bool:
        """Tell whether another witness has the same rows and numbers."""
        parts = ("rows", "U", "M", "W")
        return self is other or all(
            np.array_equal(getattr(self, part), getattr(other, part)) for part in parts
        )

    @property
    def nbytes(self) -> int:
        """Number of bytes that the witness takes in a certificate, which holds one triangle of W."""
        r = len(self.rows)
        return 8 * r + 2 * r * (r + 1) + (0 if self.M is None else self.M.nbytes) + self.U.nbytes


def none(features: np.ndarray) -> Witness:
    """Return the witness with W = M = 0 and a U without columns, on `features` (r,)."""
    return Witness(U=np.zeros((len(features), 0)))


def rounded(W: Array, digits: int) -> Array:
    """Return W rounded to a power of two that is 4 to 8 times ``2**-digits`` of its root mean square."""
    size = float(np.sqrt(np.mean(W * W)))
    if size == 0.0:
        return W
    step = 2.0 ** (np.ceil(np.log2(size)) + 2 - digits)
    return np.round(W / step) * step
