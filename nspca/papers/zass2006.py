"""Reproduce the figures of Zass and Shashua (NIPS 2006): nonnegative components found together.

Their method NSPCA has a penalty alpha on the overlap of the components and a penalty beta on their sum. Alpha
and beta are in the units of the paper, for XX' of grey levels from 0 to 255, centred unless stated otherwise.
`nspca.papers` makes an item of each function ``figure_...``.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from nspca import api
from nspca.components import explained_variances, successive
from nspca.covariance.linalg import Array
from nspca.data import load_sample
from nspca.papers import originals, uses
from nspca.papers.item import Found, Gallery, Outcome, Panel, curve
from nspca.problem import Problem
from nspca.progress import Event, Report
from nspca.solvers import coordinate

SETTINGS = {"a": (2e7, 0.0), "b": (5e8, 0.0), "c": (2e7, 2e6), "both": (5e8, 2e6)}
"""Alpha and beta of the parts of Fig. 2, and of the fourth curve of Fig. 4(a).

The letters are those of the caption of Fig. 2. The text of Section 5 calls the third part 2(d).
"""
COMPONENTS = 10
"""Number of components of the faces."""
PIXELS = 55
"""Number of pixels in each component of GSPCA, the greedy method."""
REMAINS = 0.5
"""Minimum share of an overlap that counts as remaining."""
FACES, OTHERS = 1000, 2000
"""Numbers of faces and of other images in a training set."""
DRAWS = 3
"""Number of random training sets. The paper does not say which images it trained on."""
CENTRED = {"faces centred": True, "faces not centred": False}
"""Readings of Fig. 4. The paper does not say whether the mean face was subtracted."""
MACHINES = {
    "ten numbers standardised": (True, 1.0),
    "ten numbers as they are": (False, 1.0),
    "standardised, C = 0.01": (True, 0.01),
}
"""Readings of Fig. 4: whether the input of the support vector machine is standardised, and its constant C."""
PROPS = (
    ("PCA, every feature", None, False),
    ("auto, any sign", "auto", False),
    ("EM, any sign", "em", False),
    ("NSPCA (2006), together, alpha = 10", "together", True),
    ("auto, nonnegative", "auto", True),
)
"""Methods of Fig. 5: name, method of nspca, and whether weights are nonnegative.

None is PCA. "together" is NSPCA, which finds all components at once.
"""


def figure_1(report: Report) -> Outcome:
    """Return Fig. 1: the objective as a function of one entry (a quartic), and its derivative.

    The maximum over u >= 0 by formula is compared with a grid search.
    """
    c2, c1, alpha = 30.0, 60.0, 1.0
    u = np.linspace(-10, 10, 201)
    best = coordinate.maximiser(c2, c1, alpha)

    def value(u: Any) -> Any:
        return -alpha / 4 * u**4 + c2 / 2 * u**2 + c1 * u

    slope = -alpha * u**3 + c2 * u + c1
    grid = np.linspace(0, 10, 1_000_001)
    away = abs(best - grid[np.argmax(value(grid))])
    report(Event("quartic", 1, 1))
    drawn = [curve("f", u, value(u), marks=False), curve("maximum over u ≥ 0", [best], [value(best)])]
    derivative = [curve("f'", u, slope, marks=False)]
    panels = [
        Panel("The quartic", "u", "f(u)", drawn, xrange=[-10, 10], yrange=[-2000, 1000]),
        Panel("Its derivative", "u", "f'(u)", derivative, xrange=[-10, 10], yrange=[-1000, 1500]),
    ]
    seen = f"root by formula {best:.6f}, {away:.0e} from the best of a million points"
    return Outcome({"drawn": [Found(seen)]}, panels)


def figure_2(report: Report) -> Outcome:
    """Return Fig. 2: ten components of the faces by NSPCA in three settings, PCA, NMF and GSPCA."""
    data = originals.sample("cbcl")
    problem = Problem.from_data(data.X, k=PIXELS, nonneg=True)
    U = {name: nspca_columns(problem, *SETTINGS[name], report) for name in ("a", "b", "c")}
    columns = {
        "(a) alpha = 2e7, beta = 0": U["a"],
        "(b) alpha = 5e8, beta = 0": U["b"],
        "(c) alpha = 2e7, beta = 2e6": U["c"],
        "(d) PCA": problem.covariance.leading(COMPONENTS)[1],
        "(e) NMF": uses.principal_parts(data.X, COMPONENTS),
        "(f) GSPCA, 55 pixels each": greedy_columns(problem, report),
    }
    shape = list(data.image_shape or (19, 19))
    galleries = [Gallery(title, shape, one.T.tolist()) for title, one in columns.items()]
    overlaps = {name: coordinate.overlap(one) for name, one in U.items()}
    entries = {name: int(np.count_nonzero(one)) for name, one in U.items()}
    remains = True if overlaps["c"] >= REMAINS * overlaps["a"] else None
    found = {
        "alpha": [Found(f"{overlaps['a']:.2f} to {overlaps['b']:.2g}", holds=overlaps["b"] < overlaps["a"])],
        "sparser": [Found(f"{entries['a']} to {entries['b']}", holds=entries["b"] < entries["a"])],
        "remains": [Found(f"{overlaps['a']:.2f} to {overlaps['c']:.2f}", holds=remains)],
        "beta": [Found(f"{entries['a']} to {entries['c']}", holds=entries["c"] < entries["a"])],
    }
    return Outcome(found, galleries=galleries)


def figure_3(report: Report) -> Outcome:
    """Return Fig. 3: overlap against alpha (beta = 0), and nonzero weights against beta (alpha = 2e7)."""
    problem = Problem.from_data(originals.sample("cbcl").X, k=PIXELS, nonneg=True)
    alphas, betas = np.arange(6.0, 10.1, 0.5), np.arange(5.0, 8.1, 0.5)
    overlaps, entries = [], []
    for i, a in enumerate(alphas):
        overlaps.append(coordinate.overlap(nspca_columns(problem, 10**a, 0.0, report, restarts=1)))
        report(Event("alpha", i + 1, len(alphas)))
    for i, b in enumerate(betas):
        entries.append(float(np.count_nonzero(nspca_columns(problem, 2e7, 10**b, report, restarts=1))))
        report(Event("beta", i + 1, len(betas)))
    return _judge_tradeoffs(alphas.tolist(), overlaps, betas.tolist(), entries)


def _judge_tradeoffs(
    alphas: list[float], overlaps: list[float], betas: list[float], entries: list[float]
) -> Outcome:
    """Return the outcome of Fig. 3, from overlaps at each log10 alpha and `entries` at each log10 beta."""

    def judge(values: list[float], seen: str, preset: str = "") -> Found:
        reach = [min(values), max(values)]
        return Found(seen, preset, _does_fall(values), budget="one start", reach=reach)

    above, below = [curve("NSPCA (2006)", alphas, overlaps)], [curve("NSPCA (2006)", betas, entries)]
    measure, count = "|I - U'U|, unit columns", "entries of U above 0"
    panels = [
        Panel("Overlap, beta = 0", "log10 alpha", measure, above, xrange=[6, 10], yrange=[0, 8]),
        Panel("Nonzero weights, alpha = 2e7", "log10 beta", count, below, xrange=[5, 8], yrange=[0, 2500]),
    ]
    found = {
        "overlap": [judge(overlaps, f"{overlaps[0]:.2f} to {overlaps[-1]:.2g}", "unit columns")],
        "sparse": [judge(entries, f"{entries[0]:.0f} to {entries[-1]:.0f}")],
    }
    return Outcome(found, panels)


def figure_4(report: Report) -> Outcome:
    """Return Fig. 4: face detection by a linear support vector machine on ten component scores.

    The areas under the ROC curves are averaged over `DRAWS` training sets.
    """
    faces, nonfaces = originals.sample("cbcl").X.astype(np.float64), originals.table("nonfaces")
    areas: dict[tuple[str, str], dict[str, list[float]]] = {}
    first: dict[str, dict[str, Any]] = {}
    for draw, (train, test) in enumerate(draw_splits(faces, nonfaces)):
        for centring, center in CENTRED.items():
            for name, U in _detectors(train[0], center, report).items():
                for machine, (scaled, constant) in MACHINES.items():
                    roc = uses.detection_curve(U, train, test, scaled, constant)
                    areas.setdefault((centring, machine), {}).setdefault(name, []).append(roc["area"])
                    if draw == 0 and (centring, machine) == (next(iter(CENTRED)), next(iter(MACHINES))):
                        first[name] = roc
        report(Event("draws", draw + 1, DRAWS))
    ours = [name for name in first if name.startswith("NSPCA")]
    others = [name for name in first if name == "NSPCA (both)" or name not in ours]
    panels = [_roc_panel("(a) alpha and beta", first, ours), _roc_panel("(b) against others", first, others)]
    found: dict[str, list[Found]] = {"alpha": [], "beta": [], "others": []}
    for (centring, machine), area in areas.items():
        judged = machine == next(iter(MACHINES))
        preset = f"{centring}, {machine}"
        found["alpha"].append(_compare_areas(area["NSPCA (b)"], area["NSPCA (a)"], preset, judged))
        found["beta"].append(_compare_areas(area["NSPCA (c)"], area["NSPCA (a)"], preset, judged))
        best = max((area[name] for name in ("PCA", "NMF", "GSPCA, 55 pixels")), key=np.mean)
        preset = f"{preset}, against the best of them"
        found["others"].append(_compare_areas(area["NSPCA (both)"], best, preset, judged))
    mean = {name: np.mean(area) for name, area in areas[next(iter(CENTRED)), next(iter(MACHINES))].items()}
    listed = ", ".join(f"{name} {value:.3f}" for name, value in mean.items())
    return Outcome(found, panels, said=f"Mean areas of {DRAWS} draws, faces centred: {listed}.")


def _detectors(faces: Array, center: bool, report: Report) -> dict[str, Array]:
    """Return ten components (n, 10) of each method of Fig. 4 by name, computed from training faces (p, n).

    `center` says whether NSPCA works on centred faces. PCA and GSPCA always do, and NMF never does.
    """
    problem = Problem.from_data(faces, k=PIXELS, nonneg=True, center=center)
    columns = {
        f"NSPCA ({name})": nspca_columns(problem, *SETTINGS[name], report, restarts=1) for name in SETTINGS
    }
    centred = problem if center else Problem.from_data(faces, k=PIXELS, nonneg=True)
    columns["PCA"] = centred.covariance.leading(COMPONENTS)[1]
    columns["NMF"] = uses.principal_parts(faces, COMPONENTS)
    columns["GSPCA, 55 pixels"] = greedy_columns(centred, report)
    return columns


def draw_splits(faces: Array, nonfaces: Array) -> Iterator[tuple[tuple[Array, Array], tuple[Array, Array]]]:
    """Yield `DRAWS` random splits of faces and other images into training and test sets.

    Each split is two pairs: faces and others for training, then faces and others for the test.
    """
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        p, q = rng.permutation(len(faces)), rng.permutation(len(nonfaces))
        train = faces[p[:FACES]], nonfaces[q[:OTHERS]]
        yield train, (faces[p[FACES:]], nonfaces[q[OTHERS:]])


def figure_5(report: Report) -> Outcome:
    """Return Fig. 5: variance and number of features of the first 1 to 6 components of Pitprops."""
    A = load_sample("pitprops").X
    variance, used = [], []
    for i, (name, method, nonneg) in enumerate(PROPS):
        problem = Problem.from_covariance(A, k=5, nonneg=nonneg)
        if method == "together":
            share, size = _solve_together(problem, report)
        else:
            if method is None:
                U = problem.covariance.leading(6)[1]
            else:
                one = partial(_first_component, method=method, report=report)
                U = successive(problem, 6, one, "projection")
            share = explained_variances(problem, U)["adjusted"]
            size = np.cumsum(np.count_nonzero(U, axis=0))
        variance.append(curve(name, range(1, 7), 100 * share / np.trace(A)))
        used.append(curve(name, range(1, 7), size))
        report(Event(name, i + 1, len(PROPS)))
    x, share_of = "components", "% of the variance"
    panels = [
        Panel("Cumulative variance", x, share_of, variance, xrange=[0.8, 6.2], yrange=[20, 100]),
        Panel("Cumulative cardinality", x, "features", used[1:], xrange=[0.8, 6.2], yrange=[0, 50]),
    ]
    at = (
        f"six components: {variance[0].y[-1]:.1f} % by PCA; NSPCA (2006), 1 to 6 together: "
        f"{', '.join(f'{one:.1f}' for one in variance[3].y)} % with {used[3].y[0]:.0f} to "
        f"{used[3].y[-1]:.0f} features"
    )
    return Outcome({"drawn": [Found(at)]}, panels)


def _solve_together(problem: Problem, report: Report) -> tuple[Array, Array]:
    """Return adjusted variance and number of features of NSPCA with r = 1, ..., 6 columns found together."""
    variance, size = np.zeros(6), np.zeros(6)
    options = coordinate.Options(alpha=10.0, beta=0.0, restarts=10)
    for r in range(1, 7):
        U = coordinate.paper_columns(problem, r, options, 0, report)
        U = U / np.linalg.norm(U, axis=0)
        U = U[:, np.argsort([-problem.value(u) for u in U.T], kind="stable")]
        variance[r - 1] = explained_variances(problem, U)["adjusted"][-1]
        size[r - 1] = np.count_nonzero(U)
    return variance, size


def _first_component(problem: Problem, method: str, report: Report) -> Array:
    return api.solve(problem, method, certify=None, report=report).components[:, 0]


def nspca_columns(problem: Problem, alpha: float, beta: float, report: Report, restarts: int = 2) -> Array:
    """Return the ten unit columns (n, 10) of NSPCA for alpha and beta in the units of the paper.

    Columns of zeros are left out, so there may be fewer than ten.
    """
    options = coordinate.Options(
        alpha=coordinate.from_paper(problem, alpha),
        beta=coordinate.from_paper(problem, beta) if beta else 0.0,
        restarts=restarts,
    )
    return unit_columns(coordinate.paper_columns(problem, COMPONENTS, options, 0, report))


def unit_columns(U: Array) -> Array:
    """Return the columns of U that are not zero, divided by their norms."""
    lengths = np.linalg.norm(U, axis=0)
    return U[:, lengths > 0] / lengths[lengths > 0]


def greedy_columns(problem: Problem, report: Report) -> Array:
    """Return ten components (n, 10) of 55 pixels by forward selection, for any sign, with projection."""
    signed = Problem(problem.covariance, PIXELS, nonneg=False)
    how: dict[str, Any] = {"deflation": "projection", "restarts": 1, "polish": False}
    return api.solve(signed, "greedy", components=COMPONENTS, certify=None, report=report, **how).components


def _does_fall(values: Sequence[float]) -> bool:
    """Tell whether a curve falls overall, and never rises by more than a tenth of the whole fall."""
    fall = values[0] - values[-1]
    return fall > 0 and bool(np.all(np.diff(values) <= 0.1 * fall))


def _compare_areas(one: list[float], other: list[float], preset: str, judged: bool) -> Found:
    """Return the judgement whether the mean of the areas `one` is larger than that of `other`."""
    a, b = np.array(one), np.array(other)
    higher = f"in {int((a > b).sum())} of {len(a)} draws higher"
    seen = f"{a.mean():.3f} ± {a.std():.3f} against {b.mean():.3f} ± {b.std():.3f}, {higher}"
    return Found(seen, preset, bool(a.mean() > b.mean()), judged, budget=f"{len(a)} draws, one start")


def _roc_panel(title: str, curves: dict[str, dict[str, Any]], names: Sequence[str]) -> Panel:
    """Return the panel of the ROC curves of some methods, from `uses.detection_curve`."""
    drawn = []
    for name in names:
        one = curves[name]
        at = np.unique(np.linspace(0, len(one["false"]) - 1, 120).round().astype(int))
        drawn.append(curve(f"{name}, area {one['area']:.3f}", one["false"][at], one["true"][at], marks=False))
    x, y = "share of others taken for faces", "share of faces found"
    return Panel(title, x, y, drawn, xrange=[0, 0.4], yrange=[0.6, 1.01])
