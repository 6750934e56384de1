"""Specs of a sweep and of a comparison: every method at every k, to find a sufficient number of features, or
without the answers of other methods and with one bound for each k.

The pages Sweep and Spannogram and the commands `sweep` and `solve` ask for sweeps, and the section "Methods
side by side" of Sweep for comparisons. Other specs import `Ks`, `MethodName` and their like from here.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, StrictBool, StrictStr
from pydantic import Field as Limits

from nspca.api import certify, sweep
from nspca.bounds.plan import JOINT_PLANS
from nspca.certificate import Certificate
from nspca.components import DEFLATIONS
from nspca.errors import Cancelled, InvalidOption, NSPCAError
from nspca.presentation.phrases import things
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.proving import EFFORTS, certified
from nspca.result import Result, Sweep, row_of
from nspca.selection.rows import report_whole
from nspca.solving import line_of
from nspca.specs.base import arguments
from nspca.specs.data import OF_FEATURES, Numbers
from nspca.specs.method_options import Options
from nspca.specs.published import EPSNET, OTHERS, PROBABILITY, RANK_3, paper_bounds, rank3_bound
from nspca.specs.question import ProblemSpec, Seed, Whole, ks_words, python_of, step_of
from nspca.specs.rows import Found, Proved, Refused, pack
from nspca.validation import address
from nspca.validation.model import Option, Required

MOST_KS = 10_000
"""Maximum values of k in a sweep: more than a figure can show, and few enough to list in JSON."""

if TYPE_CHECKING:
    Deflation = str
    Effort = str
    JointEffort = str
else:
    Deflation = Literal[tuple(DEFLATIONS)]
    Effort = Literal[EFFORTS]
    JointEffort = Literal[tuple(JOINT_PLANS)]  # of several components together


def check_increasing(ks: tuple[int, ...]) -> tuple[int, ...]:
    """Return values of k; refuse values that do not increase."""
    if any(b <= a for a, b in pairwise(ks)):
        raise InvalidOption(f"ks must increase, got {list(ks)[:20]}; sort them and leave equal ones out")
    return ks


def check_method(name: str) -> str:
    """Return the name of a method; refuse an unknown one."""
    line_of(name)
    return name


def read_ks(query: Mapping[str, str]) -> tuple[int, ...]:
    """Return the values of k in an address: a list, or first, last and step with at most `MOST_KS` values."""
    try:
        if "ks" in query:
            return tuple(address.read_integers(query["ks"]))
        first, last, step = (address.read_integer(query.get(name, "1")) for name in ("from", "to", "step"))
        return tuple(range(first, last + 1, step)[:MOST_KS])
    except (ValueError, KeyError):
        raise InvalidOption(
            "an address of a sweep must have whole numbers as from=, to= and step=, got others; leave them "
            "out"
        ) from None


def write_ks(ks: tuple[int, ...]) -> dict[str, str]:
    """Return values of k as an address: from, to and step, and ks without a common step."""
    step, ends = step_of(ks), {"from": str(ks[0]), "to": str(ks[-1])}
    return ends | ({"ks": address.write(ks)} if step is None else {"step": str(step)})


KS = address.Names(dict.fromkeys(("from", "to", "step"), address.INTEGER), read_ks, write_ks)
"""The values of k in addresses, which an address may list as ``ks`` too."""
Ks = Annotated[
    tuple[Whole, ...],
    Limits(min_length=1, max_length=MOST_KS),
    Required(f"a list of 1 to {MOST_KS:,} whole numbers of at least 1", "write [5] for the one value k = 5"),
    AfterValidator(check_increasing),
]
MethodName = Annotated[StrictStr, AfterValidator(check_method)]
"""The name "auto" or a key of `nspca.METHODS`."""
Methods = Annotated[tuple[MethodName, ...], Limits(min_length=1)]


def effort_words(effort: str | None) -> str:
    """Return a phrase about the effort of a proof; empty for "fast"."""
    return {"fast": "", None: "no proof"}.get(effort, f"{effort} proofs")


def cheapest_first(methods: Iterable[str]) -> list[str]:
    """Return methods in the order of their cost, so that quick results are shown early."""
    return sorted(methods, key=lambda method: line_of(method).cost)


class SweepSpec(ProblemSpec):
    """A sweep over k of one data set."""

    kind: ClassVar[str] = "sweep"
    goes_on: ClassVar[bool] = True

    ks: Annotated[Ks, Option("Values of k", text=KS, say="")]
    methods: Annotated[
        Methods,
        Option(
            "Methods",
            "methods",
            address.WORDS,
            "call",
            say=", ".join,
            always=True,
            flag="--method",
            metavar="METHOD",
        ),
    ] = ("auto",)
    """A name of nspca.METHODS, may be repeated (default auto)."""
    effort: Annotated[
        Effort | None,
        Option(
            "Effort for the proof",
            "effort",
            address.EFFORT,
            "call",
            "certify",
            effort_words,
            True,
            flag="--effort",
        ),
    ] = "fast"
    """Work spent on the bound (default fast)."""
    keep: Annotated[Numbers, Option("Kept features", "keep", say="")] = ()
    """The `forced` features by their numbers in the prepared table before features were left out, as in
    addresses; empty if these numbers are equal."""
    published: StrictBool = True
    """Whether the bounds that papers print are computed too; see `published_bounds`."""
    seed: Seed = 0

    @property
    def total(self) -> int:
        """Number of rows of the answer: one for each k and method."""
        return len(self.ks) * len(self.methods)

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        return self.ks[-1:], self.total

    @property
    def question(self) -> str:
        return f"sweep {ks_words(self.ks)}"

    def to_query(self) -> dict[str, str]:
        """Return the question as an address, with the forced features by their numbers of `keep`."""
        return super(SweepSpec, self.but(keep=self.keep or self.forced)).to_query()

    @classmethod
    def values_of_query(cls, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the values of the fields that an address names; `forced` comes from ``keep``."""
        values = {"ks": (1,)} | super().values_of_query(query)
        if "keep" in values:
            if any(getattr(values["data"], name) for name in (*OF_FEATURES, "drop_constant")):
                raise InvalidOption(
                    "an address that keeps features and leaves others out does not say their numbers in what "
                    "is left; open it on the page and export the spec there"
                )
            values["forced"] = values.pop("keep")
        return values

    def run(self, report: Report = silent, X: Any = None, begun: Sweep | None = None) -> Sweep:
        """Return the `nspca.Sweep`. Unless `published` is False, rows and results have the published bounds.

        `Cancelled` carries the partial sweep as its `result`. Given as `begun`, its values of k are reported
        at once, and computed again only where a method was missing.
        """
        problem = self.problem(X, report)
        done = {} if begun is None else self._ready(begun)
        beside: dict[int, dict[str, Any]] = {
            k: {name: result.info[name] for name in OTHERS if name in result.info}
            for (_, k), result in done.items()
        }
        paper: Mapping[int, float | None] = {}
        probability: float | None = None
        if self.published:
            paper, probability = paper_bounds(problem, self.ks, self.seed, report)

        def completed(event: Event) -> None:
            """Report an event of the sweep; its row, if any, gets the published bounds of its k."""
            row = event.payload.get("row")
            if row is not None:
                k = row["k"]
                if k not in beside:
                    beside[k] = {}
                    if self.published:
                        bound = rank3_bound(problem.with_k(k))
                        beside[k] = {RANK_3: bound, EPSNET: paper[k], PROBABILITY: probability}
                event = replace(event, payload=pack(Found(**row, **beside[k])))
            report(event)

        def onward(event: Event) -> None:
            """Report an event of the sweep over the other values of k, with its place among all rows."""
            if event.stage == "sweep":
                event = replace(event, done=len(done) + event.done, total=self.total)
            completed(event)

        found = done
        try:
            for number, ((method, k), result) in enumerate(done.items(), 1):
                row = row_of(method, k, result)
                bounds = row["value"], row["upper"]
                completed(Event("sweep", number, self.total, *bounds, k, payload={"row": row}))
            if ks := [k for k in self.ks if (self.methods[0], k) not in done]:
                found = done | sweep(problem, ks, report=onward, **self.given_to("call")).results
            return _with_info(found, beside)
        except Cancelled as stop:
            found = done | (stop.best.results if isinstance(stop.best, Sweep) else {})
            stop.result = _with_info(found, beside) if beside else None
            raise

    def _ready(self, begun: Sweep) -> dict[tuple[str, int], Result]:
        """Return the results of each k that a cancelled sweep has for all methods."""
        known, methods = begun.results, self.methods
        ready = [k for k in self.ks if all((method, k) in known for method in methods)]
        return {(method, k): known[method, k] for k in ready for method in methods}

    unpack: ClassVar = staticmethod(Sweep.from_bytes)

    def python(self, k: int | None = None, method: str | None = None, **shown: Any) -> list[str]:
        """Return Python that sweeps, checks the proof of one component and prints its weights.

        By default the component is that of the last k and the first method.
        """
        k, method = k or self.ks[-1], method or self.methods[0]
        ks = python_of(self.ks)
        lines = [
            f"sweep = nspca.sweep(problem, {ks}, {arguments(self.given_to('call'))})",
            f"result = sweep[{method!r}, {k}]",
        ]
        if self.effort is not None:
            lines += [
                "upper = nspca.verify(X, result.certificate)  # forms its own products, trusts nothing",
                "print(result.value, upper, result.ratio)  # the ratio is rounded down",
            ]
        beside = (
            f"bounds = nspca.published_bounds(problem, {ks}, seed={self.seed})",
            "print(bounds.to_string(index=False, float_format=str))",
        )
        return [
            *lines,
            "x = result.components[:, 0]",
            f"for j in abs(x).argsort()[::-1][:{k}]:",
            "    print(names[j], x[j])",
            "print(sweep.frame.to_string(index=False, float_format=str))  # every digit",
            *(beside if self.published else ()),
        ]


def _with_info(found: Mapping[tuple[str, int], Result], beside: Mapping[int, dict[str, Any]]) -> Sweep:
    """Return a sweep of the results whose k is in `beside`, with its numbers in their `info`."""
    return Sweep(
        {
            (method, k): replace(result, info=result.info | beside[k])
            for (method, k), result in found.items()
            if k in beside
        }
    )


SHARED = 10
"""Number of leading eigenvectors computed before the first method, so that no method pays for them alone."""
COMPARED = ("auto", "em", "tpower", "greedy", "threshold", "pca")
"""Methods compared by default."""

LISTED_KS = address.Names(
    {"ks": address.PLAIN},
    lambda query: read_ks({"ks": query["ks"].replace(" ", "")}),
    lambda ks: {"ks": ", ".join(map(str, ks))},
)
"""The values of k in an address: a list, in which blanks are ignored."""


class ComparisonSpec(ProblemSpec):
    """Several methods at several k on one problem, each without the answers of the others."""

    kind: ClassVar[str] = "comparison"

    ks: Annotated[Ks, Option("Values of k", text=LISTED_KS, say="")]
    methods: Annotated[
        Methods, Option("Methods", "rivals", address.WORDS, say=", ".join, always=True, by_data=True)
    ] = COMPARED
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
        share_work(problem, self.methods, report)
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
        """Add one certificate for each k to all results of that k, also that of a cancelled search."""
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


def share_work(problem: Problem, methods: tuple[str, ...], report: Report) -> None:
    """Do the shared work of methods before they are timed: eigenvectors, and the import of scikit-learn."""
    report(Event("leading eigenvectors"))
    problem.covariance.leading(min(SHARED, problem.n))
    if any(line_of(name).baseline for name in methods):
        import sklearn.decomposition  # noqa: F401
