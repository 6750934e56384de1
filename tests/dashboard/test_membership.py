"""In or out on the sweep page: what is solid, what is said of it, what can be taken home."""

import functools
import io
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import nspca
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs.answer import Answer
from nspca.dashboard.sweep import archive
from nspca.dashboard.views import component, membership
from nspca.selection.membership import Place
from nspca.specs import DataSpec, SweepSpec
from tests.dashboard.figures import figures

PAGE = "pages/sweep.py"


@functools.cache
def known(share):
    A = nspca.load_sample("pitprops").X
    problem = nspca.Problem.from_covariance(A, 5)
    return nspca.membership(problem, nspca.solve(problem), share=share)


@pytest.mark.visit
def test_what_must_be_in_is_solid_and_stays_in_the_address(visit, ran, settled, address, texts):
    page = ran(PAGE, sample="pitprops", from_=5, to=5, step=1)
    assert "Solid" not in texts(page) and "place" not in page.dataframe[0].value
    page.select_slider(key="widget_within").set_value(950).run()
    page = settled(page, lambda page: "Solid" in texts(page))
    assert not page.exception and address(page)["within"] == "950"
    line = "**Solid**: 4 of 5 features are in every answer that reaches 95 % of the best possible, proved."
    assert line in texts(page) and "7 are in no such answer, proved" in texts(page)
    bars = next(figure for figure in figures(page) if figure["data"][0].get("type") == "bar")
    assert bars["data"][0]["marker"]["pattern"]["shape"] == ["", "", "", "", "/"]
    assert list(page.dataframe[0].value["place"]) == ["in every"] * 4 + ["exchangeable"]
    assert page.dataframe[0].value["costs"].iloc[0] == "5 % to 10.1 %"
    again = visit(PAGE, **address(page))
    assert line in texts(again)


def test_an_address_with_another_share_marks_nothing(ran, texts):
    page = ran(PAGE, sample="pitprops", from_=5, to=5, step=1, within=123)
    assert not page.exception and "Solid" not in texts(page)


def test_what_is_said():
    assert "**Hatched**: the other one, proved to be exchangeable." in membership.sentence(
        "feature", known(0.95)
    )
    assert "Hatched" not in membership.sentence("feature", known(0.99))
    several = known(0.95)
    one = np.arange(13) != several.places.index(Place.NONE)
    said = membership.sentence("feature", replace(several, upper_with=several.upper_with + 99 * one))
    assert "Of the 8 features left out, 1 is in no such answer, proved." in said
    problem = nspca.Problem.from_data(nspca.load_sample("digits").X, 10, nonneg=False)
    wide = nspca.membership(problem, nspca.solve(problem), share=0.99, effort="fast")
    said = membership.sentence("pixel", wide)
    assert "**Hatched**: all of them, undecided, except" in said and said.endswith("% may decide more.")
    assert "no more than that" not in said, "the answer is proved optimal"
    open_ = replace(wide, upper=1.01 * wide.upper, value_with=0 * wide.value_with)
    said = membership.sentence("pixel", open_)
    assert "**Hatched**: all of them, undecided." in said
    assert "A proof of 99.0 % decides no more than that: a closer one may." in said
    assert membership.cost_words(0.01111, 0.0278) == "1.11 % to 2.78 %"
    assert (
        membership.cost_words(0.01111, 0.01112) == "1.11 % to 1.12 %" and membership.cost_words(0, 0) == "0 %"
    )


def test_everything_has_a_row_for_each_feature_and_the_proof():
    data, found = nspca.load_sample("pitprops"), known(0.95)
    asked = SweepSpec(data=DataSpec(sample="pitprops"), ks=(6,))
    result = nspca.solve(nspca.Problem.from_covariance(data.X, 6))
    sweep = nspca.Sweep({("auto", 6): result})
    answer = Answer(Chosen(data, asked.data, ""), asked, None, sweep, 6, "auto", known=found)
    rows = pd.read_csv(io.BytesIO(archive._files(answer)["tables/in-or-out.csv"].make()))
    assert list(rows["feature"]) == list(data.feature_names) and rows["share"].eq(0.95).all()
    assert rows["place"].value_counts().to_dict() == {"in none": 7, "in every": 4, "exchangeable": 2}
    proof = nspca.Certificate.from_bytes(found.certificate.to_bytes())
    assert proof.of_features and nspca.verify(data.X, proof) <= proof.upper
    assert "tables/in-or-out.csv" not in archive._files(replace(answer, known=None))


def test_the_table_to_take_home_has_it_too():
    data, found = nspca.load_sample("pitprops"), known(0.95)
    x = np.where(found.used, 1.0, 0.0)
    rows = component.weights(data, x, found)
    read = pd.read_csv(io.BytesIO(component.csv_of(rows, data)))
    assert list(read["place"]) == [found.places[j].value for j in np.flatnonzero(found.used)]
    assert (read["costs_at_least"] <= read["costs_at_most"]).all() and read["instead"].notna().any()
