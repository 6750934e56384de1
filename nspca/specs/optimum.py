"""Spec of an exhaustive search, which ends when an answer is proved optimal or the time is over.

The pages Home and Sweep offer it for one component that is not proved optimal, and
Components for several.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from pydantic import Field as Limits
from pydantic import StrictInt

from nspca.api import certify, prove_optimum
from nspca.bounds.fixing.fates import unhexed
from nspca.certificate import Certificate
from nspca.errors import Cancelled
from nspca.problem import Problem
from nspca.progress import Event, Report, silent
from nspca.proving import EXHAUSTIVE, certified, improved
from nspca.result import Result
from nspca.specs.components import solved
from nspca.specs.proof import Closing, Sparsity, known_result, sparsity_words
from nspca.specs.question import ProblemSpec
from nspca.specs.sweep import JointEffort, MethodName

SECONDS = 3600
"""Default maximum seconds of a search, which can be continued later."""
PAUSE = 0.5
"""Minimum seconds between two `Closer` rows, since a bound may improve many times per second."""


class OptimumSpec(ProblemSpec):
    """An exhaustive search for a better answer, or for a proof that none exists."""

    kind: ClassVar[str] = "optimum"

    k: Sparsity
    method: MethodName = "auto"
    """Method of the first answer."""
    seconds: Annotated[StrictInt, Limits(ge=0)] = SECONDS
    """Maximum seconds of the search; 0 for none, so that `effort` alone is proved, however long it takes."""
    effort: JointEffort | None = None
    """Effort of a proof that comes before the search, unless an earlier search is continued."""
    attempt: Annotated[StrictInt, Limits(ge=0)] = 0
    """Number of searches before this one, so that a further search has another result key."""

    @property
    def question(self) -> str:
        return f"{'is it the best?' if self.seconds else 'a tighter proof,'} {sparsity_words(self.k)}"

    def run(
        self, report: Report = silent, X: Any = None, component: Any = None, certificate: bytes | None = None
    ) -> Result:
        """Return the best answer with its certificate.

        The search begins with a known component (n,) or (n, r), by default with what `method` finds, and goes
        on from the certificate of an earlier search. `Cancelled` carries the best answer so far as `result`.
        """
        problem = self.problem(X, report)
        if component is None and problem.joint:
            known = solved(problem, self.method, {}, 0, report)
        else:
            known = known_result(problem, component, report, self.method)
        known = replace(known, method=self.method)
        resume = None if certificate is None else Certificate.from_bytes(certificate)
        watch = Watch(report, known.value, max(problem.sizes))
        if not self.seconds:
            watch.effort = self.effort or "fast"
            known, proof = self.proved_before(problem, known, resume, watch)
            assert proof is not None  # without a limit of time, a proof ends with a certificate or raises
            return certified(problem, known, proof)
        if self.effort is not None and (resume is None or resume.tree is None):
            known, resume = self.proved_before(problem, known, resume, watch)
        left = max(0.0, self.seconds - watch.seconds)
        found = prove_optimum(problem, known, watch, seconds=left, resume=resume)
        assert found.certificate is not None  # `prove_optimum` returns a certificate or raises
        watch.end(found.value, found.certificate.upper)
        return found

    def proved_before(
        self, problem: Problem, known: Result, resume: Certificate | None, watch: "Watch"
    ) -> tuple[Result, Certificate | None]:
        """Return the better answer and bound after a proof with the spec's effort, within its seconds."""

        def limited(event: Event) -> None:
            watch(event)
            if self.seconds and watch.seconds > self.seconds:
                raise Cancelled("the time is over")

        try:
            return known, _better(
                resume, certify(problem, known, effort=self.effort or "fast", report=limited)
            )
        except Cancelled as stop:
            best, answer = _better(resume, stop.best), improved(problem, known, stop.point)
            if self.seconds and watch.seconds > self.seconds:
                return answer, best
            stop.result = None if best is None else certified(problem, answer, best)
            raise

    unpack: ClassVar = staticmethod(Result.from_bytes)

    def python(self, **shown: Any) -> list[str]:
        how = f"{EXHAUSTIVE!r}, seconds={self.seconds}" if self.seconds else repr(self.effort or "fast")
        return [
            f"result = nspca.solve(problem, certify={how})",
            "print(result.status.value)",
            "print(result.value, nspca.verify(X, result.certificate))  # the bound, proved again",
        ]


def _better(known: Certificate | None, found: Any) -> Certificate | None:
    if not isinstance(found, Certificate) or (known is not None and known.upper <= found.upper):
        return known
    return found


@dataclass(frozen=True, eq=False)
class Standing:
    """Progress of an exhaustive search: numbers of open and of settled nodes, and masks (n,) or (n, r).

    Every better answer has the `certain` features, and none has others than the `possible` ones, if its
    components are numbered suitably.
    """

    certain: np.ndarray
    possible: np.ndarray
    open: int
    nodes: int

    @classmethod
    def none(cls, *shape: int) -> Self:
        """Return the standing of a finished search, which has no open nodes and no undecided features."""
        return cls(np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool), 0, 0)

    @classmethod
    def of(cls, event: Event | None, *shape: int) -> Self | None:
        """Return the standing in an event, with masks of a shape; None if the event has none."""
        said: Mapping[str, Any] = {} if event is None else event.payload
        try:
            certain, possible = (unhexed(said[name], *shape) for name in ("certain", "possible"))
            return cls(certain, possible, int(said["open"]), int(said["nodes"]))
        except (KeyError, TypeError, ValueError):
            return None


class Watch(Closing):
    """A report hook that adds the standing of the search to every event, and a `Closer` row now and then.

    `lower` is the value of the known answer at the start, and of the best one later.
    """

    def __init__(self, report: Report, lower: float, k: int) -> None:
        super().__init__(report, lower, EXHAUSTIVE)
        self.k, self.next_row = k, 0.0
        self.standing: dict[str, Any] = {}

    def __call__(self, event: Event) -> None:
        """Take an event of the search: remember its bounds and standing, and report it with them."""
        names = ("certain", "possible", "open", "nodes")
        known = {name: event.payload[name] for name in names if name in event.payload}
        self.standing = self.standing | known  # earlier events keep what they had
        if event.lower is not None:
            self.lower = max(self.lower, event.lower)
        super().__call__(replace(event, payload=self.standing))

    def row(self) -> dict[str, Any]:
        """Return a `Closer` row with the present bounds, or nothing if the last one is not `PAUSE` old."""
        if self.seconds < self.next_row:
            return {}
        self.next_row = self.seconds + PAUSE
        return super().row()

    def end(self, lower: float, upper: float) -> None:
        """Report the final bounds."""
        self.lower, self.upper, self.next_row = lower, upper, 0.0
        payload = {**self.standing, **self.row()}
        self.report(Event("proving the optimum", lower=lower, upper=upper, k=self.k, payload=payload))
