"""A sweep as one file: everything inside it, nothing from elsewhere, names escaped."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

import nspca
from nspca.dashboard import export
from nspca.dashboard.app import wording
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.sweep import archive
from nspca.plots.sweeps import sweep_figure
from nspca.presentation.numerals import format_bound, format_guarantee
from nspca.specs import DataSpec, SweepSpec
from nspca.specs.published import OTHERS, PROBABILITY

MADE = datetime(2026, 5, 4, 3, 2, tzinfo=UTC)


@pytest.fixture(scope="module")
def made():
    data = nspca.load_sample("coffee")
    data = replace(data, name="<script>alert(1)</script>")
    asked = SweepSpec(data=DataSpec(sample="coffee"), ks=(5, 10))
    problem = nspca.Problem.from_data(data.X, k=5)
    sweep = asked.run(X=data.X)
    table = sweep.frame.assign(
        **{name: [one.info[name] for one in sweep.results.values()] for name in OTHERS}
    )
    figure = sweep_figure(table, unit=problem.leading_eigenvalue)
    proved = lambda: archive.proved(problem, asked, table)  # noqa: E731
    home = export.Export(Chosen(data, asked.data, ""), asked, "sweep", {}, {}, proved)
    return home.report(export.moving(figure), "print(1 < 2)", MADE).decode(), table


def test_it_stands_alone(made):
    text, table = made
    assert len(text) > 3e6 and "Plotly.newPlot" in text, "plotly.js is inside"
    own = text[: text.index("<script")] + text[text.rindex("</script>") :]
    assert "http" not in own and "src=" not in own and "<link" not in own
    assert '"showSendToCloud": false' in text or '"showSendToCloud":false' in text
    assert "print(1 &lt; 2)" in own and "<script>alert" not in text
    assert own.count("<tr>") == 1 + len(table)
    assert all(f"{wording.proof(ratio)}, by" in own for ratio in table["ratio"])


def test_it_names_both_bounds_beside_ours_and_what_they_are_worth(made):
    text, table = made
    assert "<th>Rank-3 bound</th><th>2014 paper&#39;s bound</th>" in text
    assert f"with probability at least {format_guarantee(table[PROBABILITY][0])}" in text and "Rank-3" in text
    for number in (*table["upper_rank3"], *table["upper_epsnet"]):
        assert f"<td>{format_bound(number)}</td>" in text


def test_rows_without_a_bound(made):
    _, table = made
    problem = nspca.Problem.from_data(np.eye(3) + 1.0, k=1)
    rows = archive.rows(problem, table.assign(**dict.fromkeys((*OTHERS, "upper", "ratio"), np.nan)))
    text = " ".join(cell for row in rows for cell in row)
    assert "nothing yet" in text and "none" in text and "nan" not in text
