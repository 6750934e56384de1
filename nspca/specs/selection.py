"""Specs of questions about rows: number of features or components, noise, stability, and labelled groups.

The pages Sweep and Components ask them. A standardised problem uses the standard deviations of the whole
table, since a column of a draw can be constant.
"""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field as Limits
from pydantic import StrictInt, StrictStr

from nspca.api import solve
from nspca.covariance.linalg import Array
from nspca.errors import Cancelled, InvalidData, InvalidOption, NSPCAError
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.selection import (
    Choice,
    GroupEffects,
    NoiseTest,
    choose_components,
    choose_k,
    held_out_group_effects,
    noise_test,
)
from nspca.selection.choice import DRAWS, FOLDS
from nspca.selection.groups import PERMUTATIONS
from nspca.selection.noise import TABLES
from nspca.selection.rows import report_whole, standardised
from nspca.selection.stability import draws, matched
from nspca.specs.base import arguments
from nspca.specs.components import Sizes, solved
from nspca.specs.method_options import Options
from nspca.specs.proof import Sparsity, sparsity_words
from nspca.specs.question import JsonSpec, RowsSpec, Seed, Whole, ks_words
from nspca.specs.rows import Redrawn, Refused, Shuffled, Weighed, pack, packed_rows
from nspca.specs.sweep import Ks, MethodName, Methods
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


RESAMPLES = 20
"""Default number of draws, which estimates frequencies to about a tenth."""


class StabilitySpec(JsonSpec, RowsSpec):
    """Bootstrap stability of a component, or of several: what methods find on each draw of the rows.

    Several components are found by one method that is no "auto".
    """

    kind: ClassVar[str] = "stability"

    k: Sparsity
    methods: Annotated[Methods, Option("Methods", say=", ".join, always=True)] = ("auto",)
    options: Options = Limits(default_factory=dict)
    resamples: Annotated[Whole, Option("Draws", say="{} draws")] = RESAMPLES
    seed: Seed = 0

    def model_post_init(self, context: Any) -> None:
        if isinstance(self.k, tuple) and len(self.methods) > 1:
            raise InvalidOption(
                f"several components are found by one method, got methods={list(self.methods)}; keep one"
            )

    @property
    def total(self) -> int:
        """Number of rows that the run reports: one for each draw and method."""
        return self.resamples * len(self.methods)

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        return (self.k,) if isinstance(self.k, int) else self.k, self.total

    @property
    def question(self) -> str:
        return f"rows drawn again, {sparsity_words(self.k)}"

    def run(
        self, report: Report = silent, X: Any = None, components: Any = None
    ) -> dict[str, list[dict[str, Any]]]:
        """Return for each method the attributes of a `Redrawn` for each draw.

        A method that cannot solve the problem is left out, and the message of its error is reported; without
        another one it is raised. Several components are compared with those (n, r) of the whole table, which
        the method finds by default.
        """
        X, total = self.rows(X), self.resamples
        found: dict[str, list[dict[str, Any]]] = {method: [] for method in self.methods}

        def solution(method: str, problem: Problem, say: Report) -> Array:
            options = self.options.get(method, {})
            if not problem.joint:
                how: dict[str, Any] = {"certify": None, "seed": self.seed, **options}
                return solve(problem, method, report=say, **how).components
            return solved(problem, method, options, self.seed, say).components

        if components is None and isinstance(self.k, tuple):
            components = solution(self.methods[0], self.problem(X), report)
        for b, problem in enumerate(drawn(self, X)):
            for method in list(found):
                say = report_whole(report, b, total, f"{method}, draw {b + 1} of {total}")
                try:
                    row = redrawn(method, solution(method, problem, say), components)
                except Cancelled:
                    raise
                except NSPCAError as error:
                    del found[method]
                    report(Event("draw", b, total, payload=pack(Refused(method, str(error)))))
                    if not found:
                        raise
                    continue
                found[method].append(vars(row))
                report(Event("draw", b + 1, total, payload=pack(row)))
        return found


def redrawn(method: str, Y: Array, X: Array | None) -> Redrawn:
    """Return the row of components Y (n, r) of a draw, in the order of their matches in X (n, r), if any."""
    order, common = (range(Y.shape[1]), ()) if X is None else matched(X, Y)
    supports = [np.flatnonzero(Y[:, j]).tolist() for j in order]
    return Redrawn(method, supports, [min(1.0, float(one)) for one in common])


def drawn(spec: StabilitySpec, X: Any) -> Iterator[Problem]:
    """Yield the problem of a spec on rows drawn with replacement, once for each draw."""
    X = getattr(X, "X", X)
    X = standardised(X) if spec.scale else X
    for rows in draws(X.shape[0], spec.resamples, spec.seed):
        yield Problem.from_data(
            X[rows], k=spec.first, nonneg=spec.nonneg, center=spec.center, forced=spec.forced
        )


class GroupsSpec(JsonSpec, RowsSpec):
    """Effect sizes of several components on labelled groups of held-out samples. No feature can be kept."""

    kind: ClassVar[str] = "groups"
    answer: ClassVar = GroupEffects

    sizes: Sizes
    label: Annotated[StrictStr, Option("Labels", say="labels {}")] = ""
    """Name of the column of labels; empty for the labels of the data set."""
    method: Annotated[MethodName, Option("Method", to="call", say="{}", always=True)] = "joint"
    options: Options = Limits(default_factory=dict)
    permutations: Annotated[Whole, Option("Shuffled labels", to="call", say="{} shuffles")] = PERMUTATIONS
    seed: Seed = 0

    @property
    def question(self) -> str:
        return f"groups of held-out samples along {sparsity_words(self.sizes)}"

    def run(self, report: Report = silent, X: Any = None, labels: Any = None) -> GroupEffects:
        """Return the `nspca.GroupEffects` on the held-out half of the rows, by their labels."""
        X = self.rows(X)
        labels = labels_of(X, self.label) if labels is None else labels
        how = self.of_call("forced") | self.options.get(self.method, {})
        return held_out_group_effects(X, labels, self.sizes, report=report, **how)

    def python(self, **shown: Any) -> list[str]:
        words = self.of_call("forced") | self.options.get(self.method, {})
        labels = f"data.label_columns[{self.label!r}]" if self.label else "data.labels"
        return [
            f"found = nspca.held_out_group_effects(X, {labels}, {self.sizes!r}, {arguments(words)})",
            "print(found.measure, found.groups, found.counts)",
            "print(found.effect.round(3), found.p)",
        ]


def labels_of(data: Any, label: str) -> Any:
    """Return the labels of the samples of a data set, or those of a column; refuse data without them."""
    found = data.label_columns.get(label) if label else data.labels
    if found is None:
        named = f"a column of labels named {label!r}" if label else "labels of the samples"
        raise InvalidData(f"this question needs {named}, got none; choose labels on the page Data")
    return found
