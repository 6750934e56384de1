"""Samples by name. A data set of the papers that is not on this machine gives way to its relative."""

from dataclasses import replace

from nspca.data.catalogue import SAMPLES
from nspca.data.dataset import Dataset
from nspca.data.docstrings import kept_counts, load_python_docs
from nspca.data.findings import as_findings
from nspca.data.folders import sample_folder
from nspca.data.names import numbered, pixel_names, short
from nspca.data.originals import find_original
from nspca.data.packaged import load_packaged
from nspca.data.reading import read
from nspca.errors import InvalidData, shown
from nspca.progress import Report, silent


def load_sample(name: str, *, relative_ok: bool = True, report: Report | None = None) -> Dataset:
    """Return a sample by name; nothing is downloaded.

    Parameters
    ----------
    name : str
        A name of `SAMPLES`. The four data sets of the papers come from the folder in ``NSPCA_DATA``, then
        from the user's cache. Otherwise a smaller real data set of the same kind is returned, their relative.
    relative_ok : bool
        Whether a relative may be returned.
    report : callable, optional

    Returns
    -------
    Dataset
        Its `source` is "real", "copy" or "relative"; a relative has its own name, and a note about the
        original.

    Raises
    ------
    InvalidData
        For an unknown name, and for an absent data set of the papers unless `relative_ok`.
    MissingPackage
        For a sample from a package that is not installed.
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
    sample = SAMPLES[name]
    if sample.package:
        return load_packaged(name)
    found = find_original(name)
    if found is not None:
        return found
    if not relative_ok:
        raise InvalidData(
            f"{sample.title} is not on this machine: fetch it or give a local copy. {sample.how}."
        )
    relative = load_packaged(sample.relative)
    note = f"Shown in the place of {sample.title}, which is not on this machine."
    return replace(relative, source="relative", findings=(*as_findings((note,)), *relative.findings))


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
