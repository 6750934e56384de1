"""Draw the figures of docs/note.md, as SVG for the site and as PDF for the printed note.

Figures are drawn from the tables that `scripts.note` reads, except for the first one and the ladder, which
are computed from the sample `digits`.
"""

from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import nspca
from nspca.bounds import elementary, elimination, lowrank, witness
from nspca.covariance.linalg import topk_sum
from nspca.papers import exact
from nspca.presentation.colours import BOUND, FOUND, MAIN, PROVED, SECOND
from nspca.presentation.numerals import format_bound, format_guarantee, format_value
from scripts import note

STYLE = {
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.hashsalt": "nspca",
    "svg.fonttype": "none",
}
WIDTH = 6.3
"""Inches, the width of the text on an A4 page."""
SMALLEST_GAP = 1e-7
"""Left end of the axis of gaps. A smaller gap is drawn as this one, unless the row is proved optimal."""
CIRCLE_K, LADDER_K, RANK = 8, 20, 3
EFFORTS = (("standard", MAIN), ("thorough", SECOND))


@cache
def digits(k: int) -> tuple[nspca.Problem, nspca.Result]:
    """Return the problem of k pixels of handwritten digits, and its answer."""
    problem = nspca.Problem.from_data(nspca.load_sample("digits").X, k)
    return problem, nspca.solve(problem, certify=None)


CAPTIONS = {
    "circle": lambda: f"nonnegative, k = {CIRCLE_K}",
    "ladder": lambda: (
        f"the handwritten digits, nonnegative, k = {LADDER_K}, "
        f"with the value {format_value(digits(LADDER_K)[1].value, 7)}"
    ),
}


def ladder() -> tuple[tuple[str, str, str], ...]:
    """Return a row for each witness: its words, its bound and the share of the optimum that it proves."""
    problem, found = digits(LADDER_K)
    kept = elimination.all_rows(problem)
    threshold = witness.Witness(elimination.search_threshold(kept, problem)[1])
    steps = (
        ("the k largest variances", elementary.diagonal(problem)),
        ("first eigenvalue, all 0", elementary.eigenvalue(problem)),
        (f"U = rank {RANK}, as in 2014", lowrank.bound(problem, RANK, shifted=False)[0]),
        (f"U = rank {RANK}, shifted", lowrank.bound(problem, RANK)[0]),
        ("W by a threshold", witness.certificate(problem, kept, threshold)[0]),
        ("W, M and U, effort fast", nspca.certify(problem, found, effort="fast")),
        ("W, M and U, then supports, effort standard", nspca.certify(problem, found, effort="standard")),
    )
    X = nspca.load_sample("digits").X
    rows = []
    for words, certificate in steps:
        bound = nspca.verify(X, certificate, problem)
        rows.append((words, format_bound(bound, 7), format_guarantee(certificate.ratio(found.value))))
    return tuple(rows)


def circle(axes: Axes) -> None:
    """Draw the search half for two eigenvectors, with the value below it and the bound above it."""
    problem, found = digits(CIRCLE_K)
    A = problem.covariance
    U, t = lowrank.remainder(A, 2, shifted=True)
    angles = np.linspace(0, 2 * np.pi, 1441)
    heights = np.maximum(U @ np.array([np.cos(angles), np.sin(angles)]), 0) ** 2
    curve = np.array([topk_sum(column, CIRCLE_K) for column in heights.T])
    bound = lowrank.bound(problem, 2)[0].upper
    axes.axhline(bound, color=BOUND, label=f"bound {format_bound(bound)}")
    axes.axhline(found.value, color=FOUND, linestyle="--", label=f"value {format_value(found.value)}")
    axes.plot(np.degrees(angles), (curve + t) * A.unit, color=PROVED, label="f(c) + t")
    axes.set(xlabel="angle of c, degrees", ylabel="variance", xlim=(0, 360), ylim=(0, 1.25 * bound))
    axes.legend(ncols=3, loc="upper center")


def gap(share: str) -> float:
    """Return what a text such as "99.75 %" or "92.9 %, 17 s" leaves open; NaN for "optimal" and for "-"."""
    return np.nan if share.startswith(("optimal", "-")) else 1 - float(share.split("%")[0]) / 100


def gaps(axes: Axes) -> None:
    """Draw the part of the optimum that is not proved, a bar for each effort."""
    table = note.certificates()
    names = [f"{name}, k = {k}" for name, k in table.pick("data", "k").rows]
    open_parts = {
        effort: np.array([gap(share) for share in table.texts(f"{effort}: at least")])
        for effort, _ in EFFORTS
    }
    shown = np.flatnonzero(~np.isnan(open_parts["standard"]))
    for place, (effort, colour) in enumerate(EFFORTS):
        widths = np.maximum(open_parts[effort][shown], SMALLEST_GAP)
        axes.barh(np.arange(shown.size) + 0.4 * place, widths, 0.38, color=colour, label=effort)
    axes.set_yticks(np.arange(shown.size) + 0.2, [names[i] for i in shown])
    axes.set(xscale="log", xlim=(SMALLEST_GAP, 0.1), xlabel="part of the bound that is not reached")
    axes.invert_yaxis()
    axes.legend(loc="upper left", bbox_to_anchor=(0, 1.07), ncols=2)


def joint(axes: Axes) -> None:
    """Draw the proved shares of joint problems, a bar for each effort."""
    table = note.joint()
    names, previous = [], ""
    for name in table.texts("run"):
        previous = previous if name.startswith("the same") else name.split(",")[0]
        names.append(f"{previous}, {name.split(', ')[-1]}")
    for place, (effort, colour) in enumerate(EFFORTS):
        shares = [100 * (1 - np.nan_to_num(gap(share))) for share in table.texts(effort)]
        axes.barh(np.arange(len(names)) + 0.4 * place, shares, 0.38, color=colour, label=effort)
    axes.set_yticks(np.arange(len(names)) + 0.2, names)
    axes.set(xlim=(85, 100), xlabel="proved share of the optimum, per cent")
    axes.invert_yaxis()
    axes.legend(loc="upper left", bbox_to_anchor=(0, 1.2), ncols=2)


def optima(axes: Axes) -> None:
    """Draw CPU seconds against the number of features for the published matrices."""
    for sign, label, marker, colour in (
        ("signed", "any sign", "o", MAIN),
        ("nonneg", "nonnegative", "s", SECOND),
    ):
        rows = [(row.n, getattr(row, sign)) for row in exact.stored()]
        for is_optimal in (True, False):
            points = [(n, max(one.seconds, 0.01)) for n, one in rows if one.is_optimal is is_optimal]
            axes.scatter(
                *zip(*points, strict=True) if points else ((), ()),
                marker=marker,
                s=18,
                facecolors=colour if is_optimal else "none",
                edgecolors=colour,
                label=label if is_optimal else None,
            )
    axes.set(xscale="log", yscale="log", xlabel="features", ylabel="CPU seconds")
    axes.set_xticks([13, 30, 64, 128, 274], ["13", "30", "64", "128", "274"])
    axes.minorticks_off()
    axes.legend(loc="upper left")


FIGURES = {"circle": (circle, 2.6), "gaps": (gaps, 5.6), "joint": (joint, 2.6), "optima": (optima, 3.0)}
"""The function that draws a figure, and its height in inches."""


def draw(folder: Path) -> None:
    """Write every figure into a folder, as SVG and as PDF."""
    folder.mkdir(exist_ok=True)
    with mpl.rc_context(STYLE):
        for name, (fill, height) in FIGURES.items():
            figure = Figure((WIDTH, height), layout="constrained")
            fill(figure.add_subplot())
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            figure.savefig(folder / f"{name}.pdf", metadata={"CreationDate": None})
