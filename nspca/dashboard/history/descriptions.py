"""Describe stored runs: data, question, the page that shows the run, and a small drawing. No Streamlit calls.

The page Runs, the box about the last run on Home, and the page of a shared run call `describe_runs`.

Stored bytes may be damaged or unknown. `describe_runs` then leaves the run without a description.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from nspca.dashboard.app.state import OF_RUNS, PAGES
from nspca.dashboard.runs import tasks
from nspca.data import SAMPLES
from nspca.jobs import Run
from nspca.plots.thumbnail import patches, sparkline
from nspca.presentation.numerals import format_bound, format_value, proved_ratio
from nspca.specs import ComparisonSpec, ComponentsSpec, ProblemSpec, Spec, StabilitySpec, SweepSpec
from nspca.specs.rows import Closer, Found, Several

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


MOST_POINTS = 300  # points of a line, and features of the parts: more are not seen at this size


def draw_small(one: DescribedRun, rows: Sequence[Any]) -> tuple[str, str] | None:
    """Return a small figure of a run as SVG, and what it shows; None for a kind of run without any."""
    several = [row for row in rows if isinstance(row, Several) and row.parts]
    if several:
        best = max(several, key=lambda row: sum(row.values))
        sizes = ", ".join(str(len(part[0])) for part in best.parts or [])
        return _draw_parts(one, best), f"Sets of {sizes} features found by this run"
    closer = [row for row in rows if isinstance(row, Closer)]
    if closer:
        thin = closer[:: 1 + len(closer) // MOST_POINTS]
        svg = sparkline(
            [row.seconds for row in thin],
            {"": [row.lower for row in thin]},
            [_known(row.upper) for row in thin],
        )
        last = closer[-1]
        ends = f"value {format_value(last.lower)}, proved bound {format_bound(last.upper)}"
        return svg, f"The search of this run: {ends} after {last.seconds:.2g} s"
    found = [row for row in rows if isinstance(row, Found) and isinstance(row.value, int | float)]
    found = [row for row in found if math.isfinite(row.value)]
    if not found:
        return None
    top = max(found, key=lambda row: row.value)
    return _draw_curves(
        found
    ), f"Variance against k of this run, up to {format_value(top.value)} at k = {top.k}"


def _draw_curves(found: list[Found]) -> str:
    """Return SVG lines of value against k for each method, at the common k; the best has its proved band."""
    by: dict[str, dict[int, Found]] = {}
    for row in found:
        by.setdefault(row.method, {})[row.k] = row
    best = max(by, key=lambda method: (len(by[method]), sum(row.value for row in by[method].values())))
    ks = sorted(set.intersection(*(set(rows) for rows in by.values())) or by[best])
    ks = ks[:: 1 + len(ks) // MOST_POINTS]
    order = [best, *(method for method in by if method != best and set(ks) <= set(by[method]))]
    bounds = [_known(by[best][k].upper) for k in ks]
    return sparkline(ks, {method: [by[method][k].value for k in ks] for method in order}, bounds)


def _known(bound: float | None) -> float | None:
    return bound if bound is not None and math.isfinite(bound) else None


def _draw_parts(one: DescribedRun, row: Several) -> str:
    """Return SVG of the components of `row`: a map of pixels for images, otherwise a line of features."""
    supports = [sorted(part[0])[:MOST_POINTS] for part in row.parts or []]
    data = one.spec.data if isinstance(one.spec, ProblemSpec) else None
    sample = SAMPLES.get(data.sample or "") if data else None
    last = max((j for part in supports for j in part), default=0)
    n = sample.shape[1] if sample and sample.shape else last + 1
    side = math.isqrt(n)
    square = sample is not None and sample.kind == "image" and side * side == n
    return patches(supports, n, side if square else n)
