"""Specs about a known component: features in every good answer or in none, and all other good answers.

The page Sweep asks them about the component that it shows.
"""

from typing import Annotated, Any, ClassVar

from pydantic import Field as Limits
from pydantic import StrictInt

from nspca.api import certify
from nspca.certificate import Certificate
from nspca.problem import Problem
from nspca.progress import Report, silent
from nspca.proving import certified
from nspca.result import Result
from nspca.selection.answers import Answers, answers
from nspca.selection.membership import Membership, membership
from nspca.specs.proof import known_result
from nspca.specs.question import ProblemSpec, Whole
from nspca.validation import address
from nspca.validation.model import Option

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
