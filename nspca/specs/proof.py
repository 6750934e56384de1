"""Spec of an independent check of a certificate, and what searches for a proof share.

Pages ask it about a component that they show.
"""

import math
import time
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field as Limits

from nspca.api import solve
from nspca.certificate import Certificate
from nspca.errors import CertificateError, InvalidOption
from nspca.presentation.phrases import listed, things
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.result import Result, Status
from nspca.specs.question import JsonSpec, ProblemSpec, Whole
from nspca.specs.rows import Closer, pack
from nspca.validation.model import Required
from nspca.verifying import verify

Sparsity = Annotated[
    Whole | Annotated[tuple[Whole, ...], Limits(min_length=1)],
    Limits(description="Features of one component, or the sizes of several."),
    Required(
        "a whole number of at least 1, or a list of such sizes, one for each of several components",
        "write 3 for one component of 3 features, and [3, 3] for two",
    ),
]


def sparsity_words(k: int | tuple[int, ...]) -> str:
    """Return ``k = 15``, ``8 components of 15`` or ``3 components of 15, 15 and 10``."""
    if isinstance(k, int):
        return f"k = {k}"
    sizes = k[:1] if len(set(k)) == 1 else k
    return f"{things(len(k), 'component')} of {listed(list(map(str, sizes)))}"


class CheckSpec(JsonSpec, ProblemSpec):
    """An independent check of a certificate, which is given to `run`."""

    kind: ClassVar[str] = "check"

    k: Sparsity
    source: Literal["data", "covariance"] = "data"
    """Input of the certified problem."""

    @property
    def question(self) -> str:
        return f"check of a proof, {sparsity_words(self.k)}"

    def run(self, report: Report = silent, X: Any = None, certificate: bytes | None = None) -> dict[str, Any]:
        """Return ``upper``, ``seconds`` and ``refusal`` (the reason, or an empty text) of the check."""
        if certificate is None:
            raise InvalidOption("a check needs a certificate, got none; use `python -m nspca verify`")
        X = self.open() if X is None else X
        report(Event("verify"))
        started = time.perf_counter()
        about = {name: getattr(self, name) for name in ("k", "nonneg", "center", "scale", "source", "forced")}
        try:
            upper = verify(X, Certificate.from_bytes(certificate), **about)
            said: dict[str, Any] = {"upper": upper, "refusal": ""}
        except CertificateError as error:
            said = {"upper": None, "refusal": str(error)}
        return {**said, "seconds": time.perf_counter() - started}

    def python(self, **shown: Any) -> list[str]:
        return ['print(nspca.verify(X, nspca.Certificate.load("certificate.npz"), problem))']


class Closing:
    """A report hook that adds a `Closer` row where the bound has become smaller or an effort begins.

    `report` gets the changed events. `lower` is the value of the known answer, and `effort` the present
    effort of the search.
    """

    def __init__(self, report: Report, lower: float, effort: str = "") -> None:
        self.report, self.lower, self.upper, self.effort = report, lower, math.inf, effort
        self.started = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    def begin(self, effort: str) -> None:
        """Begin another effort, and report a row that names it, since its first bound may take minutes."""
        self.effort = effort
        if not math.isinf(self.upper):
            self.report(Event("certificate", lower=self.lower, upper=self.upper, payload=self.row()))

    def row(self) -> dict[str, Any]:
        """Return a `Closer` row with the present bounds."""
        return pack(Closer(self.seconds, self.lower, self.upper, self.effort))

    def __call__(self, event: Event) -> None:
        """Take an event of the search, and report it with the bounds."""
        if event.upper is not None and event.upper < self.upper:
            self.upper = event.upper
            event = replace(event, payload={**event.payload, **self.row()})
        self.report(replace(event, lower=self.lower, upper=None if math.isinf(self.upper) else self.upper))


def known_result(problem: Problem, component: Any, report: Report = silent, method: str = "auto") -> Result:
    """Return the result of a known component, or of a search by `method` when it is None."""
    if component is None:
        return solve(problem, method, certify=None, report=report)
    return Result.of(problem, component, Status.HEURISTIC, "known")
