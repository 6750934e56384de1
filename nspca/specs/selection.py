"""Specs of model selection: number of features, number of components, and the noise test.

The page Sweep asks for the number of features and the noise test. The pages of several components ask for
their number.
"""

from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field as Limits
from pydantic import StrictInt

from nspca.errors import InvalidOption
from nspca.progress import Report, silent
from nspca.selection import Choice, NoiseTest, choose_components, choose_k, noise_test
from nspca.selection.choice import DRAWS, FOLDS
from nspca.selection.noise import TABLES
from nspca.specs.base import arguments
from nspca.specs.question import JsonSpec, RowsSpec, Seed, Whole, ks_words
from nspca.specs.rows import Shuffled, Weighed, packed_rows
from nspca.specs.sweep import Ks, MethodName
from nspca.validation.model import Option

Method = Annotated[MethodName, Option("Method", to="call", say="{}", always=True)]


class ChoiceSpec(JsonSpec, RowsSpec):
    """Evidence from held-out rows and bootstrap samples for each number of features, or of components."""

    kind: ClassVar[str] = "choice"
    answer: ClassVar = Choice

    ks: Ks
    most: Whole | None = None
    """The largest number of components. With it the numbers 1 to `most` are compared, of components with the
    one k of `ks`, by a `method` that is no "auto", and no feature can be kept."""
    method: Method = "auto"
    folds: Annotated[
        StrictInt, Limits(ge=0), Option("Parts held out", to="call", say="{} parts held out")
    ] = FOLDS
    draws: Annotated[StrictInt, Limits(ge=0), Option("Draws", to="call", say="{} draws")] = DRAWS
    seed: Seed = 0

    def model_post_init(self, context: Any) -> None:
        if self.most is not None and len(self.ks) != 1:
            raise InvalidOption(f"components have one k, got ks={list(self.ks)}; keep one, or leave most out")

    @property
    def total(self) -> int:
        """Number of fits for each number: one on all rows, and one for each part held out and each draw."""
        return 1 + self.folds + self.draws

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        if self.most is not None:
            return self.ks * self.most, self.most * self.total
        return self.ks[-1:], len(self.ks) * self.total

    @property
    def question(self) -> str:
        if self.most is not None:
            return f"how many components of {self.ks[0]}, up to {self.most}"
        return f"rows held out and drawn again, {ks_words(self.ks)}"

    def run(self, report: Report = silent, X: Any = None) -> Choice:
        """Return the `nspca.Choice`; events of `report` carry the evidence so far."""
        say = packed_rows(report, Weighed)
        if self.most is not None:
            how = self.of_call("forced")
            return choose_components(self.rows(X), self.ks[0], self.most, report=say, **how)
        return choose_k(self.rows(X), self.ks, report=say, **self.of_call())

    def python(self, **shown: Any) -> list[str]:
        call = f"choose_k(X, {list(self.ks)}, {arguments(self.of_call())})"
        if self.most is not None:
            how = arguments(self.of_call("forced"))
            call = f"choose_components(X, {self.ks[0]}, {self.most}, {how})"
        return [
            f"choice = nspca.{call}",
            "print(choice.frame.to_string(index=False))",
            "print(choice.best, choice.simplest)",
        ]


class NoiseSpec(JsonSpec, RowsSpec):
    """Noise test: comparison of a component with components of shuffled tables."""

    kind: ClassVar[str] = "noise"
    answer: ClassVar = NoiseTest

    k: Whole
    method: Method = "auto"
    tables: Annotated[Whole, Option("Shuffled tables", to="call", say="{} tables")] = TABLES
    seed: Seed = 0

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        return (self.k,), 1 + self.tables

    @property
    def question(self) -> str:
        return f"shuffled tables, k = {self.k}"

    def run(self, report: Report = silent, X: Any = None) -> NoiseTest:
        """Return the `nspca.NoiseTest`; `report` gets an event for every shuffled table."""
        return noise_test(self.rows(X), self.k, report=packed_rows(report, Shuffled), **self.of_call())

    def python(self, **shown: Any) -> list[str]:
        return [
            f"test = nspca.noise_test(X, {self.k}, {arguments(self.of_call())})",
            "print(test.value, test.noise.max(), test.p)",
        ]


def choice_of(row: Weighed, of: str = "k") -> Choice:
    """Return a `Choice` of "k" or of "components" from a row of a run, with nan for unknown values."""
    columns = {name: np.array(column, dtype=float) for name, column in vars(row).items() if name != "numbers"}
    return Choice(of, np.array(row.numbers), **columns)
