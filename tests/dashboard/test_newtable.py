"""Scores of another table along a component: features are matched by name, in files of all kinds."""

import html
import io
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import nspca
from nspca.dashboard.open_data import read_like
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.sweep import other_rows
from nspca.dashboard.sweep.other_rows import scored
from nspca.data.names import numbered
from nspca.errors import InvalidProblem, MissingValues, Way
from nspca.specs import DataSpec

RNG = np.random.default_rng(0)
NAMES = tuple(f"gene {j}" for j in range(6))
DATA = nspca.Dataset("a", RNG.random((20, 6)) + 2.0, NAMES, numbered("sample", 20))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_the_samples_of_the_data_themselves_have_their_scores(layout, scale, center):
    problem = nspca.Problem.from_data(DATA.X, 3, center=center, scale=scale)
    x = nspca.solve(problem).components[:, 0]
    order = [3, 1, 0, 5, 4, 2]
    other = replace(
        DATA,
        X=layout(np.column_stack([DATA.X[:, order], np.ones(20)])),
        feature_names=(*(NAMES[j] for j in order), "more"),
    )
    said, table = scored(replace(DATA, X=layout(DATA.X)), other, x, center, scale)
    assert np.allclose(table["score"], problem.scores(x))
    assert said.startswith("**20 samples scored**, features matched by name; 4 features of the file")


def test_features_without_names_are_taken_in_their_order_and_others_are_asked_for():
    x = np.array([0.6, 0.0, 0.8, 0.0, 0.0, 0.0])
    unnamed = replace(DATA, feature_names=numbered("feature", 6))
    said, table = scored(DATA, unnamed, x, True, False)
    assert np.allclose(table["score"], scored(DATA, DATA, x, True, False)[1]["score"])
    assert "in their order, as the file has no names" in said
    for other in (
        replace(unnamed, X=unnamed.X[:, :5], feature_names=numbered("feature", 5)),
        replace(DATA, feature_names=("other", *NAMES[1:])),
    ):
        with pytest.raises(InvalidProblem, match="without 'gene 0'"):
            scored(DATA, other, x, True, False)


def test_log2_is_done_to_the_other_table_too():
    x = np.array([0.6, 0.0, 0.8, 0.0, 0.0, 0.0])
    logged = nspca.prepare(DATA, "log2")
    expected = (logged.X - logged.X.mean(axis=0)) @ x
    assert np.allclose(scored(logged, DATA, x, True, False)[1]["score"], expected)


def test_a_file_is_read_as_the_data_were():
    table = pd.DataFrame(DATA.X.T, index=NAMES, columns=[f"s{i}" for i in range(20)])
    raw = table.to_csv().encode()
    found = read_like(raw, "turned", DataSpec(features_in_rows=True, label_column="none here")).data
    assert found.feature_names == NAMES and np.allclose(found.X, DATA.X)


def test_it_is_offered_where_another_table_can_have_the_same_features(monkeypatch):
    said, offered = [], []
    page = SimpleNamespace(
        expander=lambda label, **look: nullcontext(),
        markdown=lambda text: None,
        caption=said.append,
        file_uploader=lambda label, **how: offered.append(label),
    )
    monkeypatch.setattr(other_rows, "st", page)
    of = SimpleNamespace(dataset=DATA, reference=DataSpec(sample="a"), table=None)
    for other in (
        SimpleNamespace(**{**vars(of), "reference": DataSpec(sample="a", together=[[1, 2]])}),
        SimpleNamespace(**{**vars(of), "dataset": replace(DATA, prepared=("equalised",))}),
        SimpleNamespace(**{**vars(of), "table": object()}),
        of,
    ):
        other_rows.show_scores(Answer(other, None, None, k=3))
    assert ["as one" in said[0], "Equalised" in said[1], "all rows" in said[2]] == [True] * 3
    assert "Another table" in offered[0] and len(said) == 3 and len(offered) == 1


def test_a_table_with_missing_values_is_to_be_read_without_them(monkeypatch):
    said = []
    monkeypatch.setattr(other_rows.st, "error", lambda text, **look: said.append(html.unescape(text)))
    wrong = MissingValues("One cell is empty: fill it in.", (Way("missing", "mean", "Put in means"),))
    other_rows._score(Answer(SimpleNamespace(dataset=DATA), None, None), wrong)
    assert said == ["One cell is empty: fill it in, or leave out such rows or columns of the file."]


@pytest.mark.visit
def test_a_file_below_a_sweep(ran, texts):
    page = ran("pages/sweep.py", sample="digits", from_=3, to=3, step=1)
    data = nspca.load_sample("digits")
    content = io.BytesIO()
    pd.DataFrame(data.X[:9, ::-1], columns=data.feature_names[::-1]).to_csv(content, index=False)
    page.file_uploader[0].upload("mine.csv", content.getvalue()).run()
    assert not page.error and not page.exception
    assert "**9 samples scored**, features matched by name" in texts(page)
    problem = nspca.Problem.from_data(data.X, 3)
    expected = problem.scores(nspca.solve(problem).components[:, 0])[:9]
    table = next(one.value for one in page.dataframe if "score" in one.value)
    assert np.allclose(table["score"], expected)
    page.file_uploader[0].set_value(("wrong.csv", b"a,b\n1,2\n3,4\n5,6\n", "text/csv")).run()
    assert len(page.error) == 1 and "3 features that are needed" in page.error[0].value
