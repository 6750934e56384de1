"""The section "Is it the only one?" of Sweep."""

import numpy as np

import nspca
from nspca.dashboard.proof import alone


def test_the_table_says_what_each_set_exchanges():
    data = nspca.load_sample("pitprops")
    problem = nspca.Problem.from_covariance(data.X, 8, nonneg=False)
    known = nspca.answers(problem, nspca.solve(problem), 0.01)
    table, names = alone.table(data, known), np.array(data.feature_names)
    assert list(table["set"]) == [1, 2, 3, 4] and table["explains"][0] == "best"
    for number, row in enumerate(table.itertuples(index=False)):
        out, into, _ = known.exchanges(number)
        assert row.without == ", ".join(names[out]) and row.instead == ", ".join(names[into])
    assert table["explains"][1].startswith("−0.4")
