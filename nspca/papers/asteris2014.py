"""Reproduce the figures of Asteris, Papailiopoulos and Dimakis (ICML 2014).

The paper compares Algorithm 3 and its bound with EM on three data sets. Seconds are CPU seconds.
`nspca.papers` makes an item of each function ``figure_...``, and `papers.reproduce` calls it.
"""

import contextlib
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nspca import api
from nspca.bounds import lowrank
from nspca.covariance.linalg import Array
from nspca.data import prepare
from nspca.errors import NotPrepared
from nspca.lowrank.spannogram.cells import candidate_supports
from nspca.lowrank.spannogram.face import solve_on_support
from nspca.papers import originals
from nspca.papers.item import Found, Gallery, Outcome, Panel, curve
from nspca.presentation.numerals import round_down, round_up
from nspca.problem import Problem
from nspca.progress import Event, Report
from nspca.result import Result
from nspca.solvers import em, epsnet

NET = epsnet.Options(rank=3, eps=0.1, polish=False)
"""Options of Algorithm 3 as in Section 7 of the paper, without the polish of nspca."""
KS = {
    "cbcl": (5, 10, 20, 30, 40, 60, 80, 100, 120, 150, 180, 220, 260, 300, 361),
    "leukemia": (5, 10, 20, 50, 100, 200, 500, 1000),
    "lrs": (1, 2, 3, 5, 7, 10, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90),
}
"""Values of k of the curves in Fig. 4 to 6, by data set."""
READINGS = {
    "equalised": "grey levels of every image spread evenly",
    "lee-seung": "every image brought to one mean and one spread",
    "": "grey levels as they are",
}
"""Preparations of the faces that the paper may have used, with a plain name for each."""
PAPER_FOUND, PAPER_SHARE, PAPER_BOUND = (
    "the paper's method (Alg. 3)",
    "the paper's, in 3 directions",
    "the paper's upper bound",
)
"""Names of the curves of Algorithm 3: its variance in all and in three directions, and its bound."""
MET = (10, 40, 100, 180, 260)
"""Values of k at which NSPCA (2006) is run. That method does not meet every k."""
EM = em.Options(restarts=10, starts="paper", polish=False)
"""Options of EM: the best of ten random starts, nonnegative as in the 2008 paper."""
ALIKE = 0.02
"""Difference up to which two curves count as similar, as a share of the leading eigenvalue."""
WITH_HEADER = "standardised, with the seven header fields"
"""Reading of Fig. 6 that gives the printed numbers."""
LOW = 50
"""Largest k that counts as low in Fig. 5. The text of the paper names k = 50."""
SAME_SPEED = 10.0
"""Ratio of CPU seconds up to which speeds count as similar. The paper speaks of speeds of equal order."""
FEW_SECONDS = 10.0
"""CPU seconds up to which a run counts as taking a few seconds, as the paper says."""
SEEDS = 3
"""Number of runs of Algorithm 3 with different random points. The best run counts."""
GRID = 400_001  # angles, far more than the curves have crossings


def figure_1(report: Report) -> Outcome:
    """Return Fig. 1: the spannogram of a random matrix V of shape (4, 2).

    The panel shows the four entries of V c(phi) against the angle phi. The intervals between crossings of the
    curves, and with zero, are counted.
    """
    V = np.random.default_rng(3).standard_normal((4, 2))
    phi = np.linspace(-np.pi / 2, np.pi / 2, 361)
    heights = V @ np.vstack((np.sin(phi), np.cos(phi)))
    fine = np.linspace(-np.pi / 2, np.pi / 2, GRID)[:-1]
    entries = np.vstack((V, np.zeros(2))) @ np.vstack((np.sin(fine), np.cos(fine)))
    changes = np.any(np.diff(np.argsort(entries, axis=0), axis=1) != 0, axis=0)
    most = max(len(candidate_supports(V, k)) for k in (1, 2, 3))
    report(Event("spannogram", 1, 1))
    curves = [curve(f"feature {i}", phi, row, marks=False) for i, row in enumerate(heights, 1)]
    panel = Panel("Spannogram of a matrix V of shape 4 x 2", "angle φ", "entry of V c(φ)", curves)
    found = {
        "intervals": [Found(float(1 + changes.sum()), "counted on a grid of 400 000 angles")],
        "candidates": [Found(f"{most} at most, k = 1, 2, 3", holds=most <= 40)],
    }
    return Outcome(found, [panel])


def figure_2(report: Report) -> Outcome:
    """Return Fig. 2: the problem (P_2) on one support of three features.

    The panel shows the arc of directions c with Vc >= 0, the leading eigenvector outside that arc, and the
    optimum at an end of the arc.
    """
    R = np.array([[1.0, 0.2], [0.9, -0.3], [-0.5, 0.4]])
    values, vectors = np.linalg.eigh(R.T @ R)
    leading = vectors[:, 1] * (1 if vectors[:, 1].sum() > 0 else -1)
    value, best = solve_on_support(R)
    assert best is not None
    phi = np.linspace(-np.pi, np.pi, 721)
    circle = np.vstack((np.cos(phi), np.sin(phi)))
    arc = np.flatnonzero((R @ circle >= 0).all(axis=0))
    report(Event("arc", 1, 1))
    curves = [
        curve("unit circle", *circle, marks=False, dash="dot"),
        curve("feasible arc", *circle[:, arc], marks=False),
        curve("leading eigenvector", [0, leading[0]], [0, leading[1]]),
        curve("optimum of (P_2)", [0, best[0]], [0, best[1]]),
    ]
    panel = Panel("Directions that a support of three features allows", "c1", "c2", curves, equal=True)
    outside = bool((R @ leading < 0).any())
    side = "outside" if outside else "inside"
    said = f"optimum {value:.4f}, eigenvalue {values[1]:.4f}; eigenvector {side}"
    return Outcome({"drawn": [Found(said)]}, [panel])


def figure_3(report: Report) -> Outcome:
    """Return Fig. 3: six disjoint components of 40 pixels each on CBCL, by Algorithm 3 and by EM."""
    faces = originals.sample("cbcl", "equalised")
    problem = Problem.from_data(faces.X, k=40, nonneg=True)
    shape = list(faces.image_shape or (19, 19))
    galleries, values = [], []
    options: dict[str, dict[str, Any]] = {"epsnet": {"rank": 3, "eps": 0.1}, "em": {"starts": "paper"}}
    for name, (method, how) in zip(("Alg. 3", "EM"), options.items(), strict=True):
        result = api.solve(problem, method, components=6, certify=None, report=report, polish=False, **how)
        galleries.append(Gallery(f"Six components by {name}", shape, list(result.components.T.tolist())))
        values.append(f"{name} {result.value:.4g}")
    return Outcome({"drawn": [Found(f"variance of six: {', '.join(values)}")]}, [], galleries)


def figure_4(report: Report) -> Outcome:
    """Return Fig. 4: variance against k on CBCL by Alg. 3, EM and NSPCA (2006), with two bounds."""
    raw = originals.sample("cbcl")
    shares = []
    for name, reading in READINGS.items():
        data = prepare(raw, *[name] * bool(name))
        problem = Problem.from_data(data.X, k=180, nonneg=True)
        shares += _shares(problem, 180, reading, report)
    problem, reading = Problem.from_data(prepare(raw, "equalised").X, k=1, nonneg=True), READINGS["equalised"]
    panel, net, other = _panel(
        problem, KS["cbcl"], f"CBCL faces, {reading}", report, share_at=180, nspca2006=MET
    )
    found = {"share": shares, "alike": [_judge_similarity(net, other, reading)]}
    return Outcome(found, [panel])


def figure_5(report: Report) -> Outcome:
    """Return Fig. 5: variance and bounds on Leukemia, with EM from the paper's starts and from nspca's."""
    X = originals.sample("leukemia").X
    tables = {
        "intensities as they are": X,
        "each sample standardised first": _rows_standardised(X),
        "cut at 16000": np.minimum(X, 16000),
        "standardised": originals.standardised(X),
    }
    shares = []
    for name, Z in tables.items():
        shares += _shares(Problem.from_data(Z, k=50, nonneg=True), 50, name, report)
    problem = Problem.from_data(X, k=1, nonneg=True)
    ks = KS["leukemia"]
    seconds: dict[str, float] = {}
    title = f"Leukemia, {next(iter(tables))}"
    panel, net, paper = _panel(problem, ks, title, report, share_at=50, seconds=seconds)
    ours = _em(problem, ks, em.Options(restarts=10, polish=False), "EM, our starts", report)
    panel.curves.append(curve("EM, our starts", ks, 100 * ours, dash="dot"))
    low = [i for i, k in enumerate(ks) if k <= LOW]
    found = {
        "share": shares,
        "low": [
            _judge_higher(ks, net, paper, low, "EM from the paper's starts", judged=True),
            _judge_higher(ks, net, ours, low, "EM from our starts", judged=False),
        ],
        "large": [_judge_large_k(ks, net, paper)],
        "speed": _speeds(problem, ks, seconds, report),
        "range": [Found(f"{shares[0].value:.1f} % at k = 50", shares[0].preset, shares[0].number >= 40)],
    }
    return Outcome(found, [panel])


def figure_6(report: Report) -> Outcome:
    """Return Fig. 6: variance and bounds on LRS, where value and bound are particularly close."""
    X = originals.sample("lrs").X
    tables = {"as they are": X, "standardised": originals.standardised(X)}
    with contextlib.suppress(NotPrepared):  # a copy of the data without the header fields
        tables[WITH_HEADER] = originals.standardised(originals.sample("lrs", "with-header").X)
    found: dict[str, list[Found]] = {"share20": [], "share90": []}
    for name, Z in tables.items():
        for k in (20, 90):
            problem = Problem.from_data(Z, k=k, nonneg=True)
            found[f"share{k}"] += _shares(problem, k, name, report, exact=True, plain=True)
    drawn = WITH_HEADER if WITH_HEADER in tables else "as they are"
    problem = Problem.from_data(tables[drawn], k=1, nonneg=True)
    panel, net, other = _panel(problem, KS["lrs"], f"LRS spectra, {drawn}", report, share_at=20)
    proving = (one for key in found for one in found[key] if one.judged and "without" not in one.preset)
    best = max(proving, key=lambda one: one.number)
    found["alike"] = [_judge_similarity(net, other, "")]
    found["range"] = [Found(f"up to {best.value:.1f} %", best.preset, best.number >= 70)]
    return Outcome(found, [panel])


def _rows_standardised(X: Array) -> Array:
    return (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)


def _speeds(problem: Problem, ks: Sequence[int], seconds: dict[str, float], report: Report) -> list[Found]:
    """Return two `Found`, each comparing the CPU seconds of Alg. 3 and of EM.

    With the paper's number of random points Alg. 3 runs here, and is judged. Its seconds with the number of
    Theorem 2, and those of EM, are in `seconds`, which `_panel` filled.
    """
    points = math.ceil(math.log(problem.n) / NET.eps**NET.rank)
    started = time.process_time()
    epsnet.path(problem, ks, replace(NET, samples=points), 0, report)
    paper, other = time.process_time() - started, seconds["EM"]
    few = epsnet.samples_needed(problem.n, NET.rank, NET.eps, len(ks))
    found = []
    for count, took in ((points, paper), (few, seconds["Alg. 3"])):
        quick, slow = sorted((took, other))
        seen = f"Alg. 3 {took:.2g} s, EM {other:.2g} s, CPU for all {len(ks)} k"
        holds = True if slow <= min(SAME_SPEED * quick, FEW_SECONDS) else None
        budget = f"{count} random points, ten starts of EM"
        found.append(Found(seen, holds=holds, judged=count == points, budget=budget))
    return found


def _shares(
    problem: Problem, k: int, name: str, report: Report, exact: bool = False, plain: bool = False
) -> list[Found]:
    """Return the per cent of the optimum that the 2014 bound proves, in several readings of the paper.

    The judged readings take the value v on the rank-3 part, as the printed figures suggest. `plain` adds a
    reading without the factor 1 / (1 - eps), which proves nothing. `exact` adds the bound from the exact
    optimum of the rank-3 part, which is not judged.
    """
    runs = _runs(problem, k, report)
    values = np.array([run.info["rank_d_value"] for run in runs])
    result = runs[int(np.argmax(values))]
    budget = f"the best of {SEEDS} x {result.info['samples']} random points"

    def share(factor: float, preset: str) -> Found:
        shares = (100 * values / _paper_bound(problem, values, factor)).tolist()
        return Found(max(shares), preset, budget=budget, spread=[min(shares), max(shares)])

    found = [share(1 - NET.eps, name)]
    if plain:
        found.append(share(1.0, f"{name}, bound without 1 / (1 - eps)"))
    bound = float(_paper_bound(problem, values.max()))
    found.append(Found(100 * result.value / bound, f"{name}, found in all directions", judged=False))
    if exact:
        upper = min(lowrank.bound(problem, NET.rank, shifted=False)[0].upper, problem.leading_eigenvalue)
        preset = f"{name}, exact optimum of the rank-3 part"
        found.append(Found(100 * result.value / upper, preset, judged=False))
    proved = round_down(api.certify(problem, result, effort="fast").ratio(result.value), 4)
    return [*found, Found(100 * proved, f"{name}, the certificate of nspca", judged=False)]


def _runs(problem: Problem, k: int, report: Report) -> list[Result]:
    """Return the answer of Algorithm 3 at one k for each of `SEEDS` sets of random points."""
    return [epsnet.path(problem, [k], NET, seed, report)[k] for seed in range(SEEDS)]


def _paper_bound(problem: Problem, value: Any, factor: float = 1 - NET.eps) -> Any:
    """Return the paper's upper bound for variances that Algorithm 3 found in three directions.

    The bound is cut at the leading eigenvalue. A `factor` of 1 leaves out the factor 1 / (1 - eps).
    """
    A = problem.covariance
    rest = float(A.leading(NET.rank + 1)[0][NET.rank :].sum()) * A.unit
    return np.minimum(value / factor + rest, problem.leading_eigenvalue)


def _panel(
    problem: Problem,
    ks: Sequence[int],
    title: str,
    report: Report,
    share_at: float,
    nspca2006: Sequence[int] = (),
    seconds: dict[str, float] | None = None,
) -> tuple[Panel, Array, Array]:
    """Return the panel of a data set, and the curves of Alg. 3 and of EM as arrays.

    The panel shows variance in per cent of the leading eigenvalue against k by method, and the bounds. At
    each k the best of `SEEDS` runs of Algorithm 3 counts, as in `_shares`. At `share_at` the figure prints
    the paper's share. CPU seconds of one run of both methods are put into the dict `seconds`.
    """
    l1, seconds = problem.leading_eigenvalue, {} if seconds is None else seconds
    started = time.process_time()
    epsnet.path(problem, ks, NET, 0, report)
    seconds["Alg. 3"] = time.process_time() - started
    best = [max(_runs(problem, k, report), key=lambda run: run.info["rank_d_value"]) for k in ks]
    net = np.array([run.value for run in best]) / l1
    counted = np.array([run.info["rank_d_value"] for run in best])
    started = time.process_time()
    other = _em(problem, ks, EM, f"{title}: EM", report)
    seconds["EM"] = time.process_time() - started
    proved = api.sweep(problem, list(ks), certify="fast", report=report)
    limit = np.array([proof.upper for k in ks if (proof := proved["auto", k].certificate)])
    curves = [
        curve(PAPER_FOUND, ks, 100 * net),
        curve("EM (2008)", ks, 100 * other, dash="dash"),
        curve("ours, best found", ks, [100 * proved["auto", k].value / l1 for k in ks], dash="dot"),
        curve(PAPER_SHARE, ks, 100 * counted / l1, marks=False),
        curve(PAPER_BOUND, ks, 100 * _paper_bound(problem, counted) / l1, marks=False),
        curve("ours, proved limit", ks, 100 * limit / l1, marks=False, dash="dot"),
    ]
    reached: dict[int, float] = {}
    how: dict[str, Any] = {"restarts": 2, "polish": False}
    for i, k in enumerate(nspca2006):
        result = api.solve(problem.with_k(k), "coordinate", certify=None, report=report, **how)
        if result.info["reached"]:
            reached[k] = 100 * result.value / l1
        report(Event(f"{title}: NSPCA (2006)", i + 1, len(nspca2006), k=k))
    if reached:
        curves.append(curve("NSPCA (2006), where it met k", reached, reached.values(), dash="dot"))
    x, y, band = "k, the number of features", "% of the main direction", [PAPER_SHARE, PAPER_BOUND]
    panel = Panel(title, x, y, curves, yrange=[0.0, 105.0], band=band, share_at=share_at)
    return panel, net, other


def _em(problem: Problem, ks: Sequence[int], options: em.Options, title: str, report: Report) -> Array:
    values = []
    for k in ks:
        values.append(em.solve(problem.with_k(k), options, 0, report).value)
        report(Event(title, len(values), len(ks), k=k))
    return np.array(values) / problem.leading_eigenvalue


def _judge_similarity(net: Array, other: Array, preset: str) -> Found:
    away = float(np.max(np.abs(net - other)))
    return Found(
        f"at most {round_up(away, 2):.2g} of the leading eigenvalue apart", preset, holds=away <= ALIKE
    )


def _judge_large_k(ks: Sequence[int], net: Array, other: Array) -> Found:
    """Return the judgement whether Alg. 3 and EM are similar at large k, from some k above `LOW` on.

    The paper does not say where large k begin. Alg. 3 must be higher at the smaller k above `LOW`. The
    judgement is False when the curves differ at the last k, and None in other cases in which it is not True.
    """
    at = [i for i, k in enumerate(ks) if k > LOW]
    seen = ", ".join(f"k = {ks[i]}: {net[i]:.3f} against {other[i]:.3f}" for i in at)
    alike = (np.abs(net - other)[at] <= ALIKE).tolist()
    first = next((j for j in range(len(at)) if all(alike[j:])), len(at))
    is_higher = bool((net > other)[at[:first]].all())
    similar = first < len(at) - 1 or len(at) == 1
    holds = True if similar and is_higher and first < len(at) else None if alike[-1] else False
    preset = f"EM from the paper's starts, similar from k = {ks[at[first]]} on" if holds else "EM as in 2008"
    return Found(seen, preset, holds)


def _judge_higher(
    ks: Sequence[int], net: Array, other: Array, at: Sequence[int], preset: str, judged: bool
) -> Found:
    """Return the judgement whether Alg. 3 is above another curve at the positions `at` of `ks`."""
    seen = ", ".join(f"k = {ks[i]}: {net[i]:.3f} against {other[i]:.3f}" for i in at)
    return Found(seen, preset, bool((net > other)[at].all()), judged)
