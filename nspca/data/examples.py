"""Example files to try: a table of measurements, and genes in rows with a table about the samples.

The page Data offers them as if they were uploads.
"""

from dataclasses import dataclass

import pandas as pd

from nspca.data.catalogue import SAMPLES
from nspca.data.samples import load_sample

EXAMPLES = ("wine", "genes")


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
