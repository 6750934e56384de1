"""Record a cone search, and replay it cone by cone in the browser, without the server."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nspca.covariance.linalg import Array
from nspca.dashboard.app import cache, plotly
from nspca.dashboard.components.mount import mount, styles
from nspca.dashboard.components.spannogram_explorer import UNIT
from nspca.lowrank import cones
from nspca.lowrank.cones import Budget, Cover, Step
from nspca.lowrank.objective import Query
from nspca.plots.gaps import gap_figure
from nspca.plots.sphere import STATUS, Globe, flat_map_figure, globe, sphere_figure
from nspca.plots.theme import alt_text
from nspca.presentation.markup import render
from nspca.presentation.numerals import format_bound_share, format_guarantee, format_value_share, proved_ratio

CAP = 3000
"""Maximum cones of a replay: more cannot be distinguished on a screen, and rank 3 does not need more."""
_SHORT = {"open": "open", "leaf": "proved within the tolerance", "discarded": "cannot hold the best"}
_STYLES = styles("icons") + styles("cone_replay")
_REPLAY = mount("cone_replay", render("cone_replay"), _STYLES, has_plotly=True)


@dataclass(frozen=True, eq=False)
class Replay:
    """A recorded cone search."""

    generators: Array  # (t, 3, 3): of each cone, as unit rows
    bounds: Array  # (t,): of each cone
    # born, cut (t,): steps at which a cone was created and split; `cut` is negative for one never split
    born: np.ndarray
    cut: np.ndarray
    lower: Array  # lower, upper (steps,): of the search after each step
    upper: Array
    cover: Cover  # result of the search


def record(V: Array, k: int, nonneg: bool, tol: float) -> Replay:
    """Run the search of `nspca.lowrank.cones` on V (n, 3), and record every cone."""
    steps: list[Step] = []
    cover = cones.search(Query(V, k, nonneg=nonneg), Budget(tol, cap=CAP), watch=steps.append)
    roots = sum(step.parent < 0 for step in steps)
    # The roots come together, and after them two children at a time.
    born = np.array([0] * roots + [1 + i // 2 for i in range(len(steps) - roots)])
    cut = np.full(len(steps), -1)
    for step, event in zip(steps, born, strict=True):
        if step.parent >= 0:
            cut[step.parent] = event
    generators = np.array([step.generators for step in steps])
    bounds = np.array([step.upper for step in steps])
    lower = np.maximum.accumulate(
        np.array([step.lower for step in steps])[np.searchsorted(born, np.arange(born[-1] + 1))]
    )
    # The cones that are not split cover all directions, so the largest of their bounds holds for all.
    left = [bounds[(born <= event) & ((cut < 0) | (cut > event))].max() for event in range(born[-1] + 1)]
    upper = np.maximum(left, lower)
    return Replay(
        generators / np.linalg.norm(generators, axis=2, keepdims=True), bounds, born, cut, lower, upper, cover
    )


def replay_data(went: Replay, world: Globe, unit: float, tol: float) -> dict[str, Any]:
    """Return the data for the browser: the figures, and every cone with its bound in per cent of `unit`.

    Bounds and guarantees are sent as text, since a browser would round numbers to nearest.
    """
    percent = 100 / unit
    world = replace(world, values=percent * world.values, flat=percent * world.flat)
    steps = np.bincount(went.born).cumsum()
    gap = gap_figure(went.lower, went.upper, steps, unit=unit, unit_name=UNIT, steps_name="cones made")
    room = 0.06 * float(went.upper[0] - went.lower[0]) or 0.01 * unit
    gap.layout.annotations = ()  # the sentence below the figures says it for every step
    gap.update_layout(yaxis_range=[percent * (went.lower[0] - room), percent * (went.upper[0] + room)])
    gap.update_xaxes(range=[steps[0] - 0.03 * len(went.born), 1.03 * len(went.born)])
    best = went.cover.direction
    return {
        "generators": np.round(went.generators.reshape(-1, 9), 6).tolist(),
        "bounds": (percent * went.bounds).tolist(),
        "exceeds": [format_bound_share(bound, unit) for bound in went.bounds],
        "born": went.born.tolist(),
        "cut": went.cut.tolist(),
        "lower": (percent * went.lower).tolist(),
        "upper": (percent * went.upper).tolist(),
        "best": [format_value_share(value, unit) for value in went.lower],
        "above": [format_bound_share(bound, unit) for bound in went.upper],
        "proved": [
            format_guarantee(proved_ratio(*both)) for both in zip(went.lower, went.upper, strict=True)
        ],
        "made": steps.tolist(),
        "tol": tol,
        "finished": bool(went.cover.finished),
        "names": {name: words for name, (_, _, words) in STATUS.items()},
        "legend": {name: [STATUS[name][0], words] for name, words in _SHORT.items()},
        "figures": {
            "map": flat_map_figure(world, best).to_json(),
            "sphere": sphere_figure(world, best).to_json(),
            "gap": gap.to_json(),
        },
        "alt": alt_text(gap),
        "plotly": plotly.url(),
    }


@cache.keep()
def _data(
    key: tuple[Any, ...], tol: float, unit: float, _V: Array, nonneg: bool, k: int
) -> tuple[Replay, dict[str, Any]]:
    went = record(_V, k, nonneg, tol)
    return went, replay_data(went, globe(_V, k, nonneg), unit, tol)


def cone_replay(key: tuple[Any, ...], V: Array, k: int, *, nonneg: bool, tol: float, unit: float) -> Replay:
    """Draw the replay of a search on V (n, 3), on the sphere or a flat map, with its bounds; return the
    replay.
    """
    went, data = _data(key, tol, unit, V, nonneg, k)
    _REPLAY(key="cone_replay", data=data)
    return went
