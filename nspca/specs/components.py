"""Spec of several components: parts of images, topics of texts, or one component after another.

The page Components, the section "Methods side by side" of Sweep and the command `solve` ask it.
"""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field as Limits

from nspca.api import certify, solve
from nspca.certificate import Certificate
from nspca.errors import Cancelled, InvalidOption, NSPCAError
from nspca.local_search.disjoint import event_payload
from nspca.presentation.phrases import things
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.proving import EXHAUSTIVE
from nspca.result import Result, Status, Sweep
from nspca.solving import line_of
from nspca.specs.method_options import Options
from nspca.specs.proof import Closing
from nspca.specs.question import ProblemSpec, Seed, Whole
from nspca.specs.rows import Climbed, Refused, Several, pack
from nspca.specs.sweep import Deflation, JointEffort, Methods, cheapest_first, effort_words
from nspca.validation import address
from nspca.validation.model import Option, Required

WORTH = 1e-6
"""Relative gain above which better components are reported."""


def read_sizes(query: Mapping[str, str]) -> tuple[int, ...]:
    """Return the sizes in an address: one for each component, or one for all and their number."""
    try:
        sizes = [address.read_integer(part) for part in query["size"].replace(" ", "").split(",")]
        return tuple(sizes * (address.read_integer(query.get("r", "1")) if len(sizes) == 1 else 1))
    except (ValueError, KeyError):
        raise InvalidOption(
            "an address of components must have whole numbers as r= and size=, got others; leave them out"
        ) from None


def write_sizes(sizes: tuple[int, ...]) -> dict[str, str]:
    """Return the number of components, and their sizes or the one that all have."""
    return {"r": str(len(sizes)), "size": ", ".join(map(str, sizes[:1] if len(set(sizes)) == 1 else sizes))}


SIZES = address.Names({"r": address.INTEGER, "size": address.PLAIN}, read_sizes, write_sizes)
"""The sizes of several components in an address."""
Sizes = Annotated[
    tuple[Whole, ...],
    Limits(min_length=1),
    Required(
        "a list of whole numbers of at least 1, one for each component",
        "write [3, 3] for two components of 3 features each",
    ),
]
DEFAULT = ("joint", "cone", "tpower")
"""Methods used by default."""


class ComponentsSpec(ProblemSpec):
    """Several components of one data set, by several methods; disjoint without a deflation or an angle.

    A method that cannot find components together, "auto" among them, finds one after another.
    """

    kind: ClassVar[str] = "components"

    sizes: Annotated[Sizes, Option("Features in each", text=SIZES, say="")]
    methods: Annotated[
        Methods, Option("Methods", "by", address.WORDS, say=", ".join, always=True, by_data=True)
    ] = DEFAULT
    options: Options = Limits(default_factory=dict)
    deflation: Annotated[Deflation, Option("Before the next component")] = "drop"
    """A key of `nspca.components.DEFLATIONS`; "drop" leaves used features out."""
    angle: Annotated[float | None, Limits(gt=0, le=90), Option("Degrees", say="{:g}° apart")] = None
    """Smallest angle in degrees between two components, instead of a deflation."""
    effort: Annotated[
        JointEffort | None,
        Option("Effort for the proof", "proof", address.EFFORT, say=effort_words, always=True),
    ] = "fast"
    """Work spent on the bound on the variance of all disjoint components together; None for no bound."""
    noun: Literal["component", "part", "topic"] = "component"
    """Noun for a component on pages."""
    seed: Seed = 0

    def model_post_init(self, context: Any) -> None:
        if self.between and (self.effort is not None or len(set(self.sizes)) > 1):
            raise InvalidOption(
                "components with a deflation or an angle have one size and no bound in common, got others; "
                "set effort to None"
            )
        if len(self.between) > 1:
            raise InvalidOption("components have an angle or a deflation, got both; leave one out")

    @property
    def total(self) -> int:
        """Number of rows that the run reports for methods: one for each."""
        return len(self.methods)

    @property
    def r(self) -> int:
        """Number of components."""
        return len(self.sizes)

    @property
    def between(self) -> dict[str, Any]:
        """What is between two components, as keywords of `nspca.solve`; empty for disjoint ones."""
        given = {"deflation": self.deflation} if self.deflation != "drop" else {}
        return given if self.angle is None else given | {"angle": self.angle}

    def numbers_only(self) -> "ProblemSpec":
        """Return the question without the source of its data and with the usual noun."""
        return super().numbers_only().but(noun="component")

    @property
    def question(self) -> str:
        same = len(set(self.sizes)) == 1
        each = " each" if same and self.r > 1 else ""
        sizes = ", ".join(map(str, self.sizes[:1] if same else self.sizes))
        one = "word" if self.data.is_words else "pixel" if self.noun == "part" else "feature"
        features = one if sizes == "1" else f"{one}s"
        return f"{things(self.r, self.noun)} of {sizes} {features}{each}"

    # ---- address

    def to_query(self) -> dict[str, str]:
        """Return the question as an address; of word counts it says whether they are left uncentred."""
        query = super().to_query()
        if self.noun == "topic" and not self.data.covariance:
            query["raw"] = address.write(not self.center)
        return query

    @classmethod
    def values_of_query(cls, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the values of the fields that an address names; the inverse of `to_query`."""
        values = super().values_of_query(query)
        if "raw" in query:
            values |= {"center": query["raw"] == "0", "noun": "topic"}
        return values

    # ---- run

    def run(self, report: Report = silent, X: Any = None) -> Sweep:
        """Return a `nspca.Sweep` with keys (method, r) whose results share one certificate.

        The cheapest method runs first. If a method cannot solve the problem, the message of its error is
        reported, and the others continue; without another one it is raised. `Cancelled` carries the partial
        sweep as its `result`.
        """
        problem = self.problem(X, report)
        found: dict[str, Result] = {}
        failed: list[NSPCAError] = []

        def ready() -> Sweep:
            """Return a sweep of the results so far, in the order of `methods`."""
            return Sweep({(method, self.r): found[method] for method in self.methods if method in found})

        total = len(self.methods)
        try:
            for done, method in enumerate(cheapest_first(self.methods)):
                row: Several | Refused
                try:
                    self._find(problem, method, found, _report_method(report, done, total, method))
                    row = Several.of(found[method])
                except Cancelled:
                    raise
                except NSPCAError as error:
                    failed.append(error)
                    row = Refused(method, str(error))
                report(Event("method", done + 1, total, payload=pack(row)))
            if not found:
                raise failed[-1]
            if self.effort is not None:
                _certify(problem, found, self.effort, total, report)
        except Cancelled as stop:
            stop.result = ready() if found else None
            raise
        return ready()

    unpack: ClassVar = staticmethod(Sweep.from_bytes)

    def _find(self, problem: Problem, method: str, found: dict[str, Result], report: Report) -> None:
        report(Event("starting"))
        started = time.perf_counter()
        try:
            options = self.options.get(method, {})
            if self.between:
                how: dict[str, Any] = {
                    "components": self.r,
                    "certify": None,
                    "seed": self.seed,
                    "report": report,
                }
                result = solve(problem.with_k(self.sizes[0]), method, **how, **self.between, **options)
            else:
                result = solved(problem, method, options, self.seed, report)
        except Cancelled as stop:
            if isinstance(stop.result, Result):
                found[method] = replace(stop.result, method=method, seconds=time.perf_counter() - started)
            raise
        found[method] = replace(result, method=method, seconds=time.perf_counter() - started)

    # ---- Python

    def opening(self, k: int | tuple[int, ...] | None = None) -> str:
        """Return Python that loads the data and makes the problem, with one k if all sizes are equal."""
        same = len(set(self.sizes)) == 1
        return super().opening(self.sizes[0] if k is None and same else k)

    def python(self, method: str | None = None, effort: str | None = None, **shown: Any) -> list[str]:
        """Return Python that repeats the search of one method, by default the first, and proves a bound."""
        method, effort = method or self.methods[0], effort or self.effort
        given = "".join(
            f", {name}={value!r}" for name, value in (self.between | self.options.get(method, {})).items()
        )
        searched = effort == EXHAUSTIVE and line_of(method).joint  # the search may find better components
        lines = [
            f"result = nspca.solve(problem, {method!r}, components={self.r}, seed={self.seed}, "
            f"certify={effort if searched else None!r}{given})"
        ]
        if len(set(self.sizes)) > 1 and not line_of(method).joint:
            one = self.but(methods=(method,), effort=None)
            lines = [f"result = {one.asking()}[{method!r}, {self.r}]  # one after another"]
        if searched:
            lines.append("print(result.value, nspca.verify(X, result.certificate))  # trusts nothing")
        elif effort is not None:
            lines += [
                f"certificate = nspca.certify(problem, result, components={self.r}, effort={effort!r})",
                "print(result.value, nspca.verify(X, certificate))  # forms its own products, trusts nothing",
            ]
        joint = line_of(method).joint  # components found in turn keep the order in which they were found
        order, said = ("[:, (-result.values).argsort()]", "  # largest variance first") if joint else ("", "")
        return [
            *lines,
            f"for x in result.components{order}.T:{said}",
            "    print([(names[j], round(float(x[j]), 4)) for j in abs(x).argsort()[::-1] if x[j]])",
        ]


def solved(problem: Problem, method: str, options: Mapping[str, Any], seed: int, report: Report) -> Result:
    """Return all components of a problem by one method, together or one after another."""
    if line_of(method).joint:
        return solve(problem, method, seed=seed, report=report, certify=None, **options)
    return one_by_one(problem, method, options, seed, report)


def one_by_one(
    problem: Problem, method: str, options: Mapping[str, Any], seed: int, report: Report = silent
) -> Result:
    """Return components found one after another, each without the features of the earlier ones.

    The papers of 2014 and 2015 use this deflation. Each component is reported together with those before it.
    """
    total = len(problem.sizes)
    left, X, reached = np.arange(problem.n), np.zeros((problem.n, total)), 0.0
    for j, size in enumerate(problem.sizes):
        stage = f"component {j + 1} of {total}"

        def say(event: Event, stage: str = stage, done: int = j, reached: float = reached) -> None:
            """Report an event about one component as progress of the whole run."""
            report(Event(stage, done, total, lower=reached + (event.lower or 0.0)))

        say(Event(stage))
        part = Problem(problem.covariance.restrict(left), size, problem.nonneg)
        result = solve(part, method, certify=None, seed=seed, report=say, **options)
        X[left, j] = result.components[:, 0]
        reached += result.value
        left = left[result.components[:, 0] == 0]
        if j + 1 < total:
            report(Event(stage, j + 1, total, lower=reached, payload=event_payload(X[:, : j + 1])))
    return Result.of(problem, X, Status.HEURISTIC, method)


def _report_method(report: Report, done: int, total: int, method: str) -> Report:
    """Return a hook that reports the events of a method with the progress of the run, never less."""
    furthest, reached, started = 0.0, 0.0, time.perf_counter()

    def say(event: Event) -> None:
        """Report an event of the method as progress of the whole run."""
        nonlocal furthest, reached
        furthest = max(furthest, min(1.0, event.done / event.total if event.total else 0.0))
        payload = {"method": method, "share": (done + furthest) / (total + 1)}
        components, value = event.payload.get("components"), event.lower
        if components is not None and value is not None and value > reached * (1 + WORTH):
            reached = value
            payload |= pack(Climbed(method, time.perf_counter() - started, reached, components))
        report(replace(event, lower=reached or value, payload=payload))

    return say


def _certify(problem: Problem, found: dict[str, Result], effort: str, done: int, report: Report) -> None:
    """Add one certificate to all results, and report its improvements; a cancelled search leaves its best."""
    best = max(found.values(), key=lambda result: result.value)
    say = _report_method(Closing(report, best.value, effort), done, done, "proof")
    say(Event("looking for a bound", lower=best.value))
    certificate = None
    try:
        certificate = certify(problem, best, components=len(problem.sizes), effort=effort, report=say)
    except Cancelled as stop:
        certificate = stop.best if isinstance(stop.best, Certificate) else None
        raise
    except NSPCAError as error:  # the components are kept without a proof
        report(Event("no bound", payload=pack(Refused("proof", str(error)))))
    finally:
        found |= {method: result.with_certificate(certificate) for method, result in found.items()}
