"""Spec of all good answers: every smallest set of features near the optimum, and that there are no others.

The page Sweep asks it about the component that it shows.
"""

from typing import Annotated, Any, ClassVar

from pydantic import Field as Limits
from pydantic import StrictInt

from nspca.progress import Report, silent
from nspca.selection.answers import Answers, answers
from nspca.specs.base import Description
from nspca.specs.membership import KnownSpec
from nspca.specs.question import Whole
from nspca.validation import address
from nspca.validation.model import Option

SECONDS = 600
"""Default maximum seconds of a search."""


class AnswersSpec(KnownSpec):
    """Spec that lists the sets of features that explain nearly as much as the best one, and proves the list.

    Parameters
    ----------
    k : int
    within : int
        A set is good if it explains less than the best by fewer parts in a hundred thousand than this. 0 asks
        for the margin alone: how much less every other set explains.
    most : int
        Number of sets from which the level is raised.
    seconds : int
        Maximum seconds of the search.

    The other parameters are those of `ProblemSpec`.
    """

    kind: ClassVar[str] = "answers"

    within: Annotated[
        StrictInt,
        Limits(ge=0, le=50_000),
        Option(
            "Within",
            "within",
            address.INTEGER,
            say=lambda value: f"within {value / 1000:g} % of the best" if value else "margin",
            always=True,
        ),
    ] = 100
    most: Whole = 1000
    seconds: Annotated[StrictInt, Limits(ge=0)] = SECONDS

    def describe(self) -> Description:
        return Description(self.data.title, f"all good answers, k = {self.k}", self.details())

    def run(
        self, report: Report = silent, X: Any = None, component: Any = None, certificate: bytes | None = None
    ) -> Answers:
        """Return the `nspca.Answers`; the arguments are those of `known`."""
        problem, result = self.known(report, X, component, certificate)
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
