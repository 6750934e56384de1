"""An example file to try: a measured table with names and classes in words, as a user would upload it."""

import pandas as pd

EXAMPLE = "wine.csv"
ABOUT = (
    "178 Italian wines, 13 chemical measurements each, three cultivars (UCI Wine, CC BY 4.0; ships "
    "with scikit-learn)"
)


def example_file() -> tuple[str, bytes, str]:
    """Return name, content and a description of a CSV with sample names and a column that may be the
    labels.
    """
    # Imported when it is needed: the start of every page is faster without.
    from sklearn.datasets import load_wine

    wine = load_wine()
    names = [str(name).replace("od280/od315_of_diluted_wines", "od280_od315") for name in wine.feature_names]
    table = pd.DataFrame(wine.data, columns=names)
    table.insert(0, "cultivar", [f"cultivar {number + 1}" for number in wine.target])
    table.insert(0, "wine", [f"wine {number + 1}" for number in range(len(table))])
    return EXAMPLE, table.to_csv(index=False).encode(), ABOUT
