"""Applications of the methods in the papers: the pitprops table, gene selection, and face detection.

The page Papers calls `show` for its last tab. Each application has a form for a spec, its run, and a view of
the rows. If the original data are on this machine, a default run answers before a visitor asks.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from nspca import papers
from nspca.dashboard import open_data
from nspca.dashboard.app import cache, state, wording
from nspca.dashboard.app.choices import choose_one
from nspca.dashboard.components import figures
from nspca.dashboard.data import preview, standin
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import defaults, export, lookup, progress, start
from nspca.dashboard.views import filling
from nspca.dashboard.views.filling import download
from nspca.data.folders import originals_folder
from nspca.plots.compare import cumulative_figure, styles
from nspca.plots.papers import roc_figure, selections_figure
from nspca.specs import DataSpec, DetectionSpec, GenesSpec, PitpropsSpec
from nspca.specs.rows import Row, Scored
from nspca.specs.uses import (
    NEEDED,
    PART_SIZE,
    PARTS,
    PIXELS,
    PROPS,
    STARTS,
    TRAIN_FACES,
    TRAIN_OTHERS,
    Use,
)

USES = {"pitprops": "Pitprops", "genes": "Choosing genes", "faces": "Finding faces"}
PREPARED = {"log": "log2 intensities", "standardised": "standardised"}
TESTED = {"rest": "the rest of the training set", "test set": "the test set's faces"}
TOTAL = 13.0
"""Total variance of the pitprops: the trace of a correlation matrix of 13 features."""
COUNTED = {"adjusted": "adjusted variance", "total": "total variance", "subspace": "variance of the subspace"}


def show() -> None:
    """Draw the choice of an application, and the chosen one."""
    use = choose_one("Use", "use", USES)
    {"genes": _genes, "faces": _faces, "pitprops": _pitprops}[use]()


def _about(what: str, measured: str, source: str) -> None:
    """Draw the folded explanation of a picture: two sentences, and the source in the papers."""
    with st.expander("How this is measured", icon=":material/info:"):
        st.markdown(f"{what}  \n{measured}  \n:small[:gray[{source}]]")


def run(
    spec: Use,
    given: dict[str, Any],
    label: str,
    total: int,
    draw: Callable[[list[dict[str, Any]]], None],
    of: Chosen,
) -> Any | None:
    """Return the result of the spec's run; draw progress or a button and return None while there is none.

    A run of this workspace is preferred. Otherwise the default run is used if the data are originals. For
    other data a button starts a run.

    Parameters
    ----------
    spec : the question
    given : the data of the run, as keyword arguments of the spec's `run`
    label : label of the button
    total : number of rows of the whole run
    draw : draws the rows that are there so far
    of : the data set
    """

    def fill(rows: list[Row]) -> None:
        if lines := [row.line for row in rows if isinstance(row, Scored)]:
            draw(lines)

    now = lookup.that_asks(spec)
    if now is None and of.dataset.source != "stand-in":
        now = defaults.look(spec, of.content, lambda: given, automatic=True)
        if now.state == "done":
            return lookup.opened(now.id, now.finished, spec.unpack)
        if not now.ended:
            progress.live(now.id, *filling.looks(total, fill, Scored))
            return None
        now = None
    if now is None:
        start.button(label, lambda: start.start(spec, **given), spec.use)
        return None
    if not filling.watch(now, total, fill, spec.use, only=Scored):
        return None
    return lookup.opened(now.id, now.finished, spec.unpack)


def _data(name: str) -> Chosen:
    """Return a sample, after drawing its badge and the offer of the original."""
    of = open_data.find(DataSpec(sample=name), None)
    st.markdown(
        f"{preview.BADGES[of.dataset.source]} :small[:gray[{of.dataset.X.shape[0]} × "
        f"{of.dataset.X.shape[1]}]]"
    )
    standin.offer(of)
    return of


# --- genes ----------------------------------------------------------------------------------------


def _genes() -> None:
    """Draw the application to gene selection."""
    of = _data("leukemia")
    if of.dataset.labels is None:
        st.info(
            "Not offered: this copy of the leukemia table has no diagnoses to compare with.",
            icon=":material/label_off:",
        )
        return
    prepared = choose_one(
        "Every gene as",
        "prepared",
        PREPARED,
        is_labelled=True,
        help="log2 of the intensities between 100 and 16000, centred; or the raw intensities, centred, each "
        "gene with variance 1, as the paper describes its data.",
    )
    labels = np.array([str(label) for label in of.dataset.labels])
    spec = GenesSpec(content=of.content, prepared="standardised" if prepared == "standardised" else "log")
    given = {"X": of.dataset.X, "labels": labels}
    total = 3 * len(spec.counts) + 1
    answer = run(spec, given, "Choose genes and cluster", total, _draw_genes, of)
    if answer is not None:
        _say_genes(answer["rows"])
        _draw_genes(answer["rows"])
        download("Scores, CSV", pd.DataFrame(answer["rows"]), of, "genes")
        export.offer(spec)
    _about(
        "Genes are chosen without looking at the diagnosis: those in the first sparse component, or the "
        "first by CE + SR.",
        f"k-means with as many clusters as diagnoses then groups the patients, from {STARTS} random "
        "starts. The Jaccard score compares its groups with ALL, MLL and AML (mean and standard deviation). "
        "The paper reports a significantly better score for 70 genes. How its table was prepared before it "
        "was standardised is not written there.",
        "Sigg and Buhmann 2008, Section 5.3 and Fig. 4. CE + SR is the SVD-entropy ranking of Varshavsky et "
        "al. 2006.",
    )


def _draw_genes(rows: list[dict[str, Any]]) -> None:
    """Draw the scores of the rows against the number of genes."""
    figures.draw(selections_figure(rows), "use_genes")


def _say_genes(rows: list[dict[str, Any]]) -> None:
    """Draw the sentence whether selected genes score higher than all genes."""
    whole = next(row for row in rows if row["selection"] == "all genes")
    near = min(
        (row for row in rows if row["selection"] == "em, nonnegative"), key=lambda row: abs(row["genes"] - 70)
    )
    error = np.hypot(near["spread"], whole["spread"]) / np.sqrt(STARTS) or np.inf
    gap = near["mean"] - whole["mean"]
    st.markdown(
        f"{near['genes']} genes tell the leukemias apart {'better' if gap > 0 else 'worse'} than all "
        f"{whole['genes']:,}: the score is {near['mean']:.2f} against {whole['mean']:.2f}, a difference of "
        f"{abs(gap) / error:.0f} standard errors."
    )


# --- faces ----------------------------------------------------------------------------------------


def _faces() -> None:
    """Draw the application to face detection."""
    extra, missing = other_pictures()
    of = open_data.find(DataSpec(sample="cbcl"), None)
    missing = [*(["the original faces"] if of.dataset.source != "real" else []), *missing]
    if missing:
        remedy = papers.remedy(papers.missing(("cbcl", "nonfaces", "test faces")))
        st.info(
            f"Not offered: {' and '.join(missing)} not found. To detect faces here, {wording.plain(remedy)}. "
            "Each file is an NPZ with an array X of 361 grey levels a picture. A stand-in would say nothing "
            "about detection.",
            icon=":material/hide_image:",
        )
        return
    _data("cbcl")
    others = hashlib.sha256(b"".join(pictures.tobytes() for pictures in extra.values())).hexdigest()
    spec = DetectionSpec(content=of.content, others=others)
    given = {
        "faces": of.dataset.X,
        "nonfaces": extra[NEEDED[0]],
        "test_faces": extra[NEEDED[1]],
    }
    label, total = f"Find {PARTS} components and detect", 2 * len(spec.methods)
    answer = run(spec, given, label, total, _draw_faces, of)
    if answer is not None:
        _say_faces(answer)
        _draw_faces(answer)
        table = pd.DataFrame(
            [{name: row[name] for name in ("method", "test", "area", "pixels")} for row in answer]
        )
        download("Areas, CSV", table, of, "faces")
        export.offer(spec)
    _about(
        f"Ten components are found in {TRAIN_FACES:,} faces. A linear support vector machine learns from "
        f"the ten numbers that each picture has along them, with {TRAIN_OTHERS:,} pictures of other "
        "things. The larger the area under a curve, the better.",
        f"Components of the sparse methods have {PART_SIZE} pixels each and share none. Those of pca and "
        "nmf use every pixel. The paper reports NSPCA above PCA, NMF and greedy sparse PCA. Which 1000 faces "
        "it took, and how the ten numbers were scaled for the machine, is not written there.",
        "Zass and Shashua 2006, Section 5 and Fig. 4, on the MIT CBCL Face Database #1.",
    )


def other_pictures() -> tuple[dict[str, np.ndarray], list[str]]:
    """Return the further images of face detection by file name, and the names of missing files.

    There are no images if a file is missing.
    """
    folder = originals_folder()
    paths = {name: Path(folder or ".") / name for name in NEEDED}
    missing = [name for name, path in paths.items() if folder is None or not path.is_file()]
    if missing:
        return {}, missing
    return {name: _pictures(str(path), path.stat().st_mtime_ns) for name, path in paths.items()}, []


@cache.keep()
def _pictures(path: str, version: int) -> np.ndarray:
    """Return the images in an NPZ file (m, pixels), cached until its `version` changes."""
    with np.load(path, allow_pickle=False) as file:
        return file["X"].reshape(-1, PIXELS)


def _draw_faces(rows: list[dict[str, Any]]) -> None:
    """Draw the choice of the test set, and the ROC curves of its rows."""
    tested = choose_one("Tested on", "tested", TESTED, is_labelled=True)
    st.caption(
        "Both against the other pictures that the machine has not seen. The number beside a name is the "
        "area under its curve."
    )
    figures.draw(roc_figure([row for row in rows if row["test"] == tested]), "use_faces")


def _say_faces(rows: list[dict[str, Any]]) -> None:
    """Draw the sentence about the components that detect faces best."""
    areas = {row["method"]: row["area"] for row in rows if row["test"] == "rest"}
    best = max(areas, key=areas.__getitem__)
    st.markdown(
        f"Components of {best} find faces best, with an area of {areas[best]:.3f} under the curve; those of "
        f"the 2006 method have {areas['coordinate']:.3f}, plain pca {areas['pca']:.3f}."
    )


# --- pitprops -------------------------------------------------------------------------------------


def _pitprops() -> None:
    """Draw the application to the pitprops table."""
    left, right = st.columns(2)
    k = left.slider(
        "Features in each component", 1, 13, **state.bind("props", min(13, max(1, state.get("props"))))
    )
    counted = choose_one("Variance counted as", "summed", list(COUNTED), place=right, is_labelled=True)
    of = open_data.find(DataSpec(sample="pitprops"), None)

    def draw(rows: list[dict[str, Any]]) -> None:
        _draw_props(rows, counted)

    spec = PitpropsSpec(content=of.content, k=k)
    answer = run(spec, {"A": of.dataset.X}, "Find six components", len(PROPS), draw, of)
    if answer is not None:
        _say_props(answer, counted)
        draw(answer)
        flat = [
            {
                "method": row["method"],
                "components": j + 1,
                "cardinality": row["cardinality"][j],
                **{name: row[name][j] for name in COUNTED},
            }
            for row in answer
            for j in range(len(row["cardinality"]))
        ]
        download("Curves, CSV", pd.DataFrame(flat), of, "pitprops")
        export.offer(spec)
    _about(
        "Six components are found one after another. What a component explains is projected out before the "
        "next (2008, eq. 18).",
        "Left the variance that the first 1 to 6 explain together, right the features that they use, "
        "counted for each component.",
        "Zass and Shashua 2006, Fig. 5. Its curves of SCoTLASS, SPCA, DSPCA and ESPCA are drawn there "
        "without numbers and are not copied here.",
    )


def _say_props(rows: list[dict[str, Any]], counted: str) -> None:
    """Draw the sentence about the variance and the number of features of six sparse components."""
    by = {row["method"]: row for row in rows}
    sparse, pca = by["auto, any sign"], by["pca, every feature"]
    st.markdown(
        f"## Six components of at most {sparse['cardinality'][0]} features explain "
        f"{100 * sparse[counted][-1] / TOTAL:.0f} % of the variance of the pitprops. Six principal "
        f"components, which use every feature, explain {100 * pca[counted][-1] / TOTAL:.0f} %."
    )


def _draw_props(rows: list[dict[str, Any]], counted: str) -> None:
    """Draw variance and number of features of the rows."""
    style = styles([row["method"] for row in rows], ["pca, every feature"])
    left, right = st.columns(2, gap="medium")
    with left:
        curves = {row["method"]: row[counted] for row in rows}
        figure = cumulative_figure(curves, total=TOTAL, style=style, title=f"{COUNTED[counted]}, % of total")
        figures.draw(figure, "use_props")
    with right:
        used = {row["method"]: row["cardinality"] for row in rows}
        figure = cumulative_figure(used, total=None, style=style, title="features used, added up")
        figures.draw(figure, "use_props_size")
