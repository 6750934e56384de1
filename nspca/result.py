"""What a solver returns: components with their values recomputed from the data, and what may be said of them."""

import io
import json
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np

from nspca.certificate import Certificate
from nspca.errors import InvalidData
from nspca.linalg import Array
from nspca.problem import Problem


class Status(Enum):
    """How a run ended; the value is the advice to the user."""

    OPTIMAL = "Proved optimal: nothing better exists, up to rounding."
    WITHIN_TOLERANCE = "Optimal within the tolerance asked for; ask for a smaller one to close the rest."
    LIMIT = "Stopped at a limit: the bound is valid, and more cones, samples or time would tighten it."
    HEURISTIC = "A good component without a promise of its own; the certificate says how good at least."
    CANCELLED = "Cancelled: the best found so far."


@dataclass(frozen=True, eq=False)
class Result:
    """Components of a problem.

    Attributes
    ----------
    components : (n, r) float64
        Unit columns, at most k nonzeros each.
    values : (r,) float64
        ``x'Ax`` of each column on the full A, in the units of the data.
    status : Status
    method : str
    certificate : Certificate or None
        A proved upper bound for one component (or the joint problem).
    seconds : float
    info : dict
        Plain numbers and strings the method reports: counts, gaps, guarantees.
    """

    components: Array
    values: Array
    status: Status
    method: str
    certificate: Certificate | None = None
    seconds: float = 0.0
    info: dict = field(default_factory=dict)

    @classmethod
    def of(cls, problem: Problem, components: Array, status: Status, method: str, **info) -> "Result":
        """Result with values recomputed from the data; `components` (n,) or (n, r)."""
        X = components[:, None] if components.ndim == 1 else components
        return cls(X, np.array([problem.value(x) for x in X.T]), status, method, info=info)

    @property
    def value(self) -> float:
        """Sum of the values."""
        return float(self.values.sum())

    @property
    def ratio(self) -> float | None:
        """Proved fraction of the optimum, rounded down; None without a certificate."""
        return None if self.certificate is None else self.certificate.ratio(self.value)

    def with_certificate(self, certificate: Certificate | None) -> "Result":
        return replace(self, certificate=certificate)

    def to_bytes(self) -> bytes:
        """One npz without pickle; `from_bytes` reads it."""
        header = {"status": self.status.name, "method": self.method, "seconds": self.seconds, "info": self.info}
        arrays = {"header": np.array(json.dumps(header)), "components": self.components, "values": self.values}
        if self.certificate is not None:
            arrays["certificate"] = np.frombuffer(self.certificate.to_bytes(), dtype=np.uint8)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Result":
        """Read what `to_bytes` wrote."""
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                proof = Certificate.from_bytes(file["certificate"].tobytes()) if "certificate" in file.files else None
                status = Status[header["status"]]
                return cls(file["components"], file["values"], status, header["method"], proof, header["seconds"], header["info"])
        except (KeyError, ValueError, OSError) as error:
            raise InvalidData(f"a stored result must be bytes written by Result.to_bytes, got {error}; run it again") from error
