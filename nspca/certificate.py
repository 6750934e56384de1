"""Certificates: an upper bound on the unknown optimum, with the witness by which anybody can verify it.

Bounds make a `Certificate` by `Certificate.of`. Results hold one, and `nspca.verify` checks it.
"""

import json
import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from nspca.errors import CertificateError, InvalidProblem, shown
from nspca.presentation import phrases
from nspca.presentation.numerals import proved_ratio, round_up
from nspca.problem import Problem
from nspca.validation.archive import MAX_BYTES, read_arrays, write_arrays
from nspca.validation.options import check_whole, is_number

VERSION = 1
"""Version of the certificate format, which `nspca.verify` requires."""
ROUNDING = 1e-12
"""Relative excess of a value over a bound that rounding explains; a larger excess is reported as an error."""

UNPACKED = 1032
"""Bytes that a byte of a file may unpack to. Compression reaches no more, so files beyond it repeat parts."""

KINDS = {
    "A": "list of good answers",
    "B0": "elementary bound (leading eigenvalue or variances)",
    "B2": "rank-d optimum plus the next eigenvalue (Asteris et al. 2014)",
    "B3": "shifted rank-d optimum",
    "B4": "threshold dual",
    "B5": "one-sided dual",
    "B6": "lifted dual",
    "B7": "row-cut dual",
    "B8": "search over supports",
    "B9": "lifted dual with row cuts",
    "BS": "lifted dual with row cuts and scales",
    "J": "joint dual (Ky Fan)",
    "J8": "search over disjoint supports with prices",
    "JP": "lifted joint dual with prices",
}
"""Description of each kind of bound."""

ANSWERS, OTHERS = "answers", "others"
"""Forms of a certificate that lists good answers, and one answer of several components. They bound all
others, and not the optimum.
"""
TREES = frozenset({"fixing", "packing"})
"""Forms whose witness is the tree of a search, for one component or for several."""
OPTIONAL = frozenset({"prepared", "forced", "shift", "weights"})
"""Fields that a file may leave out: their absence means none, or 0."""
OF_DATA = ("source", "center", "scale", "shape", "digest", "weights", "exponent", "shift")
"""Fields that a certificate has from the covariance of its problem."""
PARTS = frozenset({"witness", "unfinished"})
"""Attributes that are arrays: in a file they stand beside the header."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """Upper bound on the optimum of one problem, with everything that `nspca.verify` needs besides the data.

    Attributes
    ----------
    kind : str
        Key of `KINDS`.
    form : str
        "inequality", "fixing", "answers", "diagonal", "joint", "packing" or "others": which formula
        `verify` evaluates.
    upper : float
        The proved bound, in the units of the data. Those of forms "answers" and "others" are no bounds on the
        optimum: they are about components that do not use all features of a listed set.
    k, nonneg, source, center, scale, shape, digest, exponent, forced
        The problem and its data; see `nspca.covariance.covariance.Covariance`. `forced` are features, in
        increasing order, that may be used freely and count among the k.
    shift : float
        Number added to the diagonal of a covariance, in the unit scale, for the witness to be about. The
        bound has its effect subtracted and is about the matrix as given.
    weights : str
        Content hash of the weights of the samples, which the bound is about; empty where they have none.
    prepared : tuple of str
        Steps of `nspca.data.prepare`, or the sketch, that made the data from others. They are no part of the
        proof, because the digest is that of the prepared data.
    witness : dict of ndarray
    unfinished : dict of ndarray
        Arrays of form "fixing", for several components "packing": the tree of a search that proves less than
        `upper` so far and can go on. Empty where there is none. It is no part of the proof.
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
    version: int = VERSION
    prepared: tuple[str, ...] = ()
    forced: tuple[int, ...] = ()
    shift: float = 0.0
    weights: str = ""
    witness: dict[str, np.ndarray] = field(default_factory=dict)
    unfinished: dict[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        problem: Problem,
        kind: str,
        form: str,
        upper: float,
        witness: dict[str, np.ndarray] | None = None,
    ) -> "Certificate":
        """Return the certificate for a bound `upper` in unit scale, rounded up in data units."""
        A = problem.covariance
        recipe: dict[str, Any] = {name: getattr(A, name) for name in OF_DATA} | {"forced": problem.forced}
        if A.shift:
            upper = _relieved(upper, len(problem.sizes) * A.relief)
        upper = _scaled_up(math.nextafter(upper, math.inf), A.exponent) if upper > 0 else 0.0
        return cls(kind, form, upper, problem.k, problem.nonneg, witness=dict(witness or {}), **recipe)

    def __post_init__(self) -> None:
        """Refuse fields of the recipe that do not have their declared types; nothing is converted."""
        if wrong := _wrong(self):
            raise CertificateError(
                f"a certificate must have the words of its recipe in their types, got {wrong}; make it again"
            )

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the k of every component the bound is about; for one component, a tuple of one."""
        return self.k if isinstance(self.k, tuple) else (self.k,)

    def ratio(self, value: float) -> float:
        """Return the proved fraction ``value / upper`` of the optimum, rounded down; 1 when both are zero.

        Raises
        ------
        CertificateError
            When `value` is no finite number, or exceeds the bound by more than rounding, so that one of the
            two is wrong.
        """
        if not _finite(value):
            raise CertificateError(f"a value that was reached must be a finite number, got {shown(value)}")
        if value > self.upper * (1 + ROUNDING):
            raise CertificateError(
                f"a bound must not lie below a value that was reached, got upper {self.upper!r} and value "
                f"{value!r}"
            )
        return proved_ratio(value, self.upper)

    @property
    def summary(self) -> str:
        """Return the description of the kind of bound, for those in `KINDS`."""
        return KINDS.get(self.kind, "unknown here")

    @property
    def label(self) -> str:
        """Return the kind of bound, such as "B8"; one that is not in `KINDS` is quoted as the file's word."""
        return self.kind if self.kind in KINDS else f"a kind that the file calls {phrases.quoted(self.kind)}"

    @property
    def statement(self) -> str:
        """Return in one sentence what the certificate proves; forced features are counted from 1."""
        return self.stated()

    def stated(self, names: Sequence[str] | None = None) -> str:
        """Return the statement of the certificate with features by their `names`."""
        who = phrases.components(self.sizes, self.nonneg, self.forced, self.subject, names)
        if self.form == ANSWERS:
            sets = phrases.things(len(self.witness.get("counts", ())), "listed set")
            who += f", unless it uses all features of one of {sets},"
        if self.form == OTHERS:
            who += ", unless they use all features of the listed sets,"
        explain = "together explain" if len(self.sizes) > 1 else "explains"
        return f"no {who} {explain} more than {float(self.upper)!r}"

    def __repr__(self) -> str:
        """Describe the bound and its data in two lines."""
        m, n = self.shape
        what = f"a covariance of {n} features" if self.source == "covariance" else f"{m} x {n} data"
        return (
            f"Certificate ({self.label}, {self.summary}): {self.rounded(6).statement}\n"
            f"of {what}, digest {phrases.short(self.digest)[:12]}; nspca.verify(data, certificate) checks it"
        )

    def rounded(self, digits: int) -> "Certificate":
        """Return the certificate with its bound rounded up to `digits` digits, so that it still holds."""
        check_whole("digits", digits, 1, 17)
        return replace(self, upper=round_up(self.upper, int(digits)))

    @property
    def subject(self) -> str:
        """Return the name of the matrix or data: ``the centred data``, ``the covariance``, ..."""
        return phrases.subject(self.source, self.center, self.scale, self.prepared, bool(self.weights))

    @property
    def of_features(self) -> bool:
        """Tell whether the certificate also bounds, for every feature, answers with it and without it."""
        return "having" in self.witness and "lacking" in self.witness

    def of_prepared(self, steps: Iterable[str]) -> "Certificate":
        """Return the certificate with the names of the preparation `steps` of the data."""
        return replace(self, prepared=tuple(steps))

    @property
    def tree(self) -> dict[str, np.ndarray] | None:
        """Return the arrays of the tree that a search can go on from; None where there is none."""
        return self.unfinished or (self.witness if self.form in TREES else None)

    def with_unfinished(self, tree: dict[str, np.ndarray] | None) -> "Certificate":
        """Return the certificate with a tree that a search can go on from, or without one."""
        return replace(self, unfinished={} if tree is None or tree is self.witness else tree)

    @property
    def nbytes(self) -> int:
        """Return the size of the witness, and of an unfinished tree, in bytes."""
        return sum(array.nbytes for part in (self.witness, self.unfinished) for array in part.values())

    def to_bytes(self) -> bytes:
        """Return the certificate file: npz without pickle."""
        header = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in PARTS}
        return write_arrays(
            {"header": np.array(json.dumps(header))}
            | {f"witness_{name}": a for name, a in _halved(self.witness).items()}
            | {f"unfinished_{name}": a for name, a in self.unfinished.items()}
        )

    @classmethod
    def from_bytes(cls, content: bytes) -> "Certificate":
        """Read what `to_bytes` wrote, else raise `CertificateError`; nothing is trusted before `verify`."""
        try:
            arrays = read_arrays(content, most=min(MAX_BYTES, 2**20 + UNPACKED * len(content)))
            header = json.loads(str(arrays.pop("header")), object_pairs_hook=_each_once)
            parts: dict[str, dict[str, np.ndarray]] = {part: {} for part in PARTS}
            for name, array in arrays.items():
                part, _, own = name.partition("_")
                parts[part][own] = array
            witness, unfinished = _mirrored(parts["witness"]), parts["unfinished"]
            names = {f.name for f in fields(cls)} - PARTS
            wrong = (set(header) ^ names) - (OPTIONAL - set(header))
            if wrong:
                raise KeyError(f"header fields {sorted(wrong)}")
            for name in {"prepared", "forced", "shape"} & set(header):
                header[name] = tuple(header[name])
            header["k"] = tuple(header["k"]) if isinstance(header["k"], list) else header["k"]
            return cls(**header, witness=witness, unfinished=unfinished)
        except CertificateError:
            raise
        except Exception as error:  # a damaged file can fail anywhere inside zip, npy or JSON parsing
            raise CertificateError(
                "a certificate file must be an unchanged .npz written by save, got one that cannot be read "
                f"({str(error).rstrip('.')}); save it again"
            ) from error

    def save(self, path: str | Path) -> None:
        """Write the certificate to one file."""
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> "Certificate":
        """Read a file written by `save`."""
        return cls.from_bytes(Path(path).read_bytes())


def difference(problem: Problem, certificate: Certificate) -> tuple[str, Any] | None:
    """Return the first property in which a certificate is about another problem, with the value of `problem`.

    None means that the certificate is about this very problem, and bounds its optimum.
    """
    if certificate.form in (ANSWERS, OTHERS):
        return "form", "one that bounds the optimum"
    if certificate.sizes != problem.sizes:  # one component may be stated as a list of one size
        return "k", problem.k
    about = {"nonneg": problem.nonneg, "forced": problem.forced}
    about |= {name: getattr(problem.covariance, name) for name in OF_DATA}
    return next((pair for pair in about.items() if getattr(certificate, pair[0]) != pair[1]), None)


def require_about(problem: Problem, certificate: Certificate) -> None:
    """Refuse a certificate that is about another problem or other data."""
    if not isinstance(certificate, Certificate):
        raise InvalidProblem(f"a Certificate is required, got {type(certificate).__name__}; leave it out")
    other = difference(problem, certificate)
    if other is not None:
        got = f"{shown(getattr(certificate, other[0]))} instead of {shown(other[1])}"
        raise InvalidProblem(
            f"the certificate must be about the same problem, got one whose {other[0]} is {got}; leave it out"
        )


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the fields of a JSON object, of which another reader would take the first where two agree."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a field of the header is there twice")
    return dict(pairs)


HALF = "W_upper"
"""Name in a file of the upper triangle of a symmetric W; the other half is stored as 0."""


def _halved(witness: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return a witness as it is stored: of a symmetric W the upper triangle, as zeros compress well."""
    W = np.asarray(witness.get("W", np.zeros(0)))
    if W.ndim != 2 or W.shape[0] != W.shape[1] or not np.array_equal(W, W.T):
        return witness
    return {HALF if name == "W" else name: np.triu(W) if name == "W" else a for name, a in witness.items()}


def _mirrored(witness: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return a stored witness with the symmetric W restored, the inverse of `_halved`."""
    if HALF not in witness or "W" in witness:
        return witness
    upper = witness[HALF]
    if upper.shape != 2 * upper.shape[:1]:  # NumPy would blow up a single row or column to a square
        raise ValueError(f"{HALF} must be square, got {upper.shape}")
    whole = np.where(np.tri(len(upper), dtype=bool), upper.T, upper)
    return {"W" if name == HALF else name: whole if name == HALF else a for name, a in witness.items()}


def _relieved(upper: float, relief: float) -> float:
    """Return ``upper - relief``, rounded up."""
    found = upper - relief
    return found if Fraction(found) >= Fraction(upper) - Fraction(relief) else math.nextafter(found, math.inf)


def _scaled_up(upper: float, exponent: int) -> float:
    """Return ``upper * 2**exponent``, rounded up where the product falls below the normal numbers."""
    scaled = math.ldexp(upper, exponent)
    is_enough = Fraction(scaled) >= Fraction(upper) * Fraction(2) ** exponent
    return scaled if is_enough else math.nextafter(scaled, math.inf)


def _finite(number: Any) -> bool:
    return is_number(number) and -sys.float_info.max <= number <= sys.float_info.max


def _whole(number: Any) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)


def _all_whole(many: Any) -> bool:
    return isinstance(many, tuple) and all(map(_whole, many))


TYPES: tuple[tuple[tuple[str, ...], str, Callable[[Any], bool]], ...] = (
    (("nonneg", "center", "scale"), "which is not true or false", lambda value: isinstance(value, bool)),
    (
        ("kind", "form", "source", "digest", "weights"),
        "which is not text",
        lambda value: isinstance(value, str),
    ),
    (("k",), "not of whole numbers", lambda value: _whole(value) or _all_whole(value)),
    (("shape",), "not of two whole numbers", lambda value: _all_whole(value) and len(value) == 2),
    (("forced",), "not of whole numbers", _all_whole),
    (("exponent", "version"), "not of whole numbers", _whole),
    (
        ("upper", "shift"),
        "which is no finite number",
        lambda value: isinstance(value, float | int) and _finite(value),
    ),
    (
        ("prepared",),
        "which is not of texts",
        lambda value: isinstance(value, tuple) and all(isinstance(step, str) for step in value),
    ),
    (
        ("witness", "unfinished"),
        "which is no dict of arrays",
        lambda value: isinstance(value, dict) and all(isinstance(a, np.ndarray) for a in value.values()),
    ),
)
"""Fields of a certificate, what is said of a wrong value, and whether a value has the declared type."""


def _wrong(one: Certificate) -> str:
    for names, words, is_right in TYPES:
        for name in names:
            if not is_right(value := getattr(one, name)):
                return f"{name} = {shown(value)}, {words}"
    forced = one.forced
    if min(one.sizes, default=0) < 1:
        return f"k = {shown(one.k)}, which is no number of weights"
    increasing = list(forced) == sorted({*forced}) and min(forced, default=0) >= 0
    of_one = not isinstance(one.k, tuple) and len(forced) <= one.k
    if forced and not (increasing and of_one):
        return f"forced = {shown(forced)}, not features of one component in increasing order"
    return ""
