"""Content of the ZIP of a comparison, for `ComparePage.take_home`. No Streamlit calls of its own."""

import pandas as pd

import nspca
from nspca.dashboard.app import wording
from nspca.dashboard.compare.seen import Seen
from nspca.dashboard.export.archive import File
from nspca.dashboard.export.whole import CERTIFICATES, Contents, Whole
from nspca.dashboard.views import component
from nspca.presentation.markup import Markup, render
from nspca.presentation.numerals import format_value

ABOUT = {
    "value-by-k": "what each method finds, and the region in which the optimum is proved to lie",
    "proved-ratio": "how good that is at least",
    "seconds": "what it costs",
}
"""Names of the figures, in the order of the page, and what they show."""


def whole(seen: Seen) -> Whole:
    """Return the description of the comparison for its ZIP: data, spec, name, and what is missing."""
    missing = len(seen.asked.ks) * len(seen.asked.methods) - len(seen.sweep)
    said = f"Not here: {wording.things(missing, 'answer')}, refused or cancelled." if missing else ""
    return Whole(seen.data, seen.asked, "compare", said)


def contents(seen: Seen) -> Contents:
    """Return the content of the ZIP, besides its figures, which have the names of `ABOUT`."""
    certificates, named = _certificates(seen.sweep)
    table, data = seen.sweep.frame, seen.data.dataset
    rows = table.assign(certificate=[named.get(k, "") for k in table["k"]])
    every = component.csv_of(component.all_weights(data, seen.sweep), data)
    return Contents(
        {
            "tables/compare.csv": File(component.csv_of(rows, data), "one row for each method and k"),
            "tables/components.csv": File(every, "the weights of every component"),
        },
        certificates,
        "the proofs, one for each k: they bound what any method can explain",
        _proved(table),
        ABOUT,
    )


def _certificates(sweep: nspca.Sweep) -> tuple[dict[str, nspca.Certificate], dict[int, str]]:
    """Return the certificates by file name, and the file name of each k; all methods of a k share one."""
    width = len(str(max(k for _, k in sweep)))
    found, named = {}, {}
    for method, k in sweep:
        proof = sweep[method, k].certificate
        if proof is not None and k not in named:
            name = f"k{k:0{width}}"
            found[name], named[k] = proof, f"{CERTIFICATES}{name}.npz"
    return found, named


def _proved(table: pd.DataFrame) -> Markup:
    """Return an HTML table with value, seconds and proved share for each method and k."""
    rows = []
    for row in table.itertuples():
        proved = wording.proof(None if pd.isna(row.ratio) else row.ratio)
        rows.append((row.k, format_value(row.value), f"{row.seconds:.3f}", proved, row.method))
    return render("table", head=("k", "Variance", "Seconds", "Proved", "Method"), rows=rows, kind="")
