"""Specs about a known component: a check of its certificate, the features that every good answer has, and all
other good answers; with what searches for a proof share.

Pages ask them about the component that they show.
"""

import math
import time
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field as Limits
from pydantic import StrictInt

from nspca.api import certify, solve
from nspca.certificate import Certificate
from nspca.errors import CertificateError, InvalidOption
from nspca.presentation.phrases import listed, things
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.proving import certified
from nspca.result import Result, Status
from nspca.selection.answers import Answers, answers
from nspca.selection.membership import Membership, membership
from nspca.specs.question import JsonSpec, ProblemSpec, Whole
from nspca.specs.rows import Closer, pack
from nspca.validation import address
from nspca.validation.model import Option, Required
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


def known_result(problem: Problem, component: Any, report: Report, method: str = "auto") -> Result:
    """Return the result of a known component, or of a search by `method` when it is None."""
    if component is None:
        return solve(problem, method, certify=None, report=report)
    return Result.of(problem, component, Status.HEURISTIC, "known")


SHARE = 990
"""Default share of the optimum from which an answer counts as good, in thousandths."""
SECONDS = 600
"""Default maximum seconds of the search for all good answers."""


def within_words(per_cent: float) -> str:
    """Return a phrase about the distance of a good answer from the best."""
    return f"within {per_cent:g} % of the best" if per_cent else "margin"


class KnownSpec(ProblemSpec):
    """Base of specs about one component that is known, or found by the method "auto", and its certificate."""

    k: Annotated[Whole, Option("Features", "k", address.INTEGER, say="")]

    def run(
        self, report: Report = silent, X: Any = None, component: Any = None, certificate: bytes | None = None
    ) -> Any:
        """Return the answer about a known component (n,), which may have a certificate.

        By default the source in `data` is opened, and the method "auto" finds a component.
        """
        problem = self.problem(X, report)
        result = known_result(problem, component, report)
        if certificate is not None:
            result = certified(problem, result, Certificate.from_bytes(certificate))
        return self.answer(problem, result, report)

    def answer(self, problem: Problem, result: Result, report: Report) -> Any:
        """Return the answer about a result, which has a certificate if one is known."""
        raise NotImplementedError


class MembershipSpec(KnownSpec):
    """Spec that finds which features are in every answer near the optimum, and which in none."""

    kind: ClassVar[str] = "membership"

    within: Annotated[
        StrictInt,
        Limits(ge=1, le=1000),
        Option("Within", "within", address.INTEGER, say=lambda part: within_words(part / 10), always=True),
    ] = SHARE
    """Share of the optimum from which an answer counts as good, in thousandths."""

    @property
    def question(self) -> str:
        return f"features in or out, k = {self.k}"

    def answer(self, problem: Problem, result: Result, report: Report) -> Membership:
        proof = result.certificate or certify(problem, result, report=report)
        return membership(problem, result, proof, self.within / 1000, report=report)

    unpack: ClassVar = staticmethod(Membership.from_bytes)

    def python(self, **shown: Any) -> list[str]:
        return [
            "result = nspca.solve(problem)",
            f"known = nspca.membership(problem, result, share={self.within / 1000!r})",
            "print(known.frame.to_string(float_format=str))  # every digit: a bound is not rounded",
        ]


class AnswersSpec(KnownSpec):
    """Spec that lists the sets of features which explain nearly as much as the best, and proves the list."""

    kind: ClassVar[str] = "answers"

    within: Annotated[
        StrictInt,
        Limits(ge=0, le=50_000),
        Option("Within", "within", address.INTEGER, say=lambda part: within_words(part / 1000), always=True),
    ] = 100
    """A set is good if it explains less than the best by fewer parts in a hundred thousand than this. 0 asks
    for the margin alone: how much less every other set explains."""
    most: Whole = 1000
    """Number of sets from which the level is raised."""
    seconds: Annotated[StrictInt, Limits(ge=0)] = SECONDS
    """Maximum seconds of the search."""

    @property
    def question(self) -> str:
        return f"all good answers, k = {self.k}"

    def answer(self, problem: Problem, result: Result, report: Report) -> Answers:
        within = self.within / 100_000 or None
        return answers(problem, result, within, self.most, self.seconds, report=report)

    unpack: ClassVar = staticmethod(Answers.from_bytes)

    def python(self, **shown: Any) -> list[str]:
        within = self.within / 100_000 or None
        return [
            "result = nspca.solve(problem)",
            f"known = nspca.answers(problem, result, within={within!r}, most={self.most}, "
            f"seconds={self.seconds})",
            "print(known.statement)",
            "print(known.frame.to_string(float_format=str))",
            "print(nspca.verify(X, known.certificate, problem))  # the bound on all others, proved again",
        ]
