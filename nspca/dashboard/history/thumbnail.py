"""Draw thumbnails of the results of runs for the page Runs, from their rows in the store.

No Streamlit calls.
"""

import math
from collections.abc import Sequence
from typing import Any

from nspca.dashboard.history.descriptions import DescribedRun
from nspca.data import SAMPLES
from nspca.plots.thumbnail import patches, sparkline
from nspca.presentation.numerals import format_bound, format_value
from nspca.specs import ProblemSpec
from nspca.specs.rows import Closer, Found, Several

MOST = 300  # points of a line, and features of the parts: more are not seen at this size


def of(one: DescribedRun, rows: Sequence[Any]) -> tuple[str, str] | None:
    """Return a small figure of a run as SVG, and what it shows; None for a kind of run without any."""
    several = [row for row in rows if isinstance(row, Several) and row.parts]
    if several:
        best = max(several, key=lambda row: sum(row.values))
        sizes = ", ".join(str(len(part[0])) for part in best.parts or [])
        return _parts(one, best), f"Sets of {sizes} features found by this run"
    closer = [row for row in rows if isinstance(row, Closer)]
    if closer:
        thin = closer[:: 1 + len(closer) // MOST]
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
    return _curves(found), f"Variance against k of this run, up to {format_value(top.value)} at k = {top.k}"


def _curves(found: list[Found]) -> str:
    """Return SVG lines of value against k for each method, at the common k; the best has its proved band."""
    by: dict[str, dict[int, Found]] = {}
    for row in found:
        by.setdefault(row.method, {})[row.k] = row
    best = max(by, key=lambda method: (len(by[method]), sum(row.value for row in by[method].values())))
    ks = sorted(set.intersection(*(set(rows) for rows in by.values())) or by[best])
    ks = ks[:: 1 + len(ks) // MOST]
    order = [best, *(method for method in by if method != best and set(ks) <= set(by[method]))]
    bounds = [_known(by[best][k].upper) for k in ks]
    return sparkline(ks, {method: [by[method][k].value for k in ks] for method in order}, bounds)


def _known(bound: float | None) -> float | None:
    return bound if bound is not None and math.isfinite(bound) else None


def _parts(one: DescribedRun, row: Several) -> str:
    """Return SVG of the components of `row`: a map of pixels for images, otherwise a line of features."""
    supports = [sorted(part[0])[:MOST] for part in row.parts or []]
    data = one.spec.data if isinstance(one.spec, ProblemSpec) else None
    sample = SAMPLES.get(data.sample or "") if data else None
    last = max((j for part in supports for j in part), default=0)
    n = sample.shape[1] if sample and sample.shape else last + 1
    side = math.isqrt(n)
    square = sample is not None and sample.kind == "image" and side * side == n
    return patches(supports, n, side if square else n)
