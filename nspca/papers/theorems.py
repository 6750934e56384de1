"""Compare the guarantees of the papers' theorems, as numbers, with certificates on their data sets.

Theorems 1 and 2 of Asteris, Papailiopoulos and Dimakis (2014) promise a share of the unknown optimum before
anything is computed. This share depends on n, k and the decay of the eigenvalues alone. Theorem 2 of Asteris
et al. (2015) promises a share of the optimum minus the loss of the low-rank sketch. A certificate instead
proves a share for the component that was found. `nspca.papers` makes items of `single` and `joint`.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from nspca import api
from nspca.covariance.linalg import Array
from nspca.data import prepare
from nspca.lowrank.rankd import rho
from nspca.papers import originals
from nspca.papers.item import Curve, Found, Outcome, Panel, Table, curve
from nspca.presentation.numerals import round_down, round_up
from nspca.problem import Problem
from nspca.progress import Event, Report
from nspca.solvers import epsnet

RANK, EPS = 3, 0.1
"""Rank d of the sketch and accuracy eps in Section 7 of the 2014 paper."""
COMPONENTS, SKETCH = 5, 4
"""Number of components, and rank of the sketch, in Table 1 of the 2015 paper."""
DRAWN = 20
"""Number of leading eigenvalues in the figure. Later ones hardly matter to the theorems."""
Load = Callable[[], Array]
"""Function that loads a table (m, n)."""

SINGLE: dict[str, tuple[Load, int]] = {
    "CBCL faces, grey levels spread evenly": (lambda: prepare(originals.sample("cbcl"), "equalised").X, 180),
    "Leukemia": (lambda: originals.sample("leukemia").X, 50),
    "LRS spectra": (lambda: originals.sample("lrs").X, 20),
}
"""Data sets of the 2014 paper: a function that loads each, and the k that the paper names."""
JOINT: dict[str, tuple[Load, int]] = {
    "CBCL faces, grey levels spread evenly": (lambda: prepare(originals.sample("cbcl"), "equalised").X, 40),
    "Leukemia": (lambda: originals.sample("leukemia").X, 40),
    "Arcene": (lambda: originals.table("arcene")[:100], 40),
    "Mfeat pixels": (lambda: originals.table("mfeat"), 40),
}
"""Data sets of Table 1 of the 2015 paper: a function that loads each, and the features per component."""


def single(report: Report) -> Outcome:
    """Return the check of Theorems 1 and 2 of 2014 on three data sets.

    Each row of the table has the promised shares, the share proved, and the decay of the eigenvalues.
    """
    rows, curves, holds = [], [], {"theorem1": True, "theorem2": True}
    for name, problem in _problems(SINGLE, report):
        k, n = problem.size, problem.n
        values = problem.covariance.leading(min(DRAWN, n))[0]
        curves.append(_decay(name, values))
        promised = rho(problem, RANK)
        result = epsnet.path(problem, [k], epsnet.Options(RANK, EPS, polish=False), 0, report)[k]
        proved = api.certify(problem, result, effort="fast").ratio(result.value)
        bound = epsnet.upper_bounds(problem, [k], epsnet.Options(RANK, EPS), 0, report)[0][k]
        holds["theorem1"] &= proved >= promised
        holds["theorem2"] &= proved >= (1 - EPS) * promised
        sketch = result.value / min(bound, problem.leading_eigenvalue)
        shares = promised, (1 - EPS) * promised, sketch, proved
        rows.append([name, f"{n:,}", str(k), f"{values[RANK] / values[0]:.3g}", *map(_percent, shares)])
    columns = ["Data", "n", "k", "λ4 / λ1", "Theorem 1", "Theorem 2", "Bound of Sec. 7", "Certificate"]
    found = {
        key: [Found(f"proved of the same components on {len(rows)} data sets", "d = 3, eps = 0.1", kept)]
        for key, kept in holds.items()
    }
    return Outcome(found, [_panel(curves)], tables=[Table("Shares of the optimum", columns, rows)])


def joint(report: Report) -> Outcome:
    """Return the check of Theorem 2 of 2015 on the data of Table 1: loss, promise and size of the net."""
    rows, curves, holds = [], [], True
    for name, problem in _problems(JOINT, report):
        values = problem.covariance.leading(min(DRAWN, problem.n))[0]
        curves.append(_decay(name, values))
        how: dict[str, Any] = {"components": COMPONENTS, "report": report}
        paper = api.solve(problem, "bipartite", certify=None, rank=SKETCH, eps=EPS, samples=200, **how)
        best = api.solve(problem, "joint", certify="fast", **how)
        assert best.certificate is not None
        loss, upper = paper.info["loss"], best.certificate.upper
        promised = (1 - EPS) - loss / upper
        holds &= best.value >= (1 - EPS) * upper - loss
        share = f"{100 * round_up(promised, 3):.3g} %" if promised > 0 else "nothing"
        decay, points = f"{values[SKETCH] / values[0]:.3g}", f"10^{np.log10(paper.info['net_points']):.0f}"
        proved = _percent(best.certificate.ratio(best.value))
        rows.append([name, str(problem.size), decay, f"{loss:.3g}", share, points, proved])
    columns = [
        "Data", "s", "λ5 / λ1", "Loss 2 k |A - Ā|", "Theorem 2, at most", "Points of its net", "Certificate",
    ]  # fmt: skip
    kept = Found(f"kept by the best components found on {len(rows)} data sets", "rank 4, eps = 0.1", holds)
    tables = [Table("Five components", columns, rows)]
    return Outcome({"promise": [kept]}, [_panel(curves)], tables=tables)


def _problems(sources: dict[str, tuple[Load, int]], report: Report) -> Iterator[tuple[str, Problem]]:
    """Yield the name and the problem of each data set that is on this machine; `Absent` if none is.

    Problems of `SINGLE` are nonnegative, and those of `JOINT` have any sign.
    """
    some = False
    for i, (name, (load, k)) in enumerate(sources.items()):
        report(Event(name, i, len(sources)))
        try:
            X = load()
        except originals.Absent:
            continue
        some = True
        yield name, Problem.from_data(X, k=k, nonneg=sources is SINGLE)
    if not some:
        raise originals.Absent("None of the tables is on this machine.")


def _decay(name: str, values: Array) -> Curve:
    kept = values[values > 0]
    return curve(name, range(1, 1 + kept.size), kept / kept[0])


def _panel(curves: list[Curve]) -> Panel:
    return Panel("Decay of the eigenvalues", "number i", "λi / λ1", curves, logarithmic="y")


def _percent(share: float) -> str:
    return f"{100 * round_down(share, 3):.3g} %"
