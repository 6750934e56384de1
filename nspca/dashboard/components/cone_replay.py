"""Record a cone search, and replay it cone by cone in the browser, without the server.

The pages Spannogram and Learn call `cone_replay`.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from nspca.covariance.linalg import Array
from nspca.dashboard.app import cache, plotly
from nspca.dashboard.components import icons
from nspca.dashboard.components.figures import plotly_script
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
_HTML = render("cone_replay")
_CSS = """
.nspca-cones { color: var(--st-text-color); font-family: var(--st-font); font-size: 0.95rem;
  container-type: inline-size; }
.nspca-cones .stage { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.5rem; }
.nspca-cones .world { height: calc(400px * var(--nspca-room, 1)); }
.nspca-cones .gap { height: calc(300px * var(--nspca-room, 1)); }
@container (min-width: 760px) {
  .nspca-cones .stage { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); align-items: center; }
  .nspca-cones .gap { height: calc(370px * var(--nspca-room, 1)); }
}
@container (max-width: 500px) { .nspca-cones .world { height: 330px; } }
@container (max-width: 759px) { .nspca-cones .world.flat { height: 50cqw; } }
.nspca-cones .step { display: block; width: 100%; margin: 0.7rem 0 0.4rem;
  accent-color: var(--st-primary-color); }
.nspca-cones .bar { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; }
.nspca-cones .turn { margin-left: auto; }
.nspca-cones .legend { display: flex; flex-wrap: wrap; column-gap: 0.9rem; font-size: 0.85rem; }
.nspca-cones .legend i { display: inline-block; width: 1.3rem; height: 0; margin-right: 0.35rem;
  vertical-align: middle; }
.nspca-cones button.play { min-width: 6.2rem; }
.nspca-cones .say { margin: 0.3rem 0 0; min-height: 3em; font-variant-numeric: tabular-nums; }
"""
_REPLAY = st.components.v2.component(
    "nspca_cone_replay",
    html=_HTML,
    css=icons.CSS + _CSS,
    js=plotly_script("cone_replay.js"),
    # Plotly measures text and puts its styles into the document, which a shadow root would hide from it.
    isolate_styles=False,
)


@dataclass(frozen=True, eq=False)
class Replay:
    """A recorded cone search.

    Attributes
    ----------
    generators : (t, 3, 3)
        Generators of each cone, as unit rows.
    bounds : (t,)
        Bound of each cone.
    born, cut : (t,)
        Steps at which a cone was created and split; `cut` is negative for a cone that was never split.
    lower, upper : (steps,)
        Best value and bound of the search after each step.
    cover : Cover
        Result of the search.
    """

    generators: Array
    bounds: Array
    born: np.ndarray
    cut: np.ndarray
    lower: Array
    upper: Array
    cover: Cover


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
