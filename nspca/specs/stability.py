"""Spec of bootstrap stability: the frequency of features in components of rows drawn with replacement.

The pages Sweep and Components ask it. A standardised problem uses the standard deviations of
the whole table, since a column of a draw can be constant.
"""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field as Limits

from nspca.api import solve
from nspca.covariance.linalg import Array
from nspca.errors import Cancelled, InvalidOption, NSPCAError
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.selection.rows import report_whole, standardised
from nspca.selection.stability import draws, matched
from nspca.specs.components import solved
from nspca.specs.method_options import Options
from nspca.specs.proof import Sparsity, sparsity_words
from nspca.specs.question import JsonSpec, RowsSpec, Seed, Whole
from nspca.specs.rows import Redrawn, Refused, pack
from nspca.specs.sweep import Methods
from nspca.validation.model import Option

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
