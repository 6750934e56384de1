"""The ZIP of methods side by side: all numbers, all components, and the certificate of each k."""

from datetime import UTC, datetime

import pandas as pd

from nspca.dashboard.app import wording
from nspca.dashboard.export.archive import File
from nspca.dashboard.export.whole import CERTIFICATES, Contents, Whole
from nspca.dashboard.sweep.rivals_more import Compared
from nspca.dashboard.views import component
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import format_value


def whole(seen: Compared) -> Whole:
    """Return the description of a comparison for its ZIP."""
    missing = len(seen.asked.ks) * len(seen.asked.methods) - len(seen.sweep)
    said = f"Not here: {wording.things(missing, 'answer')}, refused or cancelled." if missing else ""
    return Whole(seen.of, seen.asked, "methods", said)


def packed(seen: Compared) -> bytes:
    """Return the ZIP of a comparison. It has no figures, which a browser would have to draw first."""
    width, data = len(str(max(seen.asked.ks))), seen.of.dataset
    proofs = {k: seen.sweep[method, k].certificate for method, k in seen.sweep}  # the methods share one
    named = {k: f"k{k:0{width}}" for k, proof in proofs.items() if proof is not None}
    files = [f"{CERTIFICATES}{named[k]}.npz" if k in named else "" for k in seen.table["k"]]
    every = component.csv_of(component.all_weights(data, seen.sweep), data)
    numbers = component.csv_of(seen.sweep.frame.assign(certificate=files), data)
    contents = Contents(
        {
            "tables/methods.csv": File(numbers, "one row for each method and k"),
            "tables/components.csv": File(every, "the weights of every component"),
        },
        {name: proof for k, name in named.items() if (proof := proofs[k]) is not None},
        "the proofs, one for each k: they bound what any method can explain",
        _proved(seen.table),
    )
    return whole(seen).pack(contents, {}, {}, datetime.now(UTC))


def _proved(table: pd.DataFrame) -> Markup:
    """Return an HTML table with value, seconds and proved share for each method and k."""
    rows = []
    for row in table.itertuples():
        proved = wording.proof(None if pd.isna(row.ratio) else row.ratio)
        rows.append((row.k, format_value(row.value), f"{row.seconds:.3f}", proved, row.method))
    return render("table", head=("k", "Variance", "Seconds", "Proved", "Method"), rows=rows, kind="")
