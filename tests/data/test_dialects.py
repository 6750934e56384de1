"""A known table in random dialects: it comes back, or a finding names what differs."""

import numpy as np
import pytest

from nspca.data import read
from nspca.errors import InvalidData
from tests.data.dialects import Written, write

FEW, MANY = 200, 2000


def difference(table: Written) -> str:
    """Return what reading lost without saying so; empty for a table that came back."""
    try:
        data = read(table.raw)
    except InvalidData as error:
        signs = [way.value for way in error.ways if way.option == "decimal"]
        if not signs:
            return f"refused: {error}"
        data = read(table.raw, decimal=signs[0])  # 3,781 may be either: the refusal offers the right one
    m, n = table.X.shape
    X, features, samples = data.X, list(data.feature_names), list(data.sample_names)
    told = [one for one in data.findings if one.ways]
    if len(X) > m and any(one.option == "header" and one.is_suspicion for one in told):
        return ""  # the header is a sample, which is said to be suspected
    if len(X) == m + 1 and table.total:
        if not any(one.option == "drop_rows" for one in told):
            return "the total is a sample"
        X, samples = X[:-1], samples[:-1]
    if len(X) == m - 1 and any(one.option == "header" for one in told):
        return ""  # a first row that rises by chance is said to be taken as names
    if X.shape[1] == n + 1 and any(one.option == "id_column" for one in told):
        return ""
    if X.shape != (m, n):
        return f"{X.shape} in place of {(m, n)}"
    if not np.array_equal(X, table.X):
        return "other numbers"
    if table.features is not None and features != table.features:
        return f"features {features}"
    if table.samples is not None and samples != table.samples:
        return f"samples {samples}"
    return ""


def check(seeds: range) -> None:
    lost = {}
    for seed in seeds:
        table = write(seed)
        if found := difference(table):
            lost[seed] = (found, table.about)
    assert not lost, f"{len(lost)} of {len(seeds)}, such as {[*lost.items()][:4]}"


def test_a_table_comes_back_from_random_dialects_or_a_finding_names_what_differs():
    check(range(FEW))


@pytest.mark.long
def test_a_table_comes_back_from_many_dialects():
    check(range(MANY))
