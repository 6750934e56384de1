"""The first answer of the page Sweep, shown before a visitor asks for a sweep."""

import pytest

from nspca.dashboard.runs import defaults, first_answer
from nspca.dashboard.runs.tasks import spec_of
from nspca.jobs import engine
from tests.dashboard.figures import at_k

PAGE = "pages/sweep.py"
pytestmark = pytest.mark.usefixtures("first_answers")


def test_the_page_opens_with_a_curve_a_component_and_an_answer(arrive, texts, alts):
    page = arrive(sample="pitprops", out="5,9")  # no other test asks about these data, so that nothing joins
    assert not page.exception and not page.error
    assert any("7 values of k from 1 to 11" in alt for alt in alts(page)) and "the best" in texts(page)
    assert "show in the main direction" in texts(page)
    assert set(page.query_params) <= {"sample", "out"}, "it is nobody's run, and the address stays as it was"
    at_k(page, 2)
    assert "2 features are the best 2" in texts(page)


@pytest.mark.visit
def test_genes_are_a_heat_map_of_samples_sorted_by_score_with_what_the_labels_say(
    arrive, stand_ins, alts, texts
):
    page = arrive(sample="all-aml", k=5)
    page.session_state["fold_map"] = True
    page.run()
    maps = [alt for alt in alts(page) if alt.startswith("Heat map of the component")]
    assert maps == ["Heat map of the component: 5 features, 38 samples sorted by score."]
    assert "than one of another group in" in texts(page) and "took no part" in texts(page)
    images = arrive(sample="digits")
    assert not any(alt.startswith("Heat map") for alt in alts(images)), "pixels are drawn as an image"


def test_it_keeps_what_must_be_in(arrive, texts, alts):
    page = arrive(sample="pitprops", keep="11,12")
    assert not page.error and any("6 values of k from 2 to 13" in alt for alt in alts(page))
    at_k(page, 3)
    assert "3 that include the 2 features you kept with nonnegative weights" in texts(page)


def test_it_is_made_once_for_everybody_and_is_nobody_s(arrive, address):
    pages = [arrive(sample="pitprops", signed=1, to=9) for _ in range(2)]
    store = engine().store
    first = [run for run in store.list_runs(defaults.EVERYBODY) if run.function == "sweep"]
    kept = [spec_of(run) for run in first]
    assert sum(not spec.nonneg and spec.ks == (1, 2, 3, 5, 7, 9) for spec in kept) == 1
    pages[0].button(key="run").click().run()
    assert [run.function for run in store.list_runs(address(pages[0])["w"])] == ["sweep"]


@pytest.mark.visit
def test_a_workspace_of_that_name_cannot_be_opened_by_an_address(visit, address):
    page = visit(PAGE, sample="pitprops", w=defaults.EVERYBODY)
    page.button(key="run").click().run()
    assert address(page)["w"] != defaults.EVERYBODY


def test_what_can_be_no_problem_has_no_preview_and_no_error(visit, texts):
    page = visit(PAGE, sample="digits", scale=1)
    assert not page.error and not page.exception
    assert "3 pixels take one value only, the first is row 1 column 1, and cannot be" in texts(page)


def test_very_large_data_have_none(visit, texts, monkeypatch):
    monkeypatch.setattr(first_answer, "LARGEST", 100)
    page = visit(PAGE, sample="pitprops")
    assert "Nothing has run yet" in texts(page) and page.button(key="run") and not page.error
