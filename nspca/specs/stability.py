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
from nspca.specs.base import Description
from nspca.specs.components import solved
from nspca.specs.method_options import Options
from nspca.specs.proof import Sparsity, sparsity_words
from nspca.specs.question import JsonSpec, RowsSpec, Seed, Whole, arguments
from nspca.specs.rows import Recurred, Redrawn, Refused, pack
from nspca.specs.sweep import Methods
from nspca.validation.model import Option

RESAMPLES = 20
"""Default number of draws, which estimates frequencies to about a tenth."""


class StabilitySpec(JsonSpec, RowsSpec):
    """Bootstrap stability of a component, or of several: what methods find on each draw of the rows.

    Parameters
    ----------
    k : int or tuple of int
        Features in the component, or in each of several that share none.
    methods : tuple of str
        "auto" or keys of `nspca.METHODS`; one method that is no "auto" for several components.
    options : dict
        Options by method.
    resamples : int
        How many tables are drawn.
    seed : int

    The other parameters are those of `ProblemSpec`.
    """

    kind: ClassVar[str] = "stability"

    k: Sparsity
    methods: Annotated[Methods, Option("Methods", say=", ".join, always=True)] = ("auto",)
    options: Options = Limits(default_factory=dict)
    resamples: Annotated[Whole, Option("Draws", say=lambda value: f"{value} draws")] = RESAMPLES
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

    def describe(self) -> Description:
        return Description(self.data.title, f"rows drawn again, {sparsity_words(self.k)}", self.details())

    def run(self, report: Report = silent, X: Any = None, components: Any = None) -> Any:
        """Return what was found on each draw.

        For one component that is a dict with the supports of each method, one for each draw. A method that
        cannot solve the problem is left out, and the message of its error is reported. For several components
        it is a list with the attributes of a `Recurred` for each draw.

        Parameters
        ----------
        X : Dataset or array, optional
            The open data; by default the source in `data` is opened.
        components : (n, r) array, optional
            Several components of the whole table, to compare with; by default the method finds them.

        Raises
        ------
        NSPCAError
            When no method could solve the problem.
        """
        X = self.rows(X)
        return self._several(X, components, report) if isinstance(self.k, tuple) else self._one(X, report)

    def _one(self, X: Any, report: Report) -> dict[str, list[list[int]]]:
        """Return for each method its supports, one for each draw."""
        supports: dict[str, list[list[int]]] = {method: [] for method in self.methods}
        total = self.resamples
        for b, problem in enumerate(drawn(self, X)):
            for method in list(supports):
                say = report_whole(report, b, total, f"{method}, resample {b + 1} of {total}")
                how: dict[str, Any] = {"certify": None, "seed": self.seed, **self.options.get(method, {})}
                try:
                    result = solve(problem, method, report=say, **how)
                except Cancelled:
                    raise
                except NSPCAError as error:
                    del supports[method]
                    report(Event("resample", b, total, payload=pack(Refused(method, str(error)))))
                    if not supports:
                        raise
                    continue
                support = np.flatnonzero(result.components[:, 0]).tolist()
                supports[method].append(support)
                report(Event("resample", b + 1, total, payload=pack(Redrawn(method, support))))
        return supports

    def _several(self, X: Any, components: Any, report: Report) -> list[dict[str, Any]]:
        """Return the attributes of a `Recurred` for each draw."""
        (method,), total = self.methods, self.resamples
        how = method, self.options.get(method, {}), self.seed
        if components is None:
            components = solved(self.problem(X), *how, report).components
        found = []
        for b, problem in enumerate(drawn(self, X)):
            say = report_whole(report, b, total, f"draw {b + 1} of {total}")
            row = match_components(components, solved(problem, *how, say).components)
            found.append(vars(row))
            report(Event("draw", b + 1, total, payload=pack(row)))
        return found

    def python(self, **shown: Any) -> list[str]:
        kept = f", forced={self.forced}" if self.forced else ""
        problem = f"k={self.k!r}, nonneg={self.nonneg}, center={self.center}{kept}"
        lines = ["import numpy as np"]
        if self.scale:
            lines += [
                "from sklearn.preprocessing import StandardScaler",
                "X = StandardScaler(with_mean=False).fit_transform(X)  # by the whole table",
            ]
        draw = [
            f"for b in range({self.resamples}):",
            f"    rows = np.random.default_rng([{self.seed}, b]).integers(X.shape[0], size=X.shape[0])",
            f"    problem = nspca.Problem.from_data(X[rows], {problem})",
        ]
        if isinstance(self.k, tuple):
            (method,) = self.methods
            how = arguments({"certify": None, "seed": self.seed, **self.options.get(method, {})})
            if len(set(self.k)) == 1:  # a method that finds components in turn takes one size
                draw[2] = draw[2].replace(f"k={self.k!r}", f"k={self.k[0]}")
            return [
                *lines,
                *draw,
                f"    result = nspca.solve(problem, {method!r}, components={len(self.k)}, {how})",
                "    print(b, [x.nonzero()[0].tolist() for x in result.components.T])",
            ]
        return [
            *lines,
            f"options = {self.options!r}",
            f"chosen = {{method: np.zeros(X.shape[1]) for method in {self.methods!r}}}",
            *draw,
            "    for method in chosen:",
            f"        given = dict(certify=None, seed={self.seed}, **options.get(method, {{}}))",
            "        chosen[method] += nspca.solve(problem, method, **given).components[:, 0] != 0",
            f"print({{method: (count / {self.resamples}).round(3) for method, count in chosen.items()}})",
        ]


def match_components(X: Array, Y: Array) -> Recurred:
    """Return for each column of X (n, r) the support of its match in Y (n, r), and their cosine."""
    order, common = matched(X, Y)
    return Recurred(
        [np.flatnonzero(Y[:, j]).tolist() for j in order], [min(1.0, float(one)) for one in common]
    )


def drawn(spec: StabilitySpec, X: Any) -> Iterator[Problem]:
    """Yield the problem of a spec on rows drawn with replacement, once for each draw."""
    X = getattr(X, "X", X)
    X = standardised(X) if spec.scale else X
    for rows in draws(X.shape[0], spec.resamples, spec.seed):
        yield Problem.from_data(
            X[rows], k=spec.first, nonneg=spec.nonneg, center=spec.center, forced=spec.forced
        )
