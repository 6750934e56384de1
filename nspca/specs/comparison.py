"""Spec of a comparison: the variance that several methods explain at several k, with one bound for each k.

The section "Methods side by side" of the page Sweep asks it.
"""

from dataclasses import replace
from typing import Annotated, Any, ClassVar

from pydantic import Field as Limits

from nspca.api import certify, sweep
from nspca.certificate import Certificate
from nspca.errors import Cancelled, NSPCAError
from nspca.presentation.phrases import things
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.proving import certified
from nspca.result import Result, Sweep
from nspca.selection.rows import report_whole
from nspca.solving import line_of
from nspca.specs.method_options import Options
from nspca.specs.question import ProblemSpec, Seed, ks_words
from nspca.specs.rows import Found, Proved, Refused, pack
from nspca.specs.sweep import Effort, Ks, Methods, cheapest_first, effort_words, read_ks
from nspca.validation import address
from nspca.validation.model import Option

SHARED = 10
"""Number of leading eigenvectors computed before the first method, so that no method pays for them alone."""
DEFAULT = ("auto", "em", "tpower", "greedy", "threshold", "pca")
"""Methods compared by default."""

KS = address.Names(
    {"ks": address.PLAIN},
    lambda query: read_ks({"ks": query["ks"].replace(" ", "")}),
    lambda ks: {"ks": ", ".join(map(str, ks))},
)
"""The values of k in an address: a list, in which blanks are ignored."""


class ComparisonSpec(ProblemSpec):
    """Several methods at several k on one problem, each without the answers of the others."""

    kind: ClassVar[str] = "comparison"

    ks: Annotated[Ks, Option("Values of k", text=KS, say="")]
    methods: Annotated[
        Methods, Option("Methods", "rivals", address.WORDS, say=", ".join, always=True, by_data=True)
    ] = DEFAULT
    effort: Annotated[
        Effort, Option("Effort for the proof", "effort", address.EFFORT, say=effort_words, always=True)
    ] = "fast"
    options: Options = Limits(default_factory=dict)
    seed: Seed = 0

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        return self.ks[-1:], len(self.ks) * len(self.methods)

    @property
    def total(self) -> int:
        """Number of rows that the run reports: one for each method and k, and one proof for each k."""
        return len(self.ks) * (len(self.methods) + 1)

    @property
    def question(self) -> str:
        return f"comparison of {things(len(self.methods), 'method')}, {ks_words(self.ks)}"

    # ---- run

    def run(self, report: Report = silent, X: Any = None) -> Sweep:
        """Return a `nspca.Sweep` of every method at every k, with one certificate for each k.

        Values and seconds are those of each method alone: no method uses the answer of another, and shared
        work is done before the first starts. The cheapest method runs first. If a method cannot solve the
        problem, the message of its error is reported, and the others continue; without another one it is
        raised. `Cancelled` carries the partial sweep as its `result`.
        """
        problem = self.problem(X, report)
        share(problem, self.methods, report)
        found: dict[tuple[str, int], Result] = {}

        def ready() -> Sweep:
            """Return a sweep of the results so far, in the order of `methods` and `ks`."""
            pairs = [(method, k) for method in self.methods for k in self.ks if (method, k) in found]
            return Sweep({pair: found[pair] for pair in pairs})

        try:
            self._values(problem, found, report)
            self._proofs(problem, found, report)
        except Cancelled as stop:
            stop.result = ready() if found else None
            raise
        return ready()

    unpack: ClassVar = staticmethod(Sweep.from_bytes)

    def _values(self, problem: Problem, found: dict[tuple[str, int], Result], report: Report) -> None:
        failed: list[NSPCAError] = []
        steps = len(self.ks)
        for i, method in enumerate(cheapest_first(self.methods)):

            def say(event: Event, method: str = method, before: int = i * steps) -> None:
                """Report a row of the sweep, or that it goes on, as progress of the whole run."""
                row = event.payload.get("row")
                done, payload = (before, {}) if row is None else (before + event.done, pack(Found(**row)))
                report(Event(method, done, self.total, k=event.k, payload=payload))

            how: dict[str, Any] = {"methods": (method,), "certify": None, "seed": self.seed}
            try:
                options = self.options.get(method, {})
                found |= sweep(problem, self.ks, report=say, **how, **options).results
            except Cancelled as stop:
                found |= stop.best.results if isinstance(stop.best, Sweep) else {}
                raise
            except NSPCAError as error:
                failed.append(error)
                payload = pack(Refused(method, str(error)))
                report(Event(method, (i + 1) * steps, self.total, payload=payload))
        if not found:
            raise failed[-1]

    def _proofs(self, problem: Problem, found: dict[tuple[str, int], Result], report: Report) -> None:
        """Add one certificate for each k to all results of that k.

        A cancelled search leaves its best certificate so far.
        """
        before = len(self.ks) * len(self.methods)
        for i, k in enumerate(self.ks):
            same_k = {key: result for key, result in found.items() if key[1] == k}
            best = max(same_k.values(), key=lambda result: result.value)
            certificate, say = None, report_whole(report, before + i, self.total, f"proof for k = {k}")
            try:
                certificate = certify(problem.with_k(k), best, effort=self.effort, report=say)
            except Cancelled as stop:
                certificate = stop.best if isinstance(stop.best, Certificate) else None
                raise
            finally:
                if certificate is not None:
                    found |= {
                        key: certified(problem.with_k(k), result, certificate)
                        for key, result in same_k.items()
                    }
            row, done = Proved(k, certificate.upper, certificate.kind), before + i + 1
            event = Event("proof", done, self.total, lower=best.value, upper=certificate.upper, k=k)
            report(replace(event, payload=pack(row)))

    def python(self, **shown: Any) -> list[str]:
        return [f"sweep = {self.asking()}  # no method sees another's answer", "print(sweep.frame)"]


def share(problem: Problem, methods: tuple[str, ...], report: Report) -> None:
    """Do the shared work of methods before they are timed: eigenvectors, and the import of scikit-learn."""
    report(Event("leading eigenvectors"))
    problem.covariance.leading(min(SHARED, problem.n))
    if any(line_of(name).baseline for name in methods):
        import sklearn.decomposition  # noqa: F401
