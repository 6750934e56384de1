"""Interactive spannogram: a visitor drags the angle in the browser, and sees its component there."""

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import streamlit as st

from nspca.covariance.moments import moments
from nspca.dashboard.components import figures
from nspca.dashboard.components.mount import mount, read, styles
from nspca.plots.spannogram import Spans, curves, spans, top_set
from nspca.presentation.markup import Markup, render

UNIT = "the main direction"  # name of the variance that counts as 100 %, the leading eigenvalue
MOST = 210  # largest height of the image beside the curves, in CSS pixels
Optimum = tuple[float, int]  # an angle in radians, and the sign of the direction c there
_HTML = render("spannogram_explorer")
_CSS = styles("icons") + styles("spannogram_explorer")
_EXPLORER = mount("spannogram_explorer", _HTML, _CSS)


def picture_of(dataset: Any) -> dict[str, Any]:
    """Return how the browser draws a component beside the curves: over the mean image, or as named bars."""
    shape = mean = None
    if dataset.kind == "image" and not dataset.is_covariance and dataset.image_shape is not None:
        grey = moments(dataset.X)[0]
        grey = (grey - grey.min()) / (np.ptp(grey) or 1.0)
        shape, mean = list(map(int, dataset.image_shape)), np.round(grey, 3).tolist()
    return {"shape": shape, "mean": mean, "most": MOST}


def explorer_data(
    V: Any,
    k: int,
    found: Spans,
    optimum: Optimum,
    *,
    nonneg: bool = True,
    names: Sequence[str] | None = None,
    unit: float = 1.0,
    phi: float | None = None,
    **look: Any,
) -> dict[str, Any]:
    """Return the data for the browser: the exact rows of V, and the static parts of the picture.

    Parameters
    ----------
    V : (n, 2)
    k : int
    found : Spans
        Result of `nspca.plots.spans`.
    optimum : (phi, sign)
    nonneg : bool
        Nonnegative problems take the k largest entries of Vc; signed ones the k entries largest in size. An
        optimum of sign -1 has the curves of -c drawn.
    names : sequence of str, optional
        Feature names for the list of lit curves.
    unit : float
        The leading eigenvalue in the units of V, which is 100 %; with 1 the objective itself is shown.
    phi : float, optional
        Initial angle in radians, in [-pi/2, pi/2]; by default the optimum.
    **look
        Further entries: ``height`` of the drawing in pixels, ``picture`` (from `picture_of`), ``steps``
        (sentences beside the drawing), and ``noun`` for a feature.
    """
    best_phi, sign = optimum
    V = np.ascontiguousarray(sign * np.asarray(V, dtype="<f8"))
    row = 0 if sign > 0 else -1
    value = curves(V, [best_phi])[:, 0]
    best = float((value[top_set(value, k, nonneg)] ** 2).sum())
    return {
        "rows": base64.b64encode(V.tobytes()).decode(),
        "k": int(k),
        "nonneg": bool(nonneg),
        "names": None if names is None else [str(name)[:40] for name in names],
        "unit": float(unit),
        "unitName": UNIT,
        "phi": float(best_phi if phi is None else phi),
        "grid": np.round(found.phi, 6).tolist(),
        "objective": [float(f"{v:.6g}") for v in found.objective[row]],
        "edges": np.round(found.edges[row], 5).tolist(),
        "optimum": {"phi": float(best_phi), "value": best},
        "height": 380,
        "scale": figures.scale(),
        "ask": False,
        "guessed": None,
        "picture": None,
        "steps": [],
        "noun": "feature",
        **look,
    }


def spannogram_explorer(data: dict[str, Any], key: str) -> float:
    """Draw curves, the k highest at an angle, and the objective; return the angle last released."""
    result = _EXPLORER(key=key, data=data, default={"phi": data["phi"]}, on_phi_change=lambda: None)
    return float(data["phi"] if result.get("phi") is None else result["phi"])


def asking(
    V: Any, k: int, names: Sequence[str], optimum: Optimum, unit: float, guessed: float | None, **look: Any
) -> dict[str, Any]:
    """Return the data for `guess`, in which a visitor guesses the best angle."""
    # Far from the answer, which would not be a guess otherwise.
    begin = optimum[0] - np.pi / 3 if optimum[0] > 0 else optimum[0] + np.pi / 3
    phi = begin if guessed is None else guessed
    how: dict[str, Any] = {"ask": True, "guessed": guessed, "noun": "pixel", **look}
    return explorer_data(V, k, spans(V, k), optimum, names=names, unit=unit, phi=phi, **how)


def sending(V: Any, k: int, label: str, sent: float | None) -> dict[str, Any]:
    """Return the data for `guess` on a phone: the curves, without the answer."""
    guessed = None if sent is None else float(np.radians(sent))
    nothing = Spans(np.zeros(1), np.zeros((1, 1)), (np.zeros(0),), ([],))
    how: dict[str, Any] = {"ask": True, "send": label, "guessed": guessed, "height": 300, "noun": "pixel"}
    hidden = {"optimum": {"phi": 0, "value": 1}}
    return explorer_data(V, k, nothing, (0.0, 1), phi=guessed or 0.0, **how) | hidden


def guess(data: dict[str, Any], key: str, on_guess: Callable[[float | None], None]) -> None:
    """Draw the picture for the data of `asking` or `sending`.

    `on_guess` is called with the angle in radians when the visitor reveals the answer or sends the guess, and
    with None when the answer is hidden again.
    """

    def take() -> None:
        said = st.session_state[key].get("guess")
        on_guess(None if said is None else min(np.pi / 2, max(-np.pi / 2, float(said))))

    _EXPLORER(
        key=key,
        data=data,
        default={"phi": data["phi"], "guess": data["guessed"]},
        on_phi_change=lambda: None,
        on_guess_change=take,
    )


def page(title: str, sentence: str, data: dict[str, Any]) -> bytes:
    """Return the picture for the data of `asking` as one self-contained HTML file, to download."""
    script = read("spannogram_explorer.js").replace("export default function (", "function mount(", 1)
    given = json.dumps(data).replace("<", "\\u003c")  # a name must not end the script
    about = {"title": title, "sentence": sentence, "body": _HTML}
    parts = {"style": Markup(_CSS), "script": Markup(script), "data": Markup(given)}
    return render("standalone", **about, **parts).encode()
