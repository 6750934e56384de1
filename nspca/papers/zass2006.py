"""The figures of Zass and Shashua (NIPS 2006): nonnegative components together, with a penalty on their
overlap and one on their sum.

Alpha and beta are the paper's, for XX' of grey levels from 0 to 255, every pixel centred.
"""

from collections.abc import Iterator
from functools import partial

import numpy as np

from nspca import api
from nspca.components import explained_variances, successive
from nspca.covariance.linalg import Array
from nspca.data import load_sample
from nspca.papers import originals, uses
from nspca.papers.item import Curve, Found, Gallery, Outcome, Panel
from nspca.problem import Problem
from nspca.progress import Event, Report
from nspca.solvers import coordinate

SETTINGS = {"a": (2e7, 0.0), "b": (5e8, 0.0), "c": (2e7, 2e6), "both": (5e8, 2e6)}
"""Alpha and beta of the parts of Fig. 2, and of the fourth curve of Fig. 4(a)."""
COMPONENTS = 10
PIXELS = 55
"""In each component of GSPCA, the greedy method."""
REMAINS = 0.5
"""Share of an overlap from which it is said to remain."""
FACES, OTHERS = 1000, 2000
DRAWS = 10
"""Choices of the faces and the other pictures that the machine learns from: the paper's own is not printed.
"""
MACHINES = {
    "ten numbers standardised": (True, 1.0),
    "ten numbers as they are": (False, 1.0),
    "standardised, C = 0.01": (True, 0.01),
}
"""Scaling of what the machine is given, and its constant: neither is printed."""
PROPS = (
    ("PCA, every feature", None, False),
    ("auto, any sign", "auto", False),
    ("EM, any sign", "em", False),
    ("NSPCA (2006), nonnegative", "coordinate", True),
    ("auto, nonnegative", "auto", True),
)


def figure_1(report: Report) -> Outcome:
    """The objective in one entry, a quartic, and its derivative, with the maximum over u >= 0."""
    c2, c1, alpha = 30.0, 60.0, 1.0
    u = np.linspace(-10, 10, 201)
    best = coordinate.maximiser(c2, c1, alpha)
    value = lambda u: -alpha / 4 * u**4 + c2 / 2 * u**2 + c1 * u  # noqa: E731
    slope = -alpha * u**3 + c2 * u + c1
    grid = np.linspace(0, 10, 1_000_001)
    away = abs(best - grid[np.argmax(value(grid))])
    report(Event("quartic", 1, 1))
    panels = [
        Panel(
            "The quartic",
            "u",
            "f(u)",
            [
                Curve("f", u.tolist(), value(u).tolist(), marks=False),
                Curve("maximum over u ≥ 0", [float(best)], [float(value(best))]),
            ],
            xrange=[-10, 10],
            yrange=[-2000, 1000],
        ),
        Panel(
            "Its derivative",
            "u",
            "f'(u)",
            [Curve("f'", u.tolist(), slope.tolist(), marks=False)],
            xrange=[-10, 10],
            yrange=[-1000, 1500],
        ),
    ]
    seen = f"root by formula {best:.6f}, {away:.0e} from the best of a million points"
    return Outcome({"drawn": [Found(seen)]}, panels)


def figure_2(report: Report) -> Outcome:
    """Ten components of the faces: three settings, PCA, NMF, and the greedy method with 55 pixels."""
    data = originals.sample("cbcl")
    problem = Problem.from_data(data.X, k=PIXELS, nonneg=True)
    U = {name: own(problem, *SETTINGS[name], report) for name in ("a", "b", "c")}
    titles = {
        "a": "(a) alpha = 2e7, beta = 0",
        "b": "(b) alpha = 5e8, beta = 0",
        "c": "(c) alpha = 2e7, beta = 2e6",
    }
    columns = {titles[name]: U[name] for name in U}
    columns["(d) PCA"] = problem.covariance.leading(COMPONENTS)[1]
    columns["(e) NMF"] = uses.principal_parts(data.X, COMPONENTS)
    columns["(f) GSPCA, 55 pixels each"] = greedy(problem, report)
    galleries = [
        Gallery(title, list(data.image_shape or (19, 19)), one.T.tolist()) for title, one in columns.items()
    ]
    overlaps = {name: coordinate.overlap(one) for name, one in U.items()}
    entries = {name: int(np.count_nonzero(one)) for name, one in U.items()}
    found = {
        "alpha": [Found(f"{overlaps['a']:.2f} to {overlaps['b']:.2g}", holds=overlaps["b"] < overlaps["a"])],
        "sparser": [Found(f"{entries['a']} to {entries['b']}", holds=entries["b"] < entries["a"])],
        "remains": [
            Found(
                f"{overlaps['a']:.2f} to {overlaps['c']:.2f}",
                holds=True if overlaps["c"] >= REMAINS * overlaps["a"] else None,
            )
        ],
        "beta": [Found(f"{entries['a']} to {entries['c']}", holds=entries["c"] < entries["a"])],
    }
    return Outcome(found, galleries=galleries)


def figure_3(report: Report) -> Outcome:
    """Overlap against alpha (beta = 0), nonzero weights against beta (alpha = 2e7)."""
    problem = Problem.from_data(originals.sample("cbcl").X, k=PIXELS, nonneg=True)
    alphas, betas = np.arange(6.0, 10.1, 0.5), np.arange(5.0, 8.1, 0.5)
    overlaps, entries = [], []
    for i, a in enumerate(alphas):
        overlaps.append(coordinate.overlap(own(problem, 10**a, 0.0, report, restarts=1)))
        report(Event("alpha", i + 1, len(alphas)))
    for i, b in enumerate(betas):
        entries.append(float(np.count_nonzero(own(problem, 2e7, 10**b, report, restarts=1))))
        report(Event("beta", i + 1, len(betas)))
    panels = [
        Panel(
            "Overlap, beta = 0",
            "log10 alpha",
            "|I - U'U|, unit columns",
            [Curve("NSPCA (2006)", alphas.tolist(), overlaps)],
            xrange=[6, 10],
            yrange=[0, 8],
        ),
        Panel(
            "Nonzero weights, alpha = 2e7",
            "log10 beta",
            "entries of U above 0",
            [Curve("NSPCA (2006)", betas.tolist(), entries)],
            xrange=[5, 8],
            yrange=[0, 2500],
        ),
    ]
    found = {
        "overlap": [Found(f"{overlaps[0]:.2f} to {overlaps[-1]:.2g}", holds=_falls(overlaps))],
        "sparse": [Found(f"{entries[0]:.0f} to {entries[-1]:.0f}", holds=_falls(entries))],
    }
    return Outcome(found, panels)


def figure_4(report: Report) -> Outcome:
    """Face detection by a linear machine on ten numbers; ten draws of what it learns from, three machines."""
    faces, nonfaces = originals.sample("cbcl").X.astype(np.float64), originals.table("nonfaces")
    areas: dict[str, dict[str, list[float]]] = {machine: {} for machine in MACHINES}
    first: dict[str, dict] = {}
    for draw, (train, test) in enumerate(draws(faces, nonfaces)):
        problem = Problem.from_data(train[0], k=PIXELS, nonneg=True)
        columns = {f"NSPCA ({name})": own(problem, *SETTINGS[name], report, restarts=1) for name in SETTINGS}
        columns["PCA"] = problem.covariance.leading(COMPONENTS)[1]
        columns["NMF"] = uses.principal_parts(train[0], COMPONENTS)
        columns["GSPCA, 55 pixels"] = greedy(problem, report)
        for name, U in columns.items():
            for machine, (scaled, constant) in MACHINES.items():
                curve = uses.detection_curve(U, train, {"rest": test}, scaled=scaled, constant=constant)[
                    "rest"
                ]
                areas[machine].setdefault(name, []).append(curve["area"])
                if draw == 0 and machine == next(iter(MACHINES)):
                    first[name] = curve
        report(Event("draws", draw + 1, DRAWS))
    panels = [
        _roc("(a) alpha and beta", {n: c for n, c in first.items() if n.startswith("NSPCA")}),
        _roc(
            "(b) against others",
            {n: c for n, c in first.items() if n not in ("NSPCA (a)", "NSPCA (b)", "NSPCA (c)")},
        ),
    ]
    found: dict[str, list[Found]] = {"alpha": [], "beta": [], "others": []}
    for machine, area in areas.items():
        ours, rest = area["NSPCA (both)"], [area[name] for name in ("PCA", "NMF", "GSPCA, 55 pixels")]
        judged = machine == next(iter(MACHINES))
        found["alpha"].append(_compared(area["NSPCA (b)"], area["NSPCA (a)"], machine, judged))
        found["beta"].append(_compared(area["NSPCA (c)"], area["NSPCA (a)"], machine, judged))
        best = max(rest, key=np.mean)
        found["others"].append(_compared(ours, best, f"{machine}, against the best of them", judged))
    mean = {name: np.mean(area) for name, area in areas[next(iter(MACHINES))].items()}
    said = (
        f"Mean areas of {DRAWS} draws: "
        + ", ".join(f"{name} {value:.3f}" for name, value in mean.items())
        + ". "
        "(a), (b), (c) are the settings of Fig. 2, both: alpha = 5e8 and beta = 2e6. Which faces, which "
        "constant and which scaling were taken is not printed."
    )
    return Outcome(found, panels, said=said)


def draws(faces: Array, nonfaces: Array) -> Iterator[tuple[tuple[Array, Array], tuple[Array, Array]]]:
    """Yield `DRAWS` random splits of faces and other images into training and test sets."""
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        p, q = rng.permutation(len(faces)), rng.permutation(len(nonfaces))
        train = faces[p[:FACES]], nonfaces[q[:OTHERS]]
        yield train, (faces[p[FACES:]], nonfaces[q[OTHERS:]])


def figure_5(report: Report) -> Outcome:
    """Pitprops: variance and features of the first 1 to 6 components."""
    A = load_sample("pitprops").X
    variance, used = [], []
    for i, (name, method, nonneg) in enumerate(PROPS):
        problem = Problem.from_covariance(A, k=5, nonneg=nonneg)
        if method is None:
            U = problem.covariance.leading(6)[1]
        else:
            U = successive(problem, 6, partial(_first, method=method, report=report), "projection")
        x = [float(j + 1) for j in range(6)]
        share = explained_variances(problem, U)["adjusted"] / np.trace(A)
        variance.append(Curve(name, x, (100 * share).tolist()))
        used.append(Curve(name, x, np.cumsum(np.count_nonzero(U, axis=0)).astype(float).tolist()))
        report(Event(name, i + 1, len(PROPS)))
    panels = [
        Panel(
            "Cumulative variance",
            "components",
            "% of the variance",
            variance,
            xrange=[0.8, 6.2],
            yrange=[20, 100],
        ),
        Panel(
            "Cumulative cardinality", "components", "features", used[1:], xrange=[0.8, 6.2], yrange=[0, 50]
        ),
    ]
    at = f"six components: {variance[0].y[-1]:.1f} % by PCA, {variance[3].y[-1]:.1f} % by NSPCA (2006)"
    said = (
        "SCoTLASS, SPCA, DSPCA and ESPCA are drawn in the paper without numbers and are not here. Five "
        "features in each component; what one explains is projected out before the next."
    )
    return Outcome({"drawn": [Found(at)]}, panels, said=said)


def _first(problem: Problem, method: str, report: Report) -> Array:
    return api.solve(problem, method, certify=None, report=report).components[:, 0]


def own(problem: Problem, alpha: float, beta: float, report: Report, restarts: int = 2) -> Array:
    """The paper's ten columns for its alpha and beta, brought to length 1; columns of zeros are left out."""
    options = coordinate.Options(
        alpha=coordinate.from_paper(problem, alpha),
        beta=coordinate.from_paper(problem, beta) if beta else 0.0,
        restarts=restarts,
    )
    U = coordinate.own(problem, COMPONENTS, options, 0, report)
    lengths = np.linalg.norm(U, axis=0)
    return U[:, lengths > 0] / lengths[lengths > 0]


def greedy(problem: Problem, report: Report) -> Array:
    """Ten components by forward selection, any sign, 55 pixels each; what one explains is projected out."""
    signed = Problem(problem.covariance, PIXELS, nonneg=False)
    return api.solve(
        signed,
        "greedy",
        components=COMPONENTS,
        deflation="projection",
        certify=None,
        report=report,
        restarts=1,
        polish=False,
    ).components


def _falls(values) -> bool:
    """Tell whether a curve falls overall, and nowhere rises by more than a tenth of that fall."""
    fall = values[0] - values[-1]
    return fall > 0 and bool(np.all(np.diff(values) <= 0.1 * fall))


def _compared(one: list[float], other: list[float], preset: str, judged: bool) -> Found:
    a, b = np.array(one), np.array(other)
    higher = f"in {int((a > b).sum())} of {len(a)} draws higher"
    seen = f"{a.mean():.3f} ± {a.std():.3f} against {b.mean():.3f} ± {b.std():.3f}, {higher}"
    return Found(seen, preset, bool(a.mean() > b.mean()), judged)


def _roc(title: str, curves: dict[str, dict]) -> Panel:
    drawn = []
    for name, curve in curves.items():
        at = np.unique(np.linspace(0, len(curve["false"]) - 1, 120).round().astype(int))
        x, y = curve["false"][at].tolist(), curve["true"][at].tolist()
        drawn.append(Curve(f"{name}, area {curve['area']:.3f}", x, y, marks=False))
    return Panel(
        title,
        "share of others taken for faces",
        "share of faces found",
        drawn,
        xrange=[0, 0.4],
        yrange=[0.6, 1.01],
    )
