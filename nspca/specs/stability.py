"""Specs of bootstrap stability: the frequency of features in components of rows drawn with replacement.

The page Compare asks a `StabilitySpec`, the pages of several components a `ComponentsStabilitySpec`. A
standardised problem uses the standard deviations of the whole table, since a column of a draw can be
constant.
"""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field as Limits

from nspca.api import solve
from nspca.covariance.linalg import Array
from nspca.errors import Cancelled, NSPCAError
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.selection.rows import report_whole, standardised
from nspca.selection.stability import draws, matched
from nspca.specs.base import Description
from nspca.specs.components import Sizes, solved
from nspca.specs.method_options import Options
from nspca.specs.proof import sparsity_words
from nspca.specs.question import JsonSpec, RowsSpec, Seed, Whole, arguments
from nspca.specs.rows import Recurred, Redrawn, Refused, pack
from nspca.specs.sweep import MethodName, Methods
from nspca.validation.model import Option

RESAMPLES = 20
"""Default number of draws, which estimates frequencies to about a tenth."""
Resamples = Annotated[Whole, Option("Draws", say=lambda value: f"{value} draws")]


class StabilitySpec(JsonSpec, RowsSpec):
    """Bootstrap stability of one component: the supports that methods find on each draw of the rows.

    Parameters
    ----------
    k : int
    methods : tuple of str
        "auto" or keys of `nspca.METHODS`.
    options : dict
        Options by method.
    resamples : int
        How many tables are drawn.
    seed : int

    The other parameters are those of `ProblemSpec`.
    """

    kind: ClassVar[str] = "stability"

    k: Whole
    methods: Annotated[Methods, Option("Methods", say=", ".join, always=True)] = ("auto",)
    options: Options = Limits(default_factory=dict)
    resamples: Resamples = RESAMPLES
    seed: Seed = 0

    @property
    def total(self) -> int:
        """Number of rows that the run reports: one for each draw and method."""
        return self.resamples * len(self.methods)

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        return (self.k,), self.total

    def describe(self) -> Description:
        return Description(self.data.title, f"rows drawn again, k = {self.k}", self.details())

    def run(self, report: Report = silent, X: Any = None) -> dict[str, list[list[int]]]:
        """Return for each method its supports, one for each draw.

        If a method cannot solve the problem, the message of its error is reported, and the method is left
        out.

        Raises
        ------
        NSPCAError
            When no method could solve the problem.
        """
        methods = list(self.methods)
        supports: dict[str, list[list[int]]] = {method: [] for method in methods}
        total = self.resamples
        for b, problem in enumerate(drawn(self, self.rows(X))):
            for method in list(methods):
                say = report_whole(report, b, total, f"{method}, resample {b + 1} of {total}")
                how: dict[str, Any] = {"certify": None, "seed": self.seed, **self.options.get(method, {})}
                try:
                    result = solve(problem, method, report=say, **how)
                except Cancelled:
                    raise
                except NSPCAError as error:
                    methods.remove(method)
                    del supports[method]
                    report(Event("resample", b, total, payload=pack(Refused(method, str(error)))))
                    if not methods:
                        raise
                    continue
                support = np.flatnonzero(result.components[:, 0]).tolist()
                supports[method].append(support)
                report(Event("resample", b + 1, total, payload=pack(Redrawn(method, support))))
        return supports

    def python(self, **shown: Any) -> list[str]:
        """Return Python that repeats the draws and counts the features of each method."""
        return [
            *python_before_draws(self),
            f"options = {self.options!r}",
            f"chosen = {{method: np.zeros(X.shape[1]) for method in {self.methods!r}}}",
            f"for b in range({self.resamples}):",
            f"    rows = np.random.default_rng([{self.seed}, b]).integers(X.shape[0], size=X.shape[0])",
            f"    problem = nspca.Problem.from_data(X[rows], k={self.k}, {_words(self)})",
            "    for method in chosen:",
            f"        given = dict(certify=None, seed={self.seed}, **options.get(method, {{}}))",
            "        chosen[method] += nspca.solve(problem, method, **given).components[:, 0] != 0",
            f"print({{method: (count / {self.resamples}).round(3) for method, count in chosen.items()}})",
        ]


class ComponentsStabilitySpec(JsonSpec, RowsSpec):
    """Bootstrap stability of several components: their matches on each draw of the rows.

    Parameters
    ----------
    sizes : tuple of int
        Features in each component.
    method : str
        A key of `nspca.METHODS`.
    options : dict
        Options by method.
    resamples : int
        How many tables are drawn.
    seed : int

    The other parameters are those of `ProblemSpec`.
    """

    kind: ClassVar[str] = "components stability"

    sizes: Sizes
    method: Annotated[MethodName, Option("Method", say=str, always=True)] = "joint"
    options: Options = Limits(default_factory=dict)
    resamples: Resamples = RESAMPLES
    seed: Seed = 0

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        return self.sizes, self.resamples

    def describe(self) -> Description:
        return Description(self.data.title, f"stability of {sparsity_words(self.sizes)}", self.details())

    def run(self, report: Report = silent, X: Any = None, components: Any = None) -> list[dict[str, Any]]:
        """Return the attributes of a `Recurred` for each draw.

        Parameters
        ----------
        X : Dataset or array, optional
            The open data; by default the source in `data` is opened.
        components : (n, r) array, optional
            Components of the whole table, to compare with; by default the method finds them.
        """
        X, options, total = self.rows(X), self.options.get(self.method, {}), self.resamples
        if components is None:
            components = solved(self.problem(X), self.method, options, self.seed, report).components
        found = []
        for b, problem in enumerate(drawn(self, X)):
            say = report_whole(report, b, total, f"draw {b + 1} of {total}")
            row = match_components(
                components, solved(problem, self.method, options, self.seed, say).components
            )
            found.append(vars(row))
            report(Event("draw", b + 1, total, payload=pack(row)))
        return found

    def python(self, **shown: Any) -> list[str]:
        """Return Python that repeats the draws and finds the components of each."""
        options = self.options.get(self.method, {})
        given = {"certify": "None", "seed": str(self.seed), **{name: repr(v) for name, v in options.items()}}
        k = repr(self.sizes[0] if len(set(self.sizes)) == 1 else self.sizes)
        return [
            *python_before_draws(self),
            f"for b in range({self.resamples}):",
            f"    rows = np.random.default_rng([{self.seed}, b]).integers(X.shape[0], size=X.shape[0])",
            f"    problem = nspca.Problem.from_data(X[rows], k={k}, {_words(self)})",
            f"    result = nspca.solve(problem, {self.method!r}, components={len(self.sizes)}, "
            f"{arguments(given)})",
            "    print(b, [x.nonzero()[0].tolist() for x in result.components.T])",
        ]


def match_components(X: Array, Y: Array) -> Recurred:
    """Return for each column of X (n, r) the support of its match in Y (n, r), and their cosine."""
    order, common = matched(X, Y)
    return Recurred(
        [np.flatnonzero(Y[:, j]).tolist() for j in order], [min(1.0, float(one)) for one in common]
    )


def drawn(spec: StabilitySpec | ComponentsStabilitySpec, X: Any) -> Iterator[Problem]:
    """Yield the problem of a spec on rows drawn with replacement, once for each draw."""
    X = getattr(X, "X", X)
    X = standardised(X) if spec.scale else X
    for rows in draws(X.shape[0], spec.resamples, spec.seed):
        yield Problem.from_data(
            X[rows], k=spec.first, nonneg=spec.nonneg, center=spec.center, forced=spec.forced
        )


def python_before_draws(spec: StabilitySpec | ComponentsStabilitySpec) -> list[str]:
    """Return Python that comes before the draws."""
    scaled = [
        "from sklearn.preprocessing import StandardScaler",
        "X = StandardScaler(with_mean=False).fit_transform(X)  # by the whole table, before rows are drawn",
    ]
    return ["import numpy as np", *(scaled if spec.scale else [])]


def _words(spec: StabilitySpec | ComponentsStabilitySpec) -> str:
    """Return the keyword arguments of the problem in the exported Python."""
    kept = f", forced={spec.forced}" if spec.forced else ""
    return f"nonneg={spec.nonneg}, center={spec.center}{kept}"
