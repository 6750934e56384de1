"""What the papers use the methods for: choosing genes, finding faces, the pitprops table. Each on its own
button.
"""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from nspca.dashboard import open_data
from nspca.dashboard.app import cache, state
from nspca.dashboard.components import figures
from nspca.dashboard.data import preview, standin
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import export, lookup, start
from nspca.dashboard.views import filling
from nspca.dashboard.views.filling import download
from nspca.data.folders import originals_folder
from nspca.plots.compare import cumulative_curves_figure, roc_figure, selections_figure, styles
from nspca.specs import DataSpec, DetectionSpec, GenesSpec, PitpropsSpec, Spec
from nspca.specs.rows import Scored
from nspca.specs.uses import (
    NEEDED,
    PART_SIZE,
    PARTS,
    PIXELS,
    PROPS,
    STARTS,
    TRAIN_FACES,
    TRAIN_OTHERS,
)

USES = {"genes": "Choosing genes", "faces": "Finding faces", "pitprops": "Pitprops"}
PREPARED = {"log": "log2 intensities", "standardised": "standardised"}
TESTED = {"rest": "the rest of the training set", "test set": "the test set's faces"}
COUNTED = {"adjusted": "adjusted variance", "total": "total variance", "subspace": "variance of the subspace"}


def show() -> None:
    """One use at a time."""
    use = state.get("use") if state.get("use") in USES else "genes"
    use = st.segmented_control(
        "Use",
        list(USES),
        format_func=USES.get,
        required=True,
        label_visibility="collapsed",
        **state.bind("use", use),
    )
    {"genes": _genes, "faces": _faces, "pitprops": _pitprops}[use]()


def _about(what: str, measured: str, source: str) -> None:
    """What a figure shows, how it is measured, and where it is from."""
    st.markdown(f"{what}  \n{measured}  \n:small[:gray[{source}]]")


def _run(spec: Spec, given: dict, label: str, total: int, draw, key: str) -> dict | list | None:
    """A button, or its run; what the run returned when it is done."""
    now = lookup.that_asks(spec)
    if now is None:
        start.button(label, lambda: start.start(spec, **given), key)
        return None
    done = filling.watch(now, total, lambda rows: draw([row.line for row in rows]), key, only=Scored)
    if not done:
        return None
    export.offer(spec)
    return lookup.opened(now.id, now.finished, spec.unpack)


def _data(name: str) -> Chosen:
    of = open_data.find(DataSpec(sample=name), None)
    st.markdown(
        f"{preview.BADGES[of.dataset.source]} :small[:gray[{of.dataset.X.shape[0]} × "
        f"{of.dataset.X.shape[1]}]]"
    )
    standin.offer(of)
    return of


# --- genes ----------------------------------------------------------------------------------------


def _genes() -> None:
    st.subheader("Which genes tell the leukemias apart?")
    _about(
        "Genes are chosen without looking at the diagnosis: those in the first sparse component, or the "
        "first by CE + SR.",
        f"k-means with as many clusters as diagnoses then groups the patients, from {STARTS} random "
        "starts; the Jaccard score compares its groups with ALL, MLL and AML (mean and standard deviation).",
        "Sigg and Buhmann 2008, Section 5.3 and Fig. 4; CE + SR is the SVD-entropy ranking of Varshavsky et "
        "al. 2006.",
    )
    of = _data("leukemia")
    if of.dataset.labels is None:
        st.info(
            "Not offered: this copy of the leukemia table has no diagnoses to compare with.",
            icon=":material/label_off:",
        )
        return
    prepared = state.get("prepared") if state.get("prepared") in PREPARED else "log"
    st.segmented_control(
        "Every gene as",
        list(PREPARED),
        format_func=PREPARED.get,
        required=True,
        help="log2 of the intensities between 100 and 16000, centred; or the raw intensities, centred, each "
        "gene with variance 1, as the paper describes its data.",
        **state.bind("prepared", prepared),
    )
    labels = np.array([str(label) for label in of.dataset.labels])
    spec = GenesSpec(content=of.content, prepared=prepared)
    given = {"X": of.dataset.X, "labels": labels}
    total = 3 * len(spec.counts) + 1
    answer = _run(spec, given, "Choose genes and cluster", total, _draw_genes, "genes")
    if answer is not None:
        _draw_genes(answer["rows"])
        _say_genes(answer["rows"])
        download("Scores, CSV", pd.DataFrame(answer["rows"]), of, "genes")


def _draw_genes(rows: list[dict]) -> None:
    figures.draw(selections_figure(rows), "use_genes")


def _say_genes(rows: list[dict]) -> None:
    """What came out, whatever it is."""
    whole = next(row for row in rows if row["selection"] == "all genes")
    near = min(
        (row for row in rows if row["selection"] == "em, nonnegative"), key=lambda row: abs(row["genes"] - 70)
    )
    error = np.hypot(near["spread"], whole["spread"]) / np.sqrt(STARTS) or np.inf
    gap = near["mean"] - whole["mean"]
    st.markdown(
        f"{near['genes']} genes of the nonnegative component score {near['mean']:.2f} ± "
        f"{near['spread']:.2f}, all {whole['genes']:,} genes {whole['mean']:.2f} ± {whole['spread']:.2f}: "
        f"{'more' if gap > 0 else 'less'} by {abs(gap):.2f}, which is {abs(gap) / error:.0f} standard "
        "errors of the means. The paper reports a significantly better score for 70 genes; how its table "
        "was prepared before it was standardised is not written there."
    )


# --- faces ----------------------------------------------------------------------------------------


def _faces() -> None:
    st.subheader("Is there a face in the picture?")
    _about(
        f"Ten components are found in {TRAIN_FACES:,} faces; a linear support vector machine learns from "
        f"the ten numbers that each picture has along them, with {TRAIN_OTHERS:,} pictures of other "
        "things. The larger the area under a curve, the better.",
        f"Components of the sparse methods have {PART_SIZE} pixels each and share none; those of pca and "
        "nmf use every pixel.",
        "Zass and Shashua 2006, Section 5 and Fig. 4, on the MIT CBCL Face Database #1.",
    )
    extra, missing = other_pictures()
    of = open_data.find(DataSpec(sample="cbcl"), None)
    missing = [*(["the original faces"] if of.dataset.source != "real" else []), *missing]
    if missing:
        st.info(
            f"Not offered: {' and '.join(missing)} not found. A made-up stand-in would say nothing about "
            "detection; put the files (arrays X of 361 grey levels a picture) into the folder that "
            "NSPCA_DATA names, and open this page again.",
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
    answer = _run(spec, given, label, total, _draw_faces, "faces")
    if answer is not None:
        _draw_faces(answer)
        _say_faces(answer)
        table = pd.DataFrame(
            [{name: row[name] for name in ("method", "test", "area", "pixels")} for row in answer]
        )
        download("Areas, CSV", table, of, "faces")


def other_pictures() -> tuple[dict[str, np.ndarray], list[str]]:
    """The pictures beside the training faces, and the files that are not there."""
    folder = originals_folder()
    paths = {name: Path(folder or ".") / name for name in NEEDED}
    missing = [name for name, path in paths.items() if folder is None or not path.is_file()]
    return (
        {}
        if missing
        else {name: _pictures(str(path), path.stat().st_mtime_ns) for name, path in paths.items()}
    ), missing


@cache.keep()
def _pictures(path: str, version: int) -> np.ndarray:
    with np.load(path, allow_pickle=False) as file:
        return file["X"].reshape(-1, PIXELS)


def _draw_faces(rows: list[dict]) -> None:
    tested = state.get("tested") if state.get("tested") in TESTED else "rest"
    st.segmented_control(
        "Tested on", list(TESTED), format_func=TESTED.get, required=True, **state.bind("tested", tested)
    )
    st.caption(
        "Both against the other pictures that the machine has not seen. The number beside a name is the "
        "area under its curve."
    )
    figures.draw(roc_figure([row for row in rows if row["test"] == tested]), "use_faces")


def _say_faces(rows: list[dict]) -> None:
    areas = {row["method"]: row["area"] for row in rows if row["test"] == "rest"}
    best = max(areas, key=areas.get)
    st.markdown(
        f"On the rest of the training set {best} has the largest area, {areas[best]:.3f}; the 2006 method "
        f"(coordinate, part by part) {areas['coordinate']:.3f}, plain pca {areas['pca']:.3f}. The paper "
        "reports NSPCA above PCA, NMF and greedy sparse PCA; which 1000 faces it took, and how the ten "
        "numbers were scaled for the machine, is not written there."
    )


# --- pitprops -------------------------------------------------------------------------------------


def _pitprops() -> None:
    st.subheader("Pitprops: six components, how much variance, how many features?")
    _about(
        "Six components are found one after another; what a component explains is projected out before the "
        "next (2008, eq. 18).",
        "Left the variance that the first 1 to 6 explain together, right the features that they use, "
        "counted for each component.",
        "Zass and Shashua 2006, Fig. 5. Its curves of SCoTLASS, SPCA, DSPCA and ESPCA are drawn there "
        "without numbers: they are not copied here, only ours are shown.",
    )
    left, right = st.columns(2)
    k = left.slider(
        "Features in each component", 1, 13, **state.bind("props", min(13, max(1, state.get("props"))))
    )
    counted = state.get("summed") if state.get("summed") in COUNTED else "adjusted"
    right.segmented_control(
        "Variance counted as", list(COUNTED), required=True, **state.bind("summed", counted)
    )
    of = open_data.find(DataSpec(sample="pitprops"), None)
    draw = lambda rows: _draw_props(rows, counted)  # noqa: E731
    answer = _run(
        PitpropsSpec(content=of.content, k=k),
        {"A": of.dataset.X},
        "Find six components",
        len(PROPS),
        draw,
        "pitprops",
    )
    if answer is not None:
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


def _draw_props(rows: list[dict], counted: str) -> None:
    style = styles([row["method"] for row in rows], ["pca, every feature"])
    left, right = st.columns(2, gap="medium")
    with left:
        curves = {row["method"]: row[counted] for row in rows}
        figure = cumulative_curves_figure(
            curves, total=13.0, style=style, title=f"{COUNTED[counted]}, % of total"
        )
        figures.draw(figure, "use_props")
    with right:
        used = {row["method"]: row["cardinality"] for row in rows}
        figure = cumulative_curves_figure(used, total=None, style=style, title="features used, added up")
        figures.draw(figure, "use_props_size")
