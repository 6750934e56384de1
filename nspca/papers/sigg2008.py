"""Reproduce the figures of Sigg and Buhmann (ICML 2008): EM for sparse and nonnegative components.

The data are faces and genes, standardised (mean 0 and variance 1) as in Section 5 of the paper. Times are
CPU seconds. `nspca.papers` makes an item of each function ``figure_...``.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from nspca import api
from nspca.components import explained_variances
from nspca.covariance.linalg import Array
from nspca.data.preparation import off_first
from nspca.papers import originals, uses
from nspca.papers.item import Curve, Found, Outcome, Panel, curve
from nspca.papers.zass2006 import nspca_columns, unit_columns
from nspca.presentation.numerals import round_up
from nspca.problem import Problem
from nspca.progress import Event, Report
from nspca.result import Result
from nspca.solvers import coordinate, em, greedy

FIRST = em.Options(restarts=1, polish=False)
"""Options of EM for any sign: from the first principal component, as in Section 3.1."""
LOOSE = em.Options(restarts=1, polish=False, tol=1e-3)
"""Options of EM for the times: stops at a cosine of 1 - 1e-3. The paper does not print its epsilon."""
TIMED = 3
"""Number of timed runs. The quickest counts, because other work on the machine only adds to a time."""
TEN = em.Options(restarts=10, starts="paper", polish=False)
"""Options of nonnegative EM: the best of ten random starts, as in Section 5.2."""
FORWARD = greedy.Options(restarts=1, polish=False)
"""Options of the greedy method: forward selection alone, as PathSPCA does."""
ALPHAS = (1e5, 1e6, 1e7)
"""Values of alpha of NSPCA (2006) in Fig. 3 (left)."""
FIRST_ONES = 3
"""Number of components that the words "the first ones" of the paper are taken for."""
LEFT = (20, 100, 140, 180)
"""Values of K in Fig. 3 (left)."""
NEAR = 0.5
"""Minimum share of all features for a cardinality that counts as near full."""
STARTS = 10
"""Number of starts of NSPCA (2006) in Fig. 3 (left). The best counts, as in Section 5.2."""
GENES = (10, 30, 50, 70, 100, 150, 200, 250)
"""Numbers of genes in Fig. 4."""
TABLES = {"standardised": "standardised", "raw": "intensities as they are", "log": "log2 intensities"}
"""Preparations of the genes for Fig. 4, with their descriptions."""
CLUSTERINGS = 100
"""Number of initialisations of k-means in Fig. 4."""
COMPONENTS = 10
"""Number of components in Fig. 3 (middle) and (right)."""
JOINT = 200
"""Number of nonzero weights of all components of NSPCA (2006) together, in Fig. 3 (middle)."""
ANGLE = 85.0
"""Minimum angle between components in Fig. 3 (right), in degrees."""
MEASURES = {"total": "plain sums", "adjusted": "adjusted variance (Zou et al. 2006)"}
"""Measures of the variance of several components. The axes of the paper's Fig. 3 fit plain sums."""
SPCA = "SparsePCA of scikit-learn, truncated"
FLAT = 3.0
"""Maximum ratio of the slowest to the quickest time, for times that count as equal for all K."""
LEVEL = 0.05
"""Maximum relative difference of two curves that count as level."""


def figure_1(report: Report) -> Outcome:
    """Return Fig. 1: the M-step in two dimensions, as a path to the border of |w|_1 <= B.

    The path starts at zero and follows the axis of the largest gradient. Its end is compared with the result
    of soft thresholding.
    """
    target, bound = np.array([1.5, 1.0]), 1.3
    way = [np.zeros(2), np.array([target[0] - target[1], 0.0])]
    rest = (bound - way[-1].sum()) / 2
    way.append(way[-1] + rest)
    level = (target.sum() - bound) / 2
    report(Event("descent", 1, 1))
    end = np.maximum(target - level, 0.0)
    path = np.array(way)
    drawn = [
        curve("|w|1 = B", [0, bound], [bound, 0], marks=False),
        curve("descent", *path.T),
        curve("unconstrained optimum", target[:1], target[1:]),
    ]
    title, ends = "Axis-aligned descent to the l1 diamond", [-0.1, 1.7]
    panel = Panel(title, "w1", "w2", drawn, xrange=ends, yrange=ends, equal=True)
    away = float(np.abs(path[-1] - end).max())
    return Outcome({"drawn": [Found(f"its end and the soft threshold are {away:.1g} apart")]}, [panel])


def figure_2_left(report: Report) -> Outcome:
    """Return Fig. 2 (left): variance against cardinality on faces, for components of any sign.

    The methods are EM with its own weights and with the best weights on its support, the greedy path, and
    scikit-learn's SparsePCA.
    """
    problem = _any_sign("cbcl")
    ks = (2, 5, 10, 20, 30, 40, 50, 60, 80, 100, 120, 140, 150)
    curves = _variance_curves(problem, ks, (10, 40, 80, 150), report)
    plain, anew, forward = (one.y for one in curves[:3])
    first = problem.covariance.leading(1)[1][:, 0]
    panel = Panel("Faces, any sign", "cardinality", "variance", curves, xrange=[0, 155], yrange=[0, 120])
    away = float(np.max(np.abs(np.array(anew) / np.array(forward) - 1)))
    signs = f"{int((first > 0).sum())} weights above zero, {int((first < 0).sum())} below"
    found = {
        "drawn": [Found(_describe_values(ks, plain, "emPCA")), Found(_describe_values(ks, anew, "anew"))],
        "renormalised": [Found(f"at most {round_up(100 * away, 2):.2g} % apart", holds=away <= LEVEL)],
        "one-sign": [Found(signs, holds=bool((first >= 0).all() or (first <= 0).all()))],
    }
    return Outcome(found, [panel])


def figure_2_middle(report: Report) -> Outcome:
    """Return Fig. 2 (middle): variance against cardinality on genes, for components of any sign."""
    problem = _any_sign("leukemia")
    ks = (2, 5, 10, 20, 30, 50, 70, 100, 125, 150)
    curves = _variance_curves(problem, ks, (10, 50, 150), report)
    thresholded = api.sweep(problem, list(ks), methods=("threshold",), certify=None, report=report)
    values = [thresholded["threshold", k].value for k in ks]
    curves.append(curve("thresholding", ks, values, dash="dot"))
    panel = Panel("Genes, any sign", "cardinality", "variance", curves, xrange=[0, 155], yrange=[0, 140])
    return Outcome({"drawn": [Found(_describe_values(ks, curves[1].y, "emPCA, anew"))]}, [panel])


def figure_2_right(report: Report) -> Outcome:
    """Return Fig. 2 (right): CPU seconds against cardinality on genes."""
    problem = _any_sign("leukemia")
    problem.covariance.leading(1)
    ks = (5, 10, 15, 25, 50, 100, 200, 300, 400)
    runs = {k: _time_run(partial(em.solve, problem.with_k(k), LOOSE, 0, report)) for k in ks}
    steps = [result.info["iterations"] for result, _ in runs.values()]
    strict = [em.solve(problem.with_k(k), FIRST, 0, report).info["iterations"] for k in ks]
    times = {"emPCA": {k: seconds for k, (_, seconds) in runs.items()}}
    times["greedy path (PathSPCA)"] = {
        k: _time_run(partial(greedy.path, problem, [k], FORWARD, 0, report), runs=1)[1] for k in ks
    }
    times[SPCA] = {
        k: _time_run(partial(api.solve, problem.with_k(k), "spca", certify=None, report=report), runs=1)[1]
        for k in (5, 50, 400)
    }
    dashes = {"emPCA": "solid", SPCA: "dot"}
    curves = [curve(name, one, one.values(), dash=dashes.get(name, "dash")) for name, one in times.items()]
    panel = Panel("Genes: time", "cardinality", "CPU seconds", curves, xrange=[0, 410], logarithmic="y")
    seconds, forward = (list(times[name].values()) for name in ("emPCA", "greedy path (PathSPCA)"))
    spread, grown = max(seconds) / min(seconds), forward[-1] / forward[0]
    seen = f"EM: slowest {spread:.2g} times the quickest; greedy at K = 400 {grown:.2g} times K = 5"
    flat = Found(seen, f"CPU, the best of {TIMED} runs of EM", spread <= FLAT and grown > FLAT)
    inside, outside = (
        float(np.mean([step for k, step in zip(ks, steps, strict=True) if (10 <= k <= 25) is within]))
        for within in (True, False)
    )
    found = {
        "flat": [flat],
        "more": [Found(f"{inside:.0f} against {outside:.0f} for the others", holds=inside > outside)],
        "steps": [
            Found(float(np.mean(steps)), "mean over nine K, until the cosine is 1 - 1e-3"),
            Found(float(np.mean(strict)), "until the cosine is 1 - 1e-9, as nspca stops", judged=False),
        ],
    }
    return Outcome(found, [panel])


def figure_3_left(report: Report) -> Outcome:
    """Return Fig. 3 (left): nonnegative EM and NSPCA (2006) on faces without their first component.

    NSPCA has three values of alpha. Its beta is found by bisection for each cardinality.
    """
    problem = _faces_off_first()
    ks = LEFT
    results, seconds = _em_runs(problem, ks, TEN, report)
    values, anew = _own_and_anew(results)
    full = [k for k, result in zip(ks, results, strict=True) if np.count_nonzero(result.components) == k]
    quick = float(np.mean([second for k, second in zip(ks, seconds, strict=True) if k <= 100]))
    curves = [curve("emPCA, nonnegative", ks, values), curve("emPCA, weights anew", ks, anew, dash="dot")]
    started = time.process_time()
    met = {alpha: _find_values_met(problem, alpha, ks, report) for alpha in ALPHAS}
    slow = (time.process_time() - started) / (len(ALPHAS) * len(ks))
    for alpha, points in met.items():
        if points:
            name = f"NSPCA (2006), alpha = {alpha:.0e}"
            curves.append(curve(name, points, points.values(), dash="dash"))
    title = "Faces, first component projected out, nonnegative"
    panel = Panel(title, "cardinality", "variance", curves, xrange=[0, 205], yrange=[2, 20])
    # Above 150 the best answer uses fewer than k features, and NSPCA must use exactly k.
    plain, best = ({k: v for k, v in zip(ks, side, strict=True) if k in full} for side in (values, anew))
    budget, seen = f"{STARTS} starts each", f"{quick:.2g} s against {slow:.2g} s"
    listed = "; ".join(f"alpha = {a:.0e}: k = {_list_numbers(k)}" for a, k in met.items())
    small = met[ALPHAS[0]]
    found = {
        "time": [Found(seen, "CPU of this machine", slow > 10 * quick, budget=budget)],
        "alpha": [Found(listed, holds=_judge_near_full(met, problem.n), budget=budget)],
        "comparable": [
            _judge_comparable(small, plain, "EM's own weights"),
            replace(_judge_comparable(small, best, "weights anew"), judged=False),
        ],
        "degrades": [_judge_degradation(met, plain)],
    }
    return Outcome(found, [panel])


def figure_3_middle(report: Report) -> Outcome:
    """Return Fig. 3 (middle): variance of ten orthogonal components of the faces, added up.

    EM has K = 20 features in each component, NSPCA (2006) has 200 in all of them.
    """
    problem = _faces_off_first().with_k(20)
    signed = Problem(problem.covariance, 20, nonneg=False)
    how: dict[str, Any] = {"components": COMPONENTS, "restarts": 10, "polish": False, "report": report}
    U = {
        "emPCA": api.solve(signed, "em", certify=None, **how).components,
        "emPCA, nonnegative": api.solve(problem, "em", certify=None, starts="paper", **how).components,
        "NSPCA (2006), alpha = 1e8": _nspca_with_entries(problem, report),
    }
    title = "Orthogonal components, K = 20 each or 200 together"
    found = []
    panels = []
    for measure, said in MEASURES.items():
        panel, curves = _cumulative_panel(problem, U, title, [0, 70], measure)
        ours, theirs = curves["emPCA, nonnegative"], curves["NSPCA (2006), alpha = 1e8"]
        seen, holds = f"{ours[-1]:.1f} against {theirs[-1]:.1f}", bool(ours[-1] > (1 + LEVEL) * theirs[-1])
        reach = [float(min(theirs[0], ours[0])), float(max(ours[-1], theirs[-1]))]
        budget = "ten starts of EM, one of NSPCA"
        found.append(Found(seen, said, holds, measure == "total", budget, reach=reach))
        panels.append(panel)
    return Outcome({"more": found}, panels[:1])


def figure_3_right(report: Report) -> Outcome:
    """Return Fig. 3 (right): variance of ten components that are at least 85 degrees apart, added up."""
    problem = _faces_off_first()
    whole = problem.with_k(problem.n)
    how: dict[str, Any] = {"restarts": 3, "starts": "paper", "polish": False, "penalty": "step"}
    angled = api.solve(
        whole, "em", components=COMPONENTS, angle=ANGLE, certify=None, report=report, **how
    ).components
    U, alpha, apart = angled, 0.0, False
    for alpha in (1e5, 1e6, 1e7, 1e8):  # stop at the smallest alpha with such angles
        U = nspca_columns(problem, alpha, 0.0, report)
        cosines = np.abs(U.T @ U - np.eye(U.shape[1])).max()
        apart = bool(cosines <= np.cos(np.radians(ANGLE)) + 1e-9)
        if apart:
            break
    name = f"NSPCA (2006), alpha = {alpha:.0e}"
    found: dict[str, list[Found]] = {"first": [], "all": []}
    panels = []
    for measure, said in MEASURES.items():
        columns = {"emPCA, nonnegative": angled, name: U}
        panel, curves = _cumulative_panel(problem, columns, "Components 85 degrees apart", [10, 90], measure)
        em_curve, other = curves["emPCA, nonnegative"], curves[name]
        both = np.concatenate([em_curve, other])
        shared: dict[str, Any] = {
            "preset": said,
            "judged": measure == "total",
            "budget": "three starts of EM, two of NSPCA",
            "reach": [float(both.min()), float(both.max())],
        }
        found["first"].append(replace(_judge_first_components(em_curve, other), **shared))
        seen = f"EM {em_curve[-1]:.1f}, NSPCA {other[-1]:.1f}{'' if apart else ', closer than that'}"
        found["all"].append(Found(seen, holds=bool(other[-1] > em_curve[-1]) if apart else None, **shared))
        panels.append(panel)
    return Outcome(found, panels[:1])


def figure_4(report: Report) -> Outcome:
    """Return Fig. 4: Jaccard scores of k-means on genes that were chosen without the diagnoses."""
    data = originals.sample("leukemia")
    if data.labels is None:
        raise originals.Absent("This copy of the leukemia table has no diagnoses.")
    labels = np.array([str(label) for label in data.labels])
    found, panels = [], []
    for prepared, starts in (("standardised", "paper"), ("raw", "paper"), ("log", "range")):
        rows = uses.gene_rows(data.X, labels, GENES, prepared, CLUSTERINGS, report, starts)
        panels.append(_jaccard_panel(rows, prepared))
        seventy = next(row for row in rows if (row["selection"], row["genes"]) == ("em, nonnegative", 70))
        every = next(row for row in rows if row["selection"] == "all genes")
        seen = f"{seventy['mean']:.3f} ± {seventy['spread']:.3f} against {every['mean']:.3f} of all genes"
        preset = f"{TABLES[prepared]}, {'the paper’s starts' if starts == 'paper' else 'the starts of nspca'}"
        holds, reach = seventy["mean"] > every["mean"], sorted((seventy["mean"], every["mean"]))
        budget = f"{CLUSTERINGS} starts of k-means"
        found.append(Found(seen, preset, holds, starts == "paper", budget, reach=reach))
    return Outcome({"seventy": found}, panels)


def _judge_near_full(met: dict[float, dict[int, float]], n: int) -> bool | None:
    """Return True if the smallest alpha meets only cardinalities near n, else None or False.

    None means that its smallest cardinality is at least larger than that of the largest alpha. `met` has the
    values of NSPCA (2006) by alpha and k.
    """
    small, large = (min(met[alpha], default=n) for alpha in (1e5, 1e7))
    return True if small >= NEAR * n else None if small > large else False


def _find_values_met(problem: Problem, paper: float, ks: Sequence[int], report: Report) -> dict[int, float]:
    """Return the best value of NSPCA (2006) over `STARTS` starts, for each k that it meets exactly.

    `paper` is alpha in the units of the paper.
    """
    options = coordinate.Options(alpha=coordinate.from_paper(problem, paper), restarts=1, polish=False)
    searches = _make_searches(problem, options, STARTS, report)
    points = {}
    for i, k in enumerate(ks):
        reached = [U for U, _ in (search.reach(k) for search in searches) if np.count_nonzero(U) == k]
        if reached:
            points[k] = max(problem.value(U[:, 0] / np.linalg.norm(U)) for U in reached)
        report(Event(f"NSPCA, alpha = {paper:g}", i + 1, len(ks), k=k))
    return points


def _judge_comparable(points: dict[int, float], em_values: dict[int, float], preset: str) -> Found:
    """Return the judgement whether NSPCA reaches the value of EM at the three largest k that both have.

    `points` and `em_values` are values of NSPCA and of EM by k. `preset` says which of EM's values they are.
    """
    points = {k: value for k, value in points.items() if k in em_values}
    shares = {k: value / em_values[k] for k, value in points.items()}
    if not shares:
        return Found("met no k", preset)
    largest = sorted(shares)[-3:]
    seen = ", ".join(f"k = {k}: {points[k]:.2f} against {em_values[k]:.2f}" for k in largest)
    holds = min(shares[k] for k in largest) >= 1 - LEVEL
    reach = [min(points.values()), max(*points.values(), *em_values.values())]
    return Found(seen, preset, holds, budget=f"{STARTS} starts each", reach=reach)


def _judge_degradation(met: dict[float, dict[int, float]], em_values: dict[int, float]) -> Found:
    """Return the judgement whether the largest alpha explains less than the smallest, at the common k.

    `met` has the values of NSPCA (2006) by alpha and k, and `em_values` those of EM by k.
    """
    shared = sorted(set(em_values).intersection(*met.values()))
    if not shared:
        return Found("no k was met by every alpha")
    means = [float(np.mean([met[a][k] / em_values[k] for k in shared])) for a in ALPHAS]
    seen = ", ".join(f"alpha = {a:.0e}: {mean:.3f}" for a, mean in zip(ALPHAS, means, strict=True))
    preset = f"mean at k = {_list_numbers(shared)}"
    return Found(f"{seen} of what EM explains", preset, means[-1] < means[0], budget=f"{STARTS} starts each")


def _time_run(run: Callable[[], Any], runs: int = TIMED) -> tuple[Any, float]:
    """Return the result of ``run()`` and the fewest CPU seconds of `runs` calls."""
    found, seconds = None, np.inf
    for _ in range(runs):
        started = time.process_time()
        found = run()
        seconds = min(seconds, time.process_time() - started)
    return found, float(seconds)


def _judge_first_components(one: Array, other: Array) -> Found:
    """Return the judgement whether one curve is above another at each of the first three components.

    The judgement is None when it is above at the first one but not at all three.
    """
    first = slice(0, FIRST_ONES)
    seen = ", ".join(f"{a:.1f} against {b:.1f}" for a, b in zip(one[first], other[first], strict=True))
    above = one[first] >= other[first] * (1 - 1e-6)
    return Found(seen, holds=True if above.all() else None if above[0] else False)


def _any_sign(sample: str) -> Problem:
    return Problem.from_data(originals.standardised(originals.sample(sample).X), k=1, nonneg=False)


def _variance_curves(problem: Problem, ks: Sequence[int], few: Sequence[int], report: Report) -> list[Curve]:
    """Return curves of variance: EM with own and with best weights, greedy path, SparsePCA at `few`."""
    plain, anew = _own_and_anew(_em_runs(problem, ks, FIRST, report)[0])
    path = greedy.path(problem, ks, FORWARD, 0, report)
    baseline = [api.solve(problem.with_k(k), "spca", certify=None, report=report).value for k in few]
    return [
        curve("emPCA", ks, plain),
        curve("emPCA, weights anew", ks, anew),
        curve("greedy path (PathSPCA)", ks, [path[k].value for k in ks], dash="dash"),
        curve(SPCA, few, baseline, dash="dot"),
    ]


def _em_runs(
    problem: Problem, ks: Sequence[int], options: em.Options, report: Report
) -> tuple[list[Result], list[float]]:
    results, seconds = [], []
    for k in ks:
        started = time.process_time()
        results.append(em.solve(problem.with_k(k), options, 0, report))
        seconds.append(time.process_time() - started)
        report(Event("EM", len(results), len(ks), k=k))
    return results, seconds


def _own_and_anew(results: Sequence[Result]) -> tuple[list[float], list[float]]:
    """Return the variances of results of EM, with its own weights and with the best ones on its support."""
    return [float(result.info["plain_value"]) for result in results], [result.value for result in results]


def _faces_off_first() -> Problem:
    X = off_first(originals.standardised(originals.sample("cbcl").X))
    return Problem.from_data(X, k=1, nonneg=True)


def _make_searches(
    problem: Problem, options: coordinate.Options, count: int, report: Report, r: int = 1
) -> list[coordinate.Search]:
    """Return `count` searches of NSPCA (2006) for r columns, from different starts."""
    rng = np.random.default_rng(0)
    return [
        coordinate.Search(problem, coordinate.first_guess(problem, r, start, rng), options, report, start)
        for start in range(count)
    ]


def _nspca_with_entries(problem: Problem, report: Report) -> Array:
    """Return ten unit columns (n, 10) of NSPCA (2006) for alpha = 1e8, with the beta that leaves `JOINT`."""
    options = coordinate.Options(alpha=coordinate.from_paper(problem, 1e8), restarts=1)
    search = _make_searches(problem, options, 1, report, r=COMPONENTS)[0]
    return unit_columns(search.reach(JOINT)[0])


def _cumulative_panel(
    problem: Problem, U: dict[str, Array], title: str, yrange: list[float] | None, measure: str
) -> tuple[Panel, dict[str, Array]]:
    """Return the panel and the curves of the variance of the first 1, 2, ... components, by method.

    Columns of NSPCA (2006) are first sorted by their variance. `measure` is a key of `MEASURES`.
    """
    curves = {}
    for name, columns in U.items():
        if name.startswith("NSPCA"):
            order = np.argsort([-problem.value(u) for u in columns.T], kind="stable")
            columns = columns[:, order]
        curves[name] = explained_variances(problem, columns)[measure]
    drawn = [curve(name, range(1, 1 + len(one)), one) for name, one in curves.items()]
    return Panel(title, "components", "variance, added up", drawn, yrange=yrange), curves


def _jaccard_panel(rows: list[dict[str, Any]], prepared: str) -> Panel:
    curves = []
    for name in dict.fromkeys(row["selection"] for row in rows):
        mine = [row for row in rows if row["selection"] == name]
        if name == "all genes":
            mine = [mine[0] | {"genes": genes} for genes in (10, 250)]
        x, y = [row["genes"] for row in mine], [row["mean"] for row in mine]
        spread = None if name == "all genes" else [row["spread"] for row in mine]
        curves.append(curve(name, x, y, spread=spread, dash="dot" if name == "all genes" else "solid"))
    title = f"Genes, {TABLES[prepared]}"
    return Panel(title, "genes", "Jaccard score", curves, xrange=[0, 260], yrange=[0.2, 0.9])


def _describe_values(ks: Sequence[int], values: Sequence[float], name: str) -> str:
    return f"{name}: " + ", ".join(f"{values[ks.index(k)]:.1f} at {k}" for k in (50, 100, 150))


def _list_numbers(ks: Iterable[int]) -> str:
    return ", ".join(map(str, ks)) or "none"
