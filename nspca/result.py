"""Results of solvers: components, values recomputed from the data, and certificates; and sweeps of them.

Methods return a `Result` made by `Result.of`, and `nspca.sweep` returns a `Sweep`. Pages and files show both.
"""

import io
import json
import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from nspca.certificate import Certificate
from nspca.covariance.linalg import Array, oriented
from nspca.errors import Cancelled, CertificateError, InvalidData, InvalidProblem, NSPCAError
from nspca.presentation import drawing, phrases
from nspca.presentation.colours import BOUND, COLOURS
from nspca.presentation.numerals import format_guarantee, proof_phrase, ratio_at_most
from nspca.problem import Problem
from nspca.validation.archive import open_zip, read_arrays, unzip_member, write_arrays
from nspca.validation.features import Features

if TYPE_CHECKING:
    import pandas as pd


FIRST = 3
"""Number of weights named in the text of a result."""
DRAWN = 12
"""Maximum number of components drawn for a result."""


class Status(Enum):
    """Outcome of a run; the value of a member is advice to the user."""

    OPTIMAL = "Proved optimal: nothing better exists, up to rounding."
    WITHIN_TOLERANCE = "Optimal within the tolerance asked for; ask for a smaller one to close the rest."
    LIMIT = "Stopped at a limit: the bound is valid, and more cones, samples or time would tighten it."
    HEURISTIC = "A good component without a promise of its own; the certificate says how good at least."
    CANCELLED = "Cancelled: the best found so far."


@dataclass(frozen=True, eq=False)
class Result:
    """Components of a problem with their values, outcome and certificate.

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
    others : Certificate or None
        Proves how much less every answer explains that does not use all features of this one.
    seconds : float
    info : dict
        Plain numbers and strings the method reports: counts, gaps, guarantees.
    features : Features or None
        Names of the features and how they form an image, as the problem knows them; not stored by `to_bytes`.
    """

    components: Array
    values: Array
    status: Status
    method: str
    certificate: Certificate | None = None
    seconds: float = 0.0
    info: dict[str, Any] = field(default_factory=dict)
    features: Features | None = None
    others: Certificate | None = None

    def __post_init__(self) -> None:
        """Refuse components and values that are not finite numbers of matching shapes."""
        X, values = self.components, self.values
        numbers = all(
            isinstance(array, np.ndarray) and array.dtype.kind in "iuf" and np.isfinite(array).all()
            for array in (X, values)
        )
        if not numbers or X.ndim != 2 or values.shape != X.shape[1:]:
            kinds = " and ".join(
                f"{type(part).__name__} {getattr(part, 'shape', '')}".strip() for part in (X, values)
            )
            raise InvalidProblem(
                f"a result must have components (n, r) and r values, arrays of finite numbers, got {kinds}"
            )
        if not isinstance(self.certificate, Certificate | None):
            raise InvalidProblem(
                f"a result must have a Certificate or None, got {type(self.certificate).__name__}"
            )

    @classmethod
    def of(cls, problem: Problem, components: Array, status: Status, method: str, **info: Any) -> "Result":
        """Return a result with values recomputed from the data; `components` (n,) or (n, r).

        A component and its negative explain equal variance. For problems of any sign, the largest weight (the
        first of equal ones) is made positive.
        """
        X = components[:, None] if components.ndim == 1 else components
        X = X if problem.nonneg else oriented(X)
        values = np.array([problem.value(x) for x in X.T])
        return cls(X, values, status, method, info=info, features=problem.features)

    def __repr__(self) -> str:
        """Describe the components and the proved quality in two lines."""
        counts = tuple(np.count_nonzero(self.components, axis=0).tolist())
        if not counts:
            return f"Result of {self.method}: no components"
        n, many = len(self.components), "a component" if len(counts) == 1 else f"{len(counts)} components"
        first = ", ".join(f"{phrases.short(name)} {weight:+.3f}" for name, weight in self.weights(0)[:FIRST])
        more = ", ..." if counts[0] > FIRST or len(counts) > 1 else ""
        each = " each" if len(counts) > 1 and len(set(counts)) == 1 else ""
        return (
            f"Result of {self.method}: value {self.value:.6g}, {_quality(self)}\n"
            f"{many} of {n} features, {phrases.weights(counts)}{each}: {first}{more}"
            + (f"\n{self.alone}" if self.alone else "")
        )

    def _repr_html_(self) -> str:
        """Return a notebook view: components as images or bars, and the proved share of the optimum."""
        shape = None if self.features is None else self.features.image_shape
        ratio = _proved(self)
        drawn = []
        for number in range(min(self.components.shape[1], DRAWN)):
            weights, places = self.weights(number), self.support(number)
            drawn.append(drawing.bars(weights) if shape is None else drawing.pixels(weights, places, shape))
        return drawing.block(repr(self), [] if ratio is None else [drawing.gauge(ratio)], drawn)

    def support(self, number: int = 0) -> list[int]:
        """Return the features of a component, the largest weights first."""
        x = self.components[:, number]
        return np.argsort(-np.abs(x), kind="stable")[: np.count_nonzero(x)].tolist()

    def weights(self, number: int = 0) -> list[tuple[str, float]]:
        """Return the features of a component by name with their weights, largest first.

        Without names, features are counted from 1.

        Parameters
        ----------
        number : int
            Number of the component, from 0.
        """
        x = self.components[:, number]
        name = (lambda j: f"feature {j + 1}") if self.features is None else self.features.names.__getitem__
        return [(name(j), float(x[j])) for j in self.support(number)]

    @property
    def value(self) -> float:
        """Return the sum of the values."""
        return float(self.values.sum())

    @property
    def ratio(self) -> float | None:
        """Return the proved fraction of the optimum, rounded down; None without a certificate."""
        return None if self.certificate is None else self.certificate.ratio(self.value)

    @property
    def margin(self) -> float:
        """Return by how much less than the value every other answer explains, as a share of the value.

        0 where nothing is proved. An answer with all features that `others` lists, and more, is no other.
        """
        if self.others is None or not self.value > 0:
            return 0.0
        return max(0.0, 1 - ratio_at_most(self.others.upper, self.value))

    @property
    def alone(self) -> str:
        """Return the sentence about `margin`; empty where nothing is proved."""
        if self.others is None:
            return ""
        listed = np.union1d(self.others.witness["members"], self.others.forced)
        return phrases.unique(self.others.sizes, listed.size, self.others.upper, self.value)

    @property
    def statement(self) -> str:
        """Return in one or two sentences what is proved of the value, and of all other answers."""
        return f"Explains {self.value:.6g}, {_quality(self)}. {self.alone}".rstrip()

    def with_certificate(self, certificate: Certificate | None) -> "Result":
        """Return this result with another certificate and an unchanged status."""
        return replace(self, certificate=certificate)

    def to_bytes(self) -> bytes:
        """Return the result as one npz without pickle, for `from_bytes`."""
        header = {
            "status": self.status.name,
            "method": self.method,
            "seconds": self.seconds,
            "info": self.info,
        }
        arrays = {
            "header": np.array(json.dumps(header)),
            "components": self.components,
            "values": self.values,
        }
        for name in ("certificate", "others"):
            if (proof := getattr(self, name)) is not None:
                arrays[name] = np.frombuffer(proof.to_bytes(), dtype=np.uint8)
        return write_arrays(arrays)

    @classmethod
    def from_bytes(cls, content: bytes) -> "Result":
        """Read a result written by `to_bytes`."""
        try:
            arrays = read_arrays(content)
            header = json.loads(str(arrays["header"]))
            X, values = (np.asarray(arrays[name], dtype=np.float64) for name in ("components", "values"))
            proof, others = (
                Certificate.from_bytes(arrays[name].tobytes()) if name in arrays else None
                for name in ("certificate", "others")
            )
            status, info = Status[header["status"]], dict(header["info"])
            seconds = float(header["seconds"])
            return cls(X, values, status, str(header["method"]), proof, seconds, info, others=others)
        except (NSPCAError, KeyError, ValueError, TypeError, AttributeError) as error:
            raise InvalidData(
                f"a stored result must be bytes written by Result.to_bytes, got {error}; run it again"
            ) from error


def _proved(result: Result) -> float | None:
    """Return the proved fraction for display; None without a certificate, or with one below the value."""
    try:
        return result.ratio
    except CertificateError:
        return None


def _quality(result: Result) -> str:
    if result.certificate is None:
        return "no certificate"
    ratio = _proved(result)
    if ratio is None:
        return "with a certificate of less, so one of the two is wrong"
    return proof_phrase(ratio, result.certificate.label)


@contextmanager
def handing_in(result: Result) -> Iterator[None]:
    """Attach `result` to a `Cancelled` raised inside the context, with the certificate proved by then.

    A result that is already attached stays. Methods and `nspca.api` enter it around steps after the first
    answer.
    """
    try:
        yield
    except Cancelled as stop:
        proof = stop.best if isinstance(stop.best, Certificate) else None
        stop.result = stop.result or replace(result, status=Status.CANCELLED, certificate=proof)
        raise


PROOF = "proof-"
"""Start of the names of certificates in a stored sweep. Names of results have a slash."""
PLATEAU = 0.95
"""Share of the largest value above which a further feature gains little."""
COLUMNS = ("method", "k", "value", "upper", "ratio", "kind", "seconds")
"""Columns of `Sweep.frame`."""


def row_of(method: str, k: int, result: Result) -> dict[str, Any]:
    """Return one row of `Sweep.frame`; `upper`, `ratio` and `kind` are None without a certificate."""
    proof = result.certificate
    upper, ratio, kind = (None, None, None) if proof is None else (proof.upper, result.ratio, proof.kind)
    return dict(zip(COLUMNS, (method, int(k), result.value, upper, ratio, kind, result.seconds), strict=True))


class Sweep:
    """Results by method and k: ``sweep[method, k]`` is a Result, ``sweep.frame`` a row for each."""

    def __init__(self, results: dict[tuple[str, int], Result]) -> None:
        self.results = dict(results)

    def __getitem__(self, key: tuple[str, int]) -> Result:
        """Return the result of a (method, k)."""
        return self.results[key]

    def __iter__(self) -> Iterator[tuple[str, int]]:
        """Iterate over the pairs (method, k)."""
        return iter(self.results)

    def __len__(self) -> int:
        """Return the number of results."""
        return len(self.results)

    def __repr__(self) -> str:
        """Describe the methods, the values of k and the least proved quality in two lines."""
        ks = sorted({k for _, k in self.results})
        methods = list(dict.fromkeys(method for method, _ in self.results))
        if not ks:
            return "Sweep: nothing yet"
        proved = [ratio for ratio in map(_proved, self.results.values()) if ratio is not None]
        known = "no certificates"
        if proved:
            least = format_guarantee(min(proved))
            known = f"at least {least} of the best possible, proved, for {len(proved)} of them"
        at = f"k = {ks[0]}" if len(ks) == 1 else f"{len(ks)} k from {ks[0]} to {ks[-1]}"
        return f"Sweep: {', '.join(methods)} at {at}\n{len(self)} results, {known}"

    def _repr_html_(self) -> str:
        """Return a notebook view: value against k for each method, below the proved upper bounds."""
        if not self.results:
            return drawing.block(repr(self))
        values: dict[str, list[tuple[float, float]]] = {}
        bounds: dict[float, float] = {}
        for (method, k), result in sorted(self.results.items(), key=lambda one: one[0][1]):
            values.setdefault(method, []).append((k, result.value))
            if result.certificate is not None:
                bounds[k] = min(result.certificate.upper, bounds.get(k, math.inf))
        lines = [(method, line, COLOURS[i % len(COLOURS)]) for i, (method, line) in enumerate(values.items())]
        top = [("at most", sorted(bounds.items()), BOUND)] if bounds else []
        return drawing.block(repr(self), [drawing.curves([*top, *lines])])

    @property
    def frame(self) -> "pd.DataFrame":
        """Return a data frame with a row per method and k: method, k, value, upper, ratio, kind, seconds."""
        import pandas as pd  # slow to import, and needed only here

        rows = [row_of(method, k, result) for (method, k), result in self.results.items()]
        return pd.DataFrame(rows, columns=list(COLUMNS))

    def to_bytes(self) -> bytes:
        """Return one zip of `Result.to_bytes` in order, with every shared certificate stored once."""
        buffer = io.BytesIO()
        proofs = {id(r.certificate): r.certificate for r in self.results.values() if r.certificate}
        number = {key: i for i, key in enumerate(proofs)}
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
            for i, proof in enumerate(proofs.values()):
                archive.writestr(zipfile.ZipInfo(f"{PROOF}{i}"), proof.to_bytes())
            for (method, k), result in self.results.items():
                shared = "" if result.certificate is None else f"/{number[id(result.certificate)]}"
                archive.writestr(
                    zipfile.ZipInfo(f"{method}/{k}{shared}"), result.with_certificate(None).to_bytes()
                )
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Sweep":
        """Read a sweep written by `to_bytes`."""
        try:
            archive, members = open_zip(content, most=len(content))  # files in it are not compressed
            proofs, results = {}, {}
            for info in members:
                method, *key = info.filename.split("/")
                body = unzip_member(archive, info)
                if not key:
                    proofs[method] = Certificate.from_bytes(body)
                    continue
                k, *shared = key
                result = Result.from_bytes(body)
                results[method, int(k)] = (
                    result.with_certificate(proofs[f"{PROOF}{shared[0]}"]) if shared else result
                )
            return cls(results)
        except (NSPCAError, LookupError, ValueError, TypeError) as error:
            raise InvalidData(
                f"a stored sweep must be bytes written by Sweep.to_bytes, got {error}; run it again"
            ) from error


def knee(table: "Sweep | pd.DataFrame", share: float = PLATEAU) -> int:
    """Return the smallest k whose best value reaches `share` of the largest, for a sweep or a table.

    A table has columns `k` and `value`.
    """
    frame = table.frame if isinstance(table, Sweep) else table
    best = frame.groupby("k")["value"].max()
    return int(best.index[best >= share * best.max()].min())
