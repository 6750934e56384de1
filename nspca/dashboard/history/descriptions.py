"""Describe stored runs: data, question, and the page that shows the run.

The page Runs, the box about the last run on Home, and the page of a shared run call `describe_runs`.

Stored bytes may be damaged or unknown. `describe_runs` then leaves the run without a description.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from nspca.dashboard.app.state import OF_RUNS, PAGES
from nspca.dashboard.runs import tasks
from nspca.jobs import Run
from nspca.presentation.numerals import proved_ratio
from nspca.specs import ComparisonSpec, ComponentsSpec, Spec, StabilitySpec, SweepSpec

# Errors that reading a damaged or unknown run may raise.
DAMAGE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, OSError, RecursionError)
# Specs whose number of rows is known, so that progress can be counted.
COUNTED = (SweepSpec, ComponentsSpec, ComparisonSpec, StabilitySpec)


@dataclass(frozen=True)
class DescribedRun:
    """Run with its question, and the page that shows it, if there is one, with the values of its address."""

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


def describe_runs(runs: Iterable[Run]) -> list[DescribedRun | Run]:
    """Return a description for each run. A run that is damaged or of an unknown kind is returned as it is."""
    runs = list(runs)
    there = {run.id for run in runs}
    return [_described(run, there) for run in runs]


def _described(run: Run, there: set[str]) -> DescribedRun | Run:
    """Return the description of a run, without a page if the page shows another run that is not `there`."""
    try:
        spec = tasks.spec_of(run)
    except DAMAGE:
        return run
    name, _, text = run.page.partition("?")
    query = dict(parse_qsl(text, keep_blank_values=True))
    shown = {key: query[key] or run.id for key in OF_RUNS if key in query}
    if name not in PAGES or not there >= set(shown.values()):
        return DescribedRun(run, spec)
    return DescribedRun(run, spec, "app.py" if name == "app" else f"pages/{name}.py", query | shown)


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
