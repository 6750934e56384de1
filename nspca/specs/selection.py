"""Specs of model selection: number of features, number of components, and the noise test.

The page Sweep asks for the number of features and the noise test. The pages of several components ask for
their number.
"""

import json
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field as Limits
from pydantic import StrictInt

from nspca.progress import Report, silent
from nspca.selection import Choice, NoiseTest, choose_components, choose_k, noise_test
from nspca.selection.choice import DRAWS, FOLDS, MOST, as_row
from nspca.selection.noise import TABLES
from nspca.specs.base import Description
from nspca.specs.question import RowsSpec, Seed, Whole, arguments, ks_words
from nspca.specs.rows import Shuffled, Weighed, packed_rows
from nspca.specs.sweep import Ks, MethodName
from nspca.validation.model import Option

Method = Annotated[MethodName, Option("Method", to="call", say=str, always=True)]
Parts = Annotated[StrictInt, Limits(ge=0)]
Folds = Annotated[Parts, Option("Parts held out", to="call", say=lambda value: f"{value} parts held out")]
Draws = Annotated[Parts, Option("Draws", to="call", say=lambda value: f"{value} draws")]


class _MethodSpec(RowsSpec):
    """Base class of questions about the answers of one method on changed rows."""

    def how(self) -> dict[str, Any]:
        """Return problem and method as keyword arguments of `nspca.choose_k` and `nspca.noise_test`."""
        names = ("method", "nonneg", "center", "scale", "forced", "seed")
        return {name: getattr(self, name) for name in names}

    def _words(self) -> str:
        """Return the keyword arguments of the exported Python."""
        return arguments(self.keywords("problem") | self.keywords("call"))


class _ChoiceSpec(_MethodSpec):
    """Base class of questions whose answer is a `Choice`.

    Parameters
    ----------
    method : str
        "auto" or a key of `nspca.METHODS`.
    folds, draws : int
        Parts of the rows that are held out in turn, and tables of rows drawn with replacement.
    seed : int
    """

    _of: ClassVar[str] = "k"

    method: Method = "auto"
    folds: Folds = FOLDS
    draws: Draws = DRAWS
    seed: Seed = 0

    @property
    def total(self) -> int:
        """Number of fits for each number: one on all rows, and one for each part held out and each draw."""
        return 1 + self.folds + self.draws

    def how(self) -> dict[str, Any]:
        """Return problem, method, folds and draws as keyword arguments of `nspca.choose_k`."""
        return super().how() | {"folds": self.folds, "draws": self.draws}

    def pack(self, result: Choice) -> bytes:
        """Return the choice as JSON bytes; see `unpack`."""
        return json.dumps(as_row(result)).encode()

    @classmethod
    def unpack(cls, body: bytes) -> Choice:
        """Return the choice that is stored in the bytes from `pack`."""
        return choice_of(Weighed(**json.loads(body)), cls._of)

    def _python(self, call: str) -> list[str]:
        """Return Python that computes the choice by a call again."""
        return [
            f"choice = nspca.{call}",
            "print(choice.frame.to_string(index=False))",
            "print(choice.best, choice.simplest)",
        ]


class ChoiceSpec(_ChoiceSpec):
    """Evidence from held-out rows and bootstrap samples for each number of features.

    Parameters
    ----------
    ks : tuple of int
        Values of k, in increasing order.
    method, folds, draws, seed
        As for `nspca.choose_k`.

    The other parameters are those of `ProblemSpec`.
    """

    kind: ClassVar[str] = "choice"

    ks: Ks

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        return self.ks[-1:], len(self.ks) * self.total

    def describe(self) -> Description:
        question = f"rows held out and drawn again, {ks_words(self.ks)}"
        return Description(self.data.title, question, self.details())

    def run(self, report: Report = silent, X: Any = None) -> Choice:
        """Return the `nspca.Choice`; events of `report` carry the evidence so far."""
        return choose_k(self.rows(X), self.ks, **self.how(), report=packed_rows(report, Weighed))

    def python(self, **shown: Any) -> list[str]:
        """Return Python that computes the choice again."""
        return self._python(f"choose_k(X, {list(self.ks)}, {self._words()})")


class ComponentsChoiceSpec(_ChoiceSpec):
    """Evidence from held-out rows and bootstrap samples for each number of components.

    Parameters
    ----------
    k : int
        Features in each component.
    most : int
        The largest number of components.
    method, folds, draws, seed
        As for `nspca.choose_components`.

    The other parameters are those of `ProblemSpec`, but no feature can be kept.
    """

    kind: ClassVar[str] = "components choice"
    _of: ClassVar[str] = "components"

    k: Whole
    most: Whole = MOST
    method: Method = "joint"

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        return (self.k,) * self.most, self.most * self.total

    def describe(self) -> Description:
        question = f"how many components of {self.k}, up to {self.most}"
        return Description(self.data.title, question, self.details())

    def run(self, report: Report = silent, X: Any = None) -> Choice:
        """Return the `nspca.Choice` of a number of components; events carry the evidence so far."""
        how = {name: value for name, value in self.how().items() if name != "forced"}
        return choose_components(self.rows(X), self.k, self.most, **how, report=packed_rows(report, Weighed))

    def python(self, **shown: Any) -> list[str]:
        """Return Python that computes the choice again."""
        words = self.keywords("problem") | self.keywords("call")
        words.pop("forced", None)
        return self._python(f"choose_components(X, {self.k}, {self.most}, {arguments(words)})")


class NoiseSpec(_MethodSpec):
    """Noise test: comparison of a component with components of shuffled tables.

    Parameters
    ----------
    k : int
    method : str
        "auto" or a key of `nspca.METHODS`.
    tables : int
        Number of shuffled tables.
    seed : int

    The other parameters are those of `ProblemSpec`.
    """

    kind: ClassVar[str] = "noise"

    k: Whole
    method: Method = "auto"
    tables: Annotated[Whole, Option("Shuffled tables", to="call", say=lambda value: f"{value} tables")] = (
        TABLES
    )
    seed: Seed = 0

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        return (self.k,), 1 + self.tables

    def describe(self) -> Description:
        return Description(self.data.title, f"shuffled tables, k = {self.k}", self.details())

    def run(self, report: Report = silent, X: Any = None) -> NoiseTest:
        """Return the `nspca.NoiseTest`; `report` gets an event for every shuffled table."""
        say = packed_rows(report, Shuffled)
        return noise_test(self.rows(X), self.k, **self.how(), tables=self.tables, report=say)

    def pack(self, result: NoiseTest) -> bytes:
        """Return the test as JSON bytes; see `unpack`."""
        return json.dumps({"value": result.value, "noise": result.noise.tolist()}).encode()

    @staticmethod
    def unpack(body: bytes) -> NoiseTest:
        """Return the test that is stored in the bytes from `pack`."""
        found = json.loads(body)
        return NoiseTest(found["value"], np.array(found["noise"]))

    def python(self, **shown: Any) -> list[str]:
        """Return Python that computes the test again."""
        return [
            f"test = nspca.noise_test(X, {self.k}, {self._words()})",
            "print(test.value, test.noise.max(), test.p)",
        ]


def choice_of(row: Weighed, of: str = "k") -> Choice:
    """Return a `Choice` of "k" or of "components" from a row of a run, with nan for unknown values."""
    columns = {name: np.array(column, dtype=float) for name, column in vars(row).items() if name != "numbers"}
    return Choice(of, np.array(row.numbers), **columns)


def row_of(choice: Choice) -> Weighed:
    """Return a choice as a row of plain numbers for JSON."""
    return Weighed(**as_row(choice))
