"""Describe stored runs: data, question, and the page that shows the run.

The page Runs, the box about the last run on Home, and the page of a shared run call `describe_runs`.

Stored bytes may be damaged or unknown. `describe_runs` then leaves the run without a description.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from nspca.dashboard.runs import tasks
from nspca.data import SAMPLES
from nspca.jobs import Run
from nspca.presentation.numerals import proved_ratio
from nspca.specs import (
    ChoiceSpec,
    ComparisonSpec,
    ComponentsChoiceSpec,
    ComponentsSpec,
    ComponentsStabilitySpec,
    DataSpec,
    GroupsSpec,
    NoiseSpec,
    OptimumSpec,
    PaperSpec,
    ProblemSpec,
    Spec,
    StabilitySpec,
    SuccessiveSpec,
    SweepSpec,
)

# Errors that reading a damaged or unknown run may raise.
DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError, RecursionError)
# Specs that have a page of their own, which also shows follow-up runs.
OWN = (SweepSpec, ComponentsSpec, ComparisonSpec)
# Specs whose number of rows is known, so that progress can be counted.
COUNTED = (*OWN, SuccessiveSpec, StabilitySpec)
DATA_KEYS = {"parts": "pictures", "topics": "texts", "components": "table"}
"""Name of the data in the address of a page about several components, by the address name of its run."""
LOOKS = {
    ComponentsStabilitySpec: "again",
    ComponentsChoiceSpec: "many",
    GroupsSpec: "samples",
}
"""Section of a page about several components that shows a follow-up run, by its spec."""
HOME_MOST = 20  # largest k of the proofs about the digits on the home page


@dataclass(frozen=True)
class DescribedRun:
    """Run with its spec and the page that shows it.

    Parameters
    ----------
    run, spec : the run as the store has it, and its question
    page : path of the page that shows the run; None when no page does
    query : values of the address of that page
    """

    run: Run
    spec: Spec
    page: str | None = None
    query: dict[str, str] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Number of rows that the run reports in all; 0 when unknown."""
        return self.spec.total if isinstance(self.spec, COUNTED) else 0

    @property
    def line(self) -> str:
        """One line with data, question and settings of the run."""
        said = self.spec.describe()
        return " · ".join([said.data, said.question, *said.details])

    @property
    def name(self) -> str:
        """Name given by the visitor, or else the title of the spec."""
        return self.run.name or self.spec.describe().title

    @property
    def is_sweep(self) -> bool:
        """True for a finished sweep, which can be compared with another sweep."""
        return isinstance(self.spec, SweepSpec) and self.run.state == "done"


def describe_runs(runs: Iterable[Run]) -> list[DescribedRun | Run]:
    """Return a description for each run. A run that is damaged or of an unknown kind is returned as it is."""
    runs = list(runs)
    known: dict[str, Spec] = {}
    for run in runs:
        try:
            known[run.id] = tasks.spec_of(run)
        except DAMAGE:
            continue
    shown = [_shown(run, known[run.id]) for run in runs if isinstance(known.get(run.id), OWN)]
    own = {one.run.id: one for one in shown}
    return [
        own.get(run.id) or (_beside(run, known[run.id], shown) if run.id in known else run) for run in runs
    ]


def _shown(run: Run, spec: Any) -> DescribedRun:
    """Return the description of a run that has a page of its own."""
    query = spec.to_query()
    if isinstance(spec, SweepSpec):
        return DescribedRun(run, spec, "pages/sweep.py", query | {"run": run.id})
    if isinstance(spec, ComparisonSpec):
        return DescribedRun(run, spec, "pages/compare.py", query | {"compare": run.id})
    key = f"{spec.noun}s"
    query[DATA_KEYS[key]] = spec.data.sample or "mine"
    return DescribedRun(run, spec, f"pages/{key}.py", query | {key: run.id})


def _beside(run: Run, spec: Spec, shown: list[DescribedRun]) -> DescribedRun:
    """Return the description of a run without a page of its own.

    Such a run is shown below one of the runs `shown`, on the page of the papers, on the home page, or not
    at all.
    """
    if isinstance(spec, PaperSpec):
        return DescribedRun(run, spec, "pages/papers.py", spec.to_query())
    if not isinstance(spec, ProblemSpec):
        return DescribedRun(run, spec)
    parent = next((one for one in shown if _is_below(spec, one.spec)), None)
    k = getattr(spec, "k", None)
    at = {"k": str(k)} if isinstance(k, int) else {}
    if parent is not None:
        look = LOOKS.get(type(spec)) if isinstance(parent.spec, ComponentsSpec) else None
        return DescribedRun(run, spec, parent.page, parent.query | at | ({"look": look} if look else {}))
    if at and _is_of_home(spec):
        return DescribedRun(run, spec, "app.py", {"digit_k": str(k)})
    if isinstance(spec, OptimumSpec) and isinstance(k, tuple) and spec.data.sample in SAMPLES:
        return _of_first_answer(run, spec, k, spec.data.sample)
    return DescribedRun(run, spec)


def _of_first_answer(run: Run, spec: ProblemSpec, sizes: tuple[int, ...], sample: str) -> DescribedRun:
    """Return the description of a run about the first answer of a page, which is no run of the workspace."""
    kind = "table" if spec.data.covariance else SAMPLES[sample].kind
    noun: Any = {"image": "part", "words": "topic"}.get(kind, "component")
    shown = _shown(run, ComponentsSpec(**spec.about_problem(), sizes=sizes, noun=noun))
    query = {name: text for name, text in shown.query.items() if name != f"{noun}s"}
    return DescribedRun(run, spec, shown.page, query)


def _is_below(spec: Any, about: Any) -> bool:
    """Return whether the spec `spec` is a follow-up question on the results of the spec `about`."""
    if spec.same_problem != about.same_problem:
        return False
    if isinstance(spec, OptimumSpec):
        if isinstance(about, ComponentsSpec):
            return spec.k == about.sizes and spec.method in about.methods
        return _has(about, SweepSpec, [spec.k], [spec.method])
    if isinstance(spec, SuccessiveSpec | StabilitySpec):
        return _has(about, ComparisonSpec, [spec.k], spec.methods)
    if isinstance(spec, ComponentsStabilitySpec):
        is_same = isinstance(about, ComponentsSpec) and about.sizes == spec.sizes
        return is_same and spec.method in about.methods
    if isinstance(spec, GroupsSpec):
        return isinstance(about, ComponentsSpec) and about.sizes == spec.sizes
    if isinstance(spec, ComponentsChoiceSpec):
        return isinstance(about, ComponentsSpec) and spec.k in about.sizes and spec.method in about.methods
    if isinstance(spec, ChoiceSpec | NoiseSpec):
        ks = spec.ks if isinstance(spec, ChoiceSpec) else [spec.k]
        return _has(about, SweepSpec, ks, [spec.method])
    return False


def _has(about: Any, kind: Any, ks: Iterable[Any], methods: Iterable[str] = ()) -> bool:
    """Return whether the spec `about` is of a kind and has all the given values of k and methods."""
    return isinstance(about, kind) and set(ks) <= set(about.ks) and set(methods) <= set(about.methods)


def _is_of_home(spec: Any) -> bool:
    """Return whether a spec is a search about the digits with a k that the home page shows."""
    if not isinstance(spec, OptimumSpec) or not isinstance(spec.k, int):
        return False
    plain = OptimumSpec(data=DataSpec(sample="digits", content=spec.content), k=spec.k)
    return spec.k <= HOME_MOST and spec.data == plain.data and spec.same_problem == plain.same_problem


def proved(rows: Iterable[Any]) -> tuple[float, float] | None:
    """Return the smallest and the largest proved ratio over all k, from the rows of a run.

    The ratio at each k is that of the best answer. Returns None when nothing is proved.
    """
    best: dict[int | None, float] = {}
    values: dict[int | None, float] = {}
    for row in rows:  # rows of other kinds lack these attributes and are skipped
        k, ratio = getattr(row, "k", None), getattr(row, "ratio", None)
        if isinstance(getattr(row, "value", None), int | float):
            values[k] = max(values.get(k, 0.0), row.value)
        lower, upper = getattr(row, "lower", values.get(k)), getattr(row, "upper", None)
        if ratio is None and upper and lower is not None:
            ratio = proved_ratio(lower, upper)
        if ratio is not None and math.isfinite(ratio):
            best[k] = max(best.get(k, 0.0), ratio)
    return (min(best.values()), max(best.values())) if best else None
