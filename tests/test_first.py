"""The parts of `python -m benchmarks.first`: its table, where it is stored, and the table that it uploads."""

import io

import pandas as pd

import nspca
from benchmarks import first


def test_a_row_leaves_out_what_is_unknown():
    assert first.Row("home", 1.26, 2.0, 2.51, 1.94).markdown == "| home | 2 | 1.3 | 2.5 | 1.9 |"
    assert first.Row("clone", 41.0).markdown == "| clone |  | 41.0 |  |  |"


def test_the_table_takes_the_place_of_the_one_before_it():
    page = first.PAGE.read_text("utf-8")
    once = first.stored(page, f"{first.HEAD}\n{first.Row('home', 1.26, 2.0).markdown}")
    assert "| home | 2 | 1.3 |  |  |" in once
    again = first.stored(once, "another")
    assert "| home | 2 |" not in again and again == first.stored(page, "another")
    assert again.partition(first.BEGIN)[0] == page.partition(first.BEGIN)[0]
    assert again.partition(first.END)[2] == page.partition(first.END)[2]


def test_the_uploaded_table_has_a_group_that_varies_together():
    table = pd.read_csv(io.BytesIO(first.table(0)))
    assert table.shape == (first.SAMPLES, first.FEATURES)
    result = nspca.solve(nspca.Problem.from_data(table.to_numpy(), k=first.GROUP))
    assert set(result.components[:, 0].nonzero()[0]) == set(range(first.GROUP))
    assert not table.equals(pd.read_csv(io.BytesIO(first.table(1))))
