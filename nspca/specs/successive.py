"""Spec of several components one after another, found by each of several methods.

The section "Methods side by side" of the page Sweep asks it.
"""

from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field as Limits

from nspca.api import solve
from nspca.components import DEFLATIONS, explained_variances
from nspca.errors import Cancelled, InvalidOption, NSPCAError
from nspca.progress import Event, Report, silent
from nspca.result import Result, Sweep
from nspca.selection.rows import report_whole
from nspca.specs.base import Description
from nspca.specs.method_options import Options
from nspca.specs.question import ProblemSpec, Seed, Whole
from nspca.specs.rows import Explained, Refused, Row, pack
from nspca.specs.sweep import Methods
from nspca.validation.model import Option


class SuccessiveSpec(ProblemSpec):
    """Components of one method after another, for several methods.

    Parameters
    ----------
    k : int
        Features in each component.
    count : int
        Number of components.
    methods : tuple of str
        "auto" or keys of `nspca.METHODS`.
    deflation : str
        A key of `nspca.components.DEFLATIONS`; "drop" leaves used features out.
    angle : float or None
        Smallest angle in degrees between two components, instead of a deflation.
    options : dict
        Options by method.
    seed : int

    The other parameters are those of `ProblemSpec`.
    """

    kind: ClassVar[str] = "successive"

    k: Whole
    count: Whole
    methods: Annotated[Methods, Option("Methods", say=", ".join, always=True)] = ("auto",)
    deflation: Annotated[
        Literal[tuple(DEFLATIONS)],  # type: ignore[valid-type]  # the keys are known when this is read
        Option("Before the next component", to="call"),
    ] = "drop"
    angle: Annotated[
        float | None, Limits(gt=0, le=90), Option("Degrees", to="call", say=lambda value: f"{value:g}° apart")
    ] = None
    options: Options = Limits(default_factory=dict)
    seed: Seed = 0

    def model_post_init(self, context: Any) -> None:
        if self.angle is not None and self.deflation != "drop":
            raise InvalidOption("components have an angle or a deflation, got both; leave one out")

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        return (self.k,), self.count * len(self.methods)

    @property
    def total(self) -> int:
        """Number of rows that the run reports: one for each method."""
        return len(self.methods)

    def describe(self) -> Description:
        return Description(self.data.title, f"several components, k = {self.k}", self.details())

    def run(self, report: Report = silent, X: Any = None) -> Sweep:
        """Return a `nspca.Sweep` with keys (method, count).

        The `info` of each result has the variances of the first 1, 2, ... components, by the measures of
        `nspca.components.explained_variances`. If a method cannot solve the problem, the message of its error
        is reported.

        Raises
        ------
        NSPCAError
            When no method could solve the problem.
        """
        problem = self.problem(X, report)
        found: dict[tuple[str, int], Result] = {}
        failed: list[NSPCAError] = []
        between = {"deflation": self.deflation} if self.angle is None else {"angle": self.angle}
        total = len(self.methods)
        for i, method in enumerate(self.methods):
            how: dict[str, Any] = {
                "seed": self.seed,
                "certify": None,
                **between,
                **self.options.get(method, {}),
            }
            row: Row
            try:
                say = report_whole(report, i, total, method)
                result = solve(problem, method, components=self.count, report=say, **how)
                variances = explained_variances(problem, result.components)
                curves = {name: values.tolist() for name, values in variances.items()}
                found[method, self.count] = replace(result, method=method, info={**result.info, **curves})
                row = Explained(method, curves, result.seconds)
            except Cancelled:
                raise
            except NSPCAError as error:
                failed.append(error)
                row = Refused(method, str(error))
            report(Event(method, i + 1, total, payload=pack(row)))
        if not found:
            raise failed[-1]
        return Sweep(found)

    unpack: ClassVar = staticmethod(Sweep.from_bytes)

    def python(self, **shown: Any) -> list[str]:
        between = f"deflation={self.deflation!r}" if self.angle is None else f"angle={self.angle!r}"
        return [
            f"options = {self.options!r}",
            f"for method in {self.methods!r}:",
            f"    given = dict(certify=None, seed={self.seed}, {between}, **options.get(method, {{}}))",
            f"    result = nspca.solve(problem, method, components={self.count}, **given)",
            "    print(method, result.values)",
        ]
