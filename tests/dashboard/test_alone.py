"""The section "Is it the only one?" of Sweep."""

import numpy as np
import pytest

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


@pytest.mark.visit
def test_the_margin_and_the_list(visit, ended, finish, texts):
    page = visit("pages/sweep.py", sample="pitprops", from_=8, to=8, step=1, nonneg=0)
    page.button(key="run").click().run()
    page = finish(page)
    page.button(key="alone0").click().run()
    page = ended(page)
    assert not page.error and not page.exception
    assert "every other set of at most 8 features explains at least" in texts(page)
    page.segmented_control(key="alone_within").set_value(1000).run()
    page.button(key="alone1000").click().run()
    page = ended(page)
    assert not page.error and not page.exception
    assert "contains one of these" in texts(page) and len(page.dataframe) >= 1
