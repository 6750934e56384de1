"""Samples by name: of this package, of scikit-learn, and from data files of the packages of ``[samples]``.

None of those packages is imported. A data set of the papers that is not on this machine gives way to its
relative. `LOADERS` has a function for each sample.
"""

import csv
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp

from nspca.data.catalogue import SAMPLES, find_sample, sample_folder
from nspca.data.counting import stop_words
from nspca.data.dataset import Dataset
from nspca.data.findings import as_findings
from nspca.data.formats.npz import read_npz
from nspca.data.names import numbered, pixel_names, unique_names
from nspca.data.options import MOST_WORDS
from nspca.data.originals import find_original
from nspca.data.reading import read
from nspca.errors import InvalidData, MissingPackage

SIDE = 19
"""Pixels per side of a face, as in the CBCL faces."""
_SCAN = (112, 92)
_TOP = 12
"""Rows of a scan above the square that is kept, mostly hair."""
_FEWEST, _MOST = 5, 0.5
"""Number and share of the addresses between which a word is kept: "government" is in nearly all of them."""
_WORD = re.compile(r"[a-z]{3,24}")
_SHORTENED = re.compile(r"['’]\w+|\[[^]\n]{1,40}\]")
"""Ends of genitives and of contractions such as "we've", and remarks such as "[Laughter]"."""
_CUT = {"don", "won", "isn", "doesn", "didn", "wasn", "hasn"}
"""Pieces of contractions that are no stop words by themselves."""
_NEIGHBOURS = 5
"""Neighbouring bands of the spectra that become one: they are nearly equal, and pages are quicker."""
_LONGEST = 40
"""Characters of a gene's description in its name."""
EXAMPLES = ("wine", "genes")
"""Example files that the page Data offers as if they were uploads."""


def load_sample(name: str, *, relative_ok: bool = True) -> Dataset:
    """Return a sample by name; nothing is downloaded.

    Parameters
    ----------
    name : str
        A name of `SAMPLES`. The four data sets of the papers come from the folder in ``NSPCA_DATA``, then
        from the user's cache. Otherwise a smaller real data set of the same kind is returned, their relative.
    relative_ok : bool
        Whether a relative may be returned.

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
    sample = find_sample(name)
    if name in LOADERS:
        data = LOADERS[name](_folder(sample.package, sample.title) if sample.package else sample_folder())
        return replace(data, name=name, source="real", kind=sample.kind, provenance=sample.provenance)
    if (found := find_original(name)) is not None:
        return found
    if not relative_ok:
        raise InvalidData(
            f"{sample.title} is not on this machine: fetch it or give a local copy. {sample.how}."
        )
    relative = load_sample(sample.relative)
    note = f"Shown in the place of {sample.title}, which is not on this machine."
    return replace(relative, source="relative", findings=(*as_findings((note,)), *relative.findings))


def _folder(package: str, title: str) -> Path:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingPackage(
            f"the sample {title} must have the packages of the samples, got no {package}: "
            "pip install 'nspca[samples]'"
        )
    return Path(spec.submodule_search_locations[0])


def _digits(folder: Path) -> Dataset:
    from sklearn.datasets import load_digits  # imported late, since scikit-learn slows the start of a page

    digits = load_digits()
    names = numbered("digit", len(digits.data))
    return Dataset("", digits.data, pixel_names((8, 8)), names, digits.target, image_shape=(8, 8))


def _pitprops(folder: Path) -> Dataset:
    said = as_findings(("The table is the correlation matrix itself, rounded to three digits.",))
    table = read(folder / "pitprops.csv", id_column=0)
    return replace(table, is_covariance=True, findings=said)


def _documentation(folder: Path) -> Dataset:
    """Return the words of the docstrings of Python's standard library, which were counted once."""
    data = read_npz((folder / "python-docs.npz").read_bytes(), "python-docs")
    said = (
        "Each module, class or function with at least 5 counted words is a text; without English stop words "
        "and words in fewer than 5 texts."
    )
    return replace(data, findings=as_findings((said,)))


def _faces(folder: Path) -> Dataset:
    """Return the middle squares of the scans, averaged over the area of each new pixel."""
    numbers = [(i, j) for i in range(1, 41) for j in range(1, 11)]
    paths = [folder / "datasets" / "ORL_faces" / f"s{i}" / f"{j}.pgm" for i, j in numbers]
    height, width = _SCAN
    raw = np.stack([np.frombuffer(path.read_bytes()[-height * width :], np.uint8) for path in paths])
    scans = raw.reshape(-1, height, width)[:, _TOP : _TOP + width].astype(np.float64)
    edges, old = np.linspace(0, width, SIDE + 1), np.arange(width)
    overlap = np.minimum.outer(edges[1:], old + 1) - np.maximum.outer(edges[:-1], old)
    mean = np.maximum(overlap, 0) / (width / SIDE)
    small = np.rint(mean @ scans @ mean.T).astype(np.uint8).reshape(len(paths), -1)
    names = tuple(f"person {i}, picture {j}" for i, j in numbers)
    said = as_findings((f"Each scan of {width} x {height} pixels is cut to its middle square and averaged.",))
    persons = {"person": np.array([f"person {i}" for i, _ in numbers])}
    return Dataset(
        "",
        small,
        pixel_names((SIDE, SIDE)),
        names,
        label_columns=persons,
        image_shape=(SIDE, SIDE),
        findings=said,
    )


def _leukemias(folder: Path) -> Dataset:
    """Return the logarithms of the levels, with the kinds of leukemia as groups."""
    place = folder / "datasets" / "ALL_AML"
    levels = np.loadtxt(place / "ALL_AML_data.txt")
    with (place / "ALL_AML_genes.txt").open(encoding="utf-8", newline="") as file:
        genes = list(csv.DictReader(file, delimiter="\t"))
    samples = re.findall(r"A[LM]L_\S+", (place / "ALL_AML_samples.txt").read_text(encoding="utf-8"))
    kinds = [name.split("_")[0] + (f" ({name.split('_')[2]})" if "cell" in name else "") for name in samples]
    called, _ = unique_names([_called(gene["Name"], gene["Description"]) for gene in genes], "gene")
    said = "The levels are given as their logarithm to base 2; those below 20 were set to 20."
    data = Dataset("", np.round(np.log2(levels.T), 4), called, tuple(samples), findings=as_findings((said,)))
    groups = {"leukemia": np.array(kinds), "AML or ALL": np.array([kind[:3] for kind in kinds])}
    return _grouped(data, groups)


def _grouped(data: Dataset, groups: dict[str, np.ndarray]) -> Dataset:
    """Return a data set with columns of groups, the first of which are its labels."""
    name, labels = next(iter(groups.items()))
    return replace(data, labels=labels, label_name=name, label_columns=groups)


def _called(probe: str, description: str) -> str:
    """Return the beginning of a gene's description, and its probe set: ``LYZ Lysozyme (M21119_s_at)``."""
    said = re.split(r" \(|,|;", " ".join(description.split()))[0]
    cut = said if len(said) <= _LONGEST else said[:_LONGEST].rsplit(" ", 1)[0]
    return probe if not cut or probe in cut else f"{cut} ({probe})"


def _coffees(folder: Path) -> Dataset:
    """Return the spectra in means of neighbouring bands, with the countries as groups."""
    place = folder / "datasets" / "data"
    fine = np.loadtxt(place / "coffee_spectra.csv", delimiter=",", skiprows=1)
    whole = fine.shape[1] // _NEIGHBOURS * _NEIGHBOURS
    spectra = fine[:, :whole].reshape(len(fine), -1, _NEIGHBOURS).mean(axis=2)
    countries = np.array((place / "coffee_labels.csv").read_text(encoding="utf-8").split()[1:])
    numbers = pd.Series(countries).groupby(countries).cumcount() + 1
    names = tuple(f"{country} {number}" for country, number in zip(countries, numbers, strict=True))
    said = (
        f"Each band is the mean of {_NEIGHBOURS} neighbouring ones of {fine.shape[1]:,}. The file does not "
        "say their wavenumbers; they are numbered in its order."
    )
    data = Dataset("", spectra, numbered("band", spectra.shape[1]), names, findings=as_findings((said,)))
    axis = np.arange(1.0, spectra.shape[1] + 1)
    return _grouped(replace(data, axis=axis, axis_name="band (number)"), {"country": countries})


def _addresses(folder: Path) -> Dataset:
    """Return the counts of words, with parties, presidents and half-centuries as groups."""
    from sklearn.feature_extraction import DictVectorizer  # imported late, like the digits

    with (folder / "data" / "metadata.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    stop = stop_words("english") | _CUT
    counts = []
    for row in rows:
        text = (folder / "data" / "speeches" / f"{row['fileid']}.txt").read_text(encoding="utf-8")
        counted = Counter(_WORD.findall(_SHORTENED.sub(" ", text.lower())))
        counts.append(Counter({word: count for word, count in counted.items() if word not in stop}))
    names, _ = unique_names([f"{row['president']} {row['year']}" for row in rows], "address")
    vectorizer = DictVectorizer()  # words in alphabetical order
    X = sp.csr_array(vectorizer.fit_transform(counts))
    frequency = np.bincount(X.indices, minlength=X.shape[1])
    usable = (frequency >= _FEWEST) & (frequency <= _MOST * len(counts))
    kept = np.argsort(-frequency, kind="stable")
    kept = np.sort(kept[usable[kept]][:MOST_WORDS])
    words = tuple(vectorizer.get_feature_names_out()[kept].tolist())
    columns = {
        "party": np.array([row["party"] for row in rows]),
        "president": np.array([row["president_full"] for row in rows]),
        "half-century": np.array([f"{50 * (int(row['year']) // 50)}–" for row in rows]),
    }
    said = (
        f"Words in at least {_FEWEST} addresses and at most {_MOST:.0%} of them, without English stop words: "
        f"{len(words):,}."
    )
    data = Dataset("", X[:, kept], words, names, kind="words", findings=as_findings((said,)))
    return _grouped(data, columns)


LOADERS: dict[str, Callable[[Path], Dataset]] = {
    "digits": _digits,
    "pitprops": _pitprops,
    "python-docs": _documentation,
    "orl-faces": _faces,
    "all-aml": _leukemias,
    "coffee": _coffees,
    "state-of-the-union": _addresses,
}
"""Samples by name. A loader gets the folder of the sample's package, or that of the small samples."""


@dataclass(frozen=True)
class Example:
    """An example file to open instead of an upload; `annotation` is a table about its samples."""

    file: str
    content: bytes
    about: str
    annotation: bytes | None = None
    features_in_rows: bool = False


def example_file(name: str = "wine") -> Example:
    """Return the example file called `name`, one of `EXAMPLES`; "genes" needs ``nspca[samples]``."""
    return _wine() if name == "wine" else _genes()


def _wine() -> Example:
    from sklearn.datasets import load_wine  # imported late, since scikit-learn slows the start of a page

    wine = load_wine()
    names = [str(name).replace("od280/od315_of_diluted_wines", "od280_od315") for name in wine.feature_names]
    table = pd.DataFrame(wine.data, columns=names)
    table.insert(0, "cultivar", [f"cultivar {number + 1}" for number in wine.target])
    table.insert(0, "wine", [f"wine {number + 1}" for number in range(len(table))])
    about = (
        "178 Italian wines, 13 chemical measurements each, three cultivars (UCI Wine, CC BY 4.0; ships with "
        "scikit-learn)"
    )
    return Example("wine.csv", table.to_csv(index=False).encode(), about)


def _genes() -> Example:
    data, sample = load_sample("all-aml"), SAMPLES["all-aml"]
    genes = pd.DataFrame(data.X.T, index=pd.Index(data.feature_names, name="gene"), columns=data.sample_names)
    kinds = pd.DataFrame({"sample": data.sample_names, **data.label_columns})
    return Example(
        "leukemias.csv",
        genes.to_csv().encode(),
        f"5,000 genes in rows, 38 leukemias, and a second table with their kinds ({sample.licence})",
        kinds.to_csv(index=False).encode(),
        features_in_rows=True,
    )
