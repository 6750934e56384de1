"""Specs of measurements for pages: variances of a folder, words of a sample.

The dashboard runs them in a worker where a page would have to wait. No visitor asks for them.
"""

from typing import Any, ClassVar

from pydantic import StrictBool

from nspca.data import load_sample
from nspca.problem import Problem
from nspca.progress import Report, silent
from nspca.specs.base import Description
from nspca.specs.data import DataSpec
from nspca.specs.question import JsonSpec

COUNTED = "python-docs"
"""Sample whose words are counted on this machine."""


class TableSpec(JsonSpec):
    """The variance of all rows of a folder of shards and, if `leading`, the leading eigenvalue."""

    kind: ClassVar[str] = "table"

    data: DataSpec
    center: StrictBool = True
    scale: StrictBool = False
    leading: StrictBool = True

    def describe(self) -> Description:
        return Description(self.data.title, "the variance of all rows")

    def run(self, report: Report = silent, *args: Any, **given: Any) -> dict[str, float | None]:
        """Return the ``total`` variance and the ``leading`` eigenvalue (None if `leading` is False)."""
        problem = Problem.from_shards(
            self.data.shards(), 1, center=self.center, scale=self.scale, report=report
        )
        leading = problem.leading_eigenvalue if self.leading else None
        return {"total": problem.total_variance, "leading": leading}


class WordsSpec(JsonSpec):
    """The word counts of Python's documentation, which are kept in the cache of this machine."""

    kind: ClassVar[str] = "words"

    def describe(self) -> Description:
        return Description("Python documentation", "its words are counted")

    def run(self, report: Report = silent, *args: Any, **given: Any) -> str:
        """Count the words into the cache, and return the text "counted"."""
        load_sample(COUNTED, report=report)
        return "counted"
