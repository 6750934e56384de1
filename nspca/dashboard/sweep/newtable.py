"""Score the samples of another table along the shown component, with features matched by name."""

import numpy as np
import pandas as pd
import scipy.sparse as sp
import streamlit as st

from nspca.covariance.moments import moments
from nspca.dashboard import open_folder
from nspca.dashboard.app import buttons, state, tables, wording
from nspca.dashboard.data.picker import FORMATS
from nspca.dashboard.open_data import Chosen, read_like
from nspca.dashboard.runs.answer import Answer
from nspca.data import PREPARATIONS, Dataset, prepare
from nspca.data.export import frame_to_csv
from nspca.data.names import Numbered
from nspca.errors import NSPCAError
from nspca.specs.data import title_of
from nspca.validation.features import positions

MOST = 50  # MB of an uploaded file, which stays in memory while the page is open


def show(answer: Answer) -> None:
    """Draw the folded part of the page that scores an uploaded table along the shown component."""
    of = answer.of
    with st.expander("Where do other samples lie?", icon=":material/scatter_plot:", type="compact"):
        if why := _not_offered(of):
            st.caption(why)
            return
        label = (
            "Another table with the same features: each of its samples gets its score along this component. "
            "Nothing leaves the machine that runs nspca."
        )
        given = st.file_uploader(label, key=f"{state.UPLOADER}_scores", max_upload_size=MOST, help=FORMATS)
        if given is not None:
            _score(answer, read_like(given.getvalue(), title_of(given.name), of.reference).data)


def _not_offered(of: Chosen) -> str:
    steps = [PREPARATIONS[name].title for name in of.dataset.prepared if name != state.LOG2]
    if of.dataset.is_covariance or steps:
        why = "is a covariance matrix" if of.dataset.is_covariance else f"was prepared ({', '.join(steps)})"
        return f"This data set {wording.plain(why)}, which other samples cannot be."
    if of.reference.together:
        return "Some features are taken as one here, which another table does not have."
    return "" if of.table is None else open_folder.ALL_ROWS


def _score(answer: Answer, other: Dataset | NSPCAError) -> None:
    try:
        if isinstance(other, NSPCAError):
            raise other.with_traceback(None)
        said, found = scored(answer.of.dataset, other, answer.x, answer.asked.center, answer.asked.scale)
    except NSPCAError as error:
        st.error(wording.plain(error, "leave out such rows or columns of the file"), icon=":material/error:")
        return
    st.markdown(said)
    tables.show(found, height=240)
    name = f"{answer.of.stem}-k{answer.k}-scores.csv"
    buttons.download("Scores, CSV", lambda: frame_to_csv(found), name, key="download_scores")


def scored(
    data: Dataset, other: Dataset, x: np.ndarray, center: bool, scale: bool
) -> tuple[str, pd.DataFrame]:
    """Return a sentence and the scores of the samples of `other` along x (n,), a component of `data`.

    With `center` the means of `data` are subtracted. With `scale` the standard deviations of `data` divide.
    """
    other = prepare(other, *data.prepared)
    used = np.flatnonzero(x)
    names = other.feature_names
    unnamed = isinstance(names, Numbered) and len(names) == len(x) and names != data.feature_names
    at = used if unnamed else positions([data.feature_names[int(j)] for j in used], names)
    mean, deviation = moments(data.X[:, used])
    Z = other.X[:, at]
    Z = (Z.toarray() if sp.issparse(Z) else Z) - (mean if center else 0.0)
    scores = Z / (deviation if scale else 1.0) @ x[used]
    table = pd.DataFrame({"sample": list(other.sample_names), "score": scores})
    how = "taken in their order, as the file has no names" if unnamed else "matched by name"
    said = (
        f"**{wording.things(len(table), 'sample')} scored**, features {how}; "
        f"{wording.things(len(names) - len(used), 'feature')} of the file not used by this component."
    )
    return said, table
