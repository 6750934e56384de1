"""Samples by name: the real data set where it is on this machine, otherwise a small stand-in."""

from dataclasses import replace

from nspca.data.catalogue import SAMPLES
from nspca.data.dataset import Dataset
from nspca.data.docstrings import kept_counts, load_python_docs
from nspca.data.findings import as_findings
from nspca.data.folders import sample_folder
from nspca.data.lrs import BAND_NAMES, WAVELENGTH_UM
from nspca.data.names import numbered, pixel_names, short
from nspca.data.originals import find_original
from nspca.data.reading import read
from nspca.errors import InvalidData, shown
from nspca.progress import Report, silent

_STAND_INS = {
    "cbcl": "faces.npz",
    "leukemia": "expression.npz",
    "lrs": "spectra.npz",
    "bow-kos": "docword.topics.txt.gz",
}


def load_sample(name: str, *, stand_in_ok: bool = True, report: Report | None = None) -> Dataset:
    """Return a sample by name; nothing is downloaded.

    Parameters
    ----------
    name : str
        A name of `SAMPLES`. The four data sets of the papers come from the folder in ``NSPCA_DATA``, then
        from the user's cache, then as a small made-up stand-in.
    stand_in_ok : bool
        Whether a stand-in may be returned.
    report : callable, optional

    Returns
    -------
    Dataset
        Its `source` is "real", "copy" or "stand-in"; the name of a stand-in ends in "(stand-in)".

    Raises
    ------
    InvalidData
        For an unknown name, and when only a stand-in exists but `stand_in_ok` is False.
    """
    if not isinstance(name, str) or name not in SAMPLES:
        got = f'"{short(name)}"' if isinstance(name, str) else shown(name)
        raise InvalidData(f"There is no sample {got}: the samples are {', '.join(SAMPLES)}.")
    if name == "digits":
        return _digits()
    if name == "pitprops":
        return _pitprops()
    if name == "python-docs":
        return load_python_docs(report or silent)
    found = find_original(name)
    if found is not None:
        return found
    if not stand_in_ok:
        raise InvalidData(
            f"{SAMPLES[name].title} is not on this machine: fetch it or give a local copy. "
            f"{SAMPLES[name].how}."
        )
    return _stand_in(name)


def is_at_hand(name: str) -> bool:
    """Tell whether a sample opens at once; "python-docs" does after its words were counted once."""
    return name != "python-docs" or kept_counts().is_file()


def _digits() -> Dataset:
    """Return the images of handwritten digits that ship with scikit-learn, with the digits as labels."""
    from sklearn.datasets import load_digits  # imported late, since scikit-learn slows the start of a page

    digits = load_digits()
    sample = SAMPLES["digits"]
    return Dataset(
        name="digits",
        X=digits.data,
        feature_names=pixel_names((8, 8)),
        sample_names=numbered("digit", len(digits.data)),
        labels=digits.target,
        image_shape=(8, 8),
        source="real",
        kind="image",
        provenance=f"{sample.title}: {sample.summary}; {sample.licence}",
    )


def _pitprops() -> Dataset:
    """Return the correlation matrix of the pitprops, from a file of the package."""
    table = read(sample_folder() / "pitprops.csv", id_column=0)
    sample = SAMPLES["pitprops"]
    return replace(
        table,
        name="pitprops",
        source="real",
        is_covariance=True,
        provenance=f"{sample.title}: {sample.summary}; {sample.licence}",
        findings=as_findings(("The table is the correlation matrix itself, rounded to three digits.",)),
    )


def _stand_in(name: str) -> Dataset:
    """Return the small made-up table that replaces a data set of the papers."""
    data = read(sample_folder() / _STAND_INS[name])
    sample = SAMPLES[name]
    return replace(
        data,
        name=f"{name} (stand-in)",
        feature_names=BAND_NAMES if name == "lrs" else data.feature_names,
        source="stand-in",
        kind=sample.kind,
        axis=WAVELENGTH_UM if name == "lrs" else None,
        axis_name="wavelength (µm)" if name == "lrs" else "",
        provenance=f"Stand-in for {sample.title}: made up by sample_data/make_stand_ins.py, not measured; "
        "CC0",
        findings=as_findings((f"This is not {sample.title}: it is made up, small, and only looks like it.",)),
    )
