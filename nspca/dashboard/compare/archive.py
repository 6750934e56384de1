"""Pack a comparison into one ZIP file, for `ComparePage.take_home`. No Streamlit calls of its own."""

from collections.abc import Mapping
from datetime import datetime

import pandas as pd
import plotly.graph_objects as go

import nspca
from nspca.dashboard.app import wording
from nspca.dashboard.compare.run import Compared
from nspca.dashboard.components.pictures import Picture
from nspca.dashboard.export.archive import File
from nspca.dashboard.export.whole import CERTIFICATES, Contents, Whole
from nspca.dashboard.views import component
from nspca.data.export import frame_to_csv
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import format_value

ABOUT = {
    "value-by-k": "what each method finds, and the region in which the optimum is proved to lie",
    "proved-ratio": "how good that is at least",
    "seconds": "what it costs",
}
"""Names of the figures, in the order of the page, and what they show."""


def whole(run: Compared) -> Whole:
    """Return the description of the comparison for its ZIP: data, spec, name, and what is missing."""
    line = f"Asked: {run.asked.describe().asked}. Seed {run.asked.seed}."
    missing = len(run.asked.ks) * len(run.asked.methods) - len(_sweep(run))
    line += f" Not here: {wording.things(missing, 'answer')}, refused or cancelled." if missing else ""
    return Whole(run.data, run.asked, "compare", line)


def pack(
    run: Compared,
    drawn: Mapping[str, go.Figure],
    pictures: Mapping[str, Picture],
    made: datetime,
) -> bytes:
    """Return the ZIP file.

    Parameters
    ----------
    drawn : the figures by the names of `ABOUT`
    pictures : the figures as picture files, by name; some may be missing
    made : datetime
        Time of packing, in UTC.
    """
    certificates, named = _certificates(run)
    table, data = _sweep(run).frame, run.data.dataset
    rows = table.assign(certificate=[named.get(k, "") for k in table["k"]])
    contents = Contents(
        drawn,
        pictures,
        ABOUT,
        {
            "tables/compare.csv": File(
                frame_to_csv(component.labelled(rows, data)), "one row for each method and k"
            ),
            "tables/components.csv": File(_components(run), "the weights of every component"),
        },
        certificates,
        "the proofs, one for each k: they bound what any method can explain",
        _proved(table),
    )
    return whole(run).pack(contents, made)


def _sweep(run: Compared) -> nspca.Sweep:
    """Return the results of a comparison that has some."""
    assert run.sweep is not None  # only a comparison with results has downloads
    return run.sweep


def _certificates(run: Compared) -> tuple[dict[str, nspca.Certificate], dict[int, str]]:
    """Return the certificates by file name, and the file name of each k; all methods of a k share one."""
    sweep = _sweep(run)
    width = len(str(max(k for _, k in sweep)))
    found, named = {}, {}
    for method, k in sweep:
        proof = sweep[method, k].certificate
        if proof is not None and k not in named:
            name = f"k{k:0{width}}"
            found[name], named[k] = proof, f"{CERTIFICATES}{name}.npz"
    return found, named


def _components(run: Compared) -> bytes:
    """Return all components as CSV."""
    data, sweep = run.data.dataset, _sweep(run)
    parts = [
        component.weights(data, sweep[method, k].components[:, 0]).assign(method=method, k=k)
        for method, k in sweep
    ]
    table = pd.concat(parts, ignore_index=True)
    return frame_to_csv(component.labelled(table[["method", "k", "feature", "weight", "share"]], data))


def _proved(table: pd.DataFrame) -> Markup:
    """Return an HTML table with value, seconds and proved share for each method and k."""
    rows = []
    for row in table.itertuples():
        proved = wording.proof(None if pd.isna(row.ratio) else row.ratio)
        rows.append((row.k, format_value(row.value), f"{row.seconds:.3f}", proved, row.method))
    return render("table", head=("k", "Variance", "Seconds", "Proved", "Method"), rows=rows, kind="")
