"""A certificate: an upper bound on the unknown optimum, with the witness that lets anybody re-prove it from the data."""

import io
import json
import math
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np

from nspca.errors import CertificateError
from nspca.problem import Problem

VERSION = 1
ROUNDING = 1e-12
"""A value may exceed a bound by this much, relatively, through rounding alone; more is a bug that must be seen."""

KINDS = {
    "B0": "elementary bound (leading eigenvalue, variances or rows)",
    "B2": "rank-d optimum plus the next eigenvalue (Asteris et al. 2014)",
    "B3": "shifted rank-d optimum",
    "B4": "threshold dual",
    "B5": "one-sided dual",
    "B6": "lifted dual",
    "B7": "row-cut dual",
    "B8": "search over supports",
    "B9": "lifted dual with row cuts",
    "J": "joint dual (Ky Fan)",
}
"""What proved the bound, in words."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """Upper bound on the optimum of one problem, with everything `nspca.verify` needs besides the data.

    Attributes
    ----------
    kind : str
        Key of `KINDS`.
    form : str
        "inequality", "branches", "diagonal", "row" or "joint": which formula `verify` evaluates.
    upper : float
        The proved bound, in the units of the data.
    k, nonneg, source, center, scale, shape, digest, exponent
        The recipe: which problem of which data, see `nspca.covariance`.
    probability : float
        Chance that the bound is wrong; 0 = certain.
    witness : dict of ndarray
    """

    kind: str
    form: str
    upper: float
    k: int | tuple[int, ...]
    nonneg: bool
    source: str
    center: bool
    scale: bool
    shape: tuple[int, int]
    digest: str
    exponent: int
    probability: float = 0.0
    version: int = VERSION
    witness: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, problem: Problem, kind: str, form: str, upper: float, witness=None, probability: float = 0.0) -> "Certificate":
        """Certificate of `problem` with `upper` in unit scale, rounded up on the way to the units of the data."""
        A = problem.covariance
        recipe = {"source": A.source, "center": A.center, "scale": A.scale, "shape": A.shape, "digest": A.digest, "exponent": A.exponent}
        upper = math.nextafter(upper, math.inf) * A.unit if upper > 0 else 0.0
        return cls(kind, form, upper, problem.k, problem.nonneg, probability=probability, witness=dict(witness or {}), **recipe)

    def ratio(self, value: float) -> float:
        """Proved fraction ``value / upper`` of the optimum, rounded down; 1 when both are zero.

        Raises
        ------
        CertificateError
            When `value` lies above the bound by more than rounding: then one of the two is wrong.
        """
        if value > self.upper * (1 + ROUNDING):
            raise CertificateError(f"a bound must not lie below a value that was reached, got upper {self.upper!r} and value {value!r}")
        return math.nextafter(value / self.upper, 0.0) if value < self.upper else 1.0

    @property
    def summary(self) -> str:
        """Who proved the bound, in words."""
        return KINDS.get(self.kind, self.kind)

    @property
    def nbytes(self) -> int:
        """Size of the witness in bytes."""
        return sum(array.nbytes for array in self.witness.values())

    def to_bytes(self) -> bytes:
        """The certificate file: npz, no pickle."""
        header = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "witness"}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, header=np.array(json.dumps(header)), **{f"witness_{name}": a for name, a in self.witness.items()})
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Certificate":
        """Read what `to_bytes` wrote; anything else raises `CertificateError`. Nothing is believed before `verify`."""
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                header = json.loads(str(file["header"]))
                witness = {name.removeprefix("witness_"): file[name] for name in file.files if name != "header"}
            names = {f.name for f in fields(cls)} - {"witness"}
            if set(header) != names:
                raise KeyError(f"header fields {sorted(set(header) ^ names)}")
            header["shape"] = tuple(header["shape"])
            header["k"] = tuple(header["k"]) if isinstance(header["k"], list) else header["k"]
            return cls(**header, witness=witness)
        except Exception as error:  # a damaged file can fail anywhere inside zip, npy or JSON parsing
            raise CertificateError(f"a certificate file must be an unchanged .npz written by save, got {error}; save it again") from error

    def save(self, path) -> None:
        """Write the certificate to one file."""
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path) -> "Certificate":
        """Read a file written by `save`."""
        return cls.from_bytes(Path(path).read_bytes())
