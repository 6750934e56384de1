"""The mechanism of a page with an answer: the answer first, then the question in one line, then the rest."""

import json
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest

from nspca.dashboard.sweep.page import first_k, plateau
from nspca.jobs import engine
from nspca.plots.sweeps import RING
from tests.dashboard.figures import figures

PAGE = "pages/sweep.py"


@pytest.fixture
def opened(arrive):
    """Open the page Sweep of pitprops with its first answer."""
    return partial(arrive, sample="pitprops")


def question(page):
    """Return the expander that holds the form."""
    (fold,) = [one for one in page.expander if one.icon == ":material/tune:"]
    return fold


def test_the_answer_stands_before_the_question_and_the_question_is_one_line(opened):
    page = opened()
    kinds = [getattr(part, "label", "") or part.type for part in page.main]
    answer = next(i for i, part in enumerate(page.main) if str(getattr(part, "value", "")).startswith("## "))
    fold = next(i for i, kind in enumerate(kinds) if kind.endswith("**change**"))
    assert answer < fold
    assert not question(page).proto.expanded and "nonnegative" in question(page).label


def test_a_question_that_cannot_be_asked_is_open_with_one_sentence(visit, sentence):
    page = visit(PAGE, sample="pitprops", from_=0)
    assert question(page).proto.expanded and question(page).label == "The question"
    assert "at least 1 up to at most 13" in sentence(page)
    page.number_input(key="widget_from").set_value(2).run()
    assert not page.error and page.button(key="run")


def test_the_run_that_is_shown_is_named_only_where_the_form_asks_something_else(opened, finish):
    page = opened(from_=4, to=6)
    page.button(key="run").click().run()
    page = finish(page)
    assert not any("Shown:" in caption.value for caption in page.caption)
    page.number_input(key="widget_to").set_value(5).run()
    assert any("Shown: Pitprops, sweep k &#61; 4 to 6" in caption.value for caption in page.caption)


@pytest.mark.parametrize(
    ("values", "n", "found"),
    [
        ([2, 4, 6, 8, 9.6, 10], 100, None),  # k = 50 reaches 95 %, because the curve ends at 60
        ([2, 9.6, 9.7, 9.8, 9.9, 10], 100, 20),
        ([2, 4, 6, 8, 9.6, 10], 6, 5),
    ],
)
def test_a_number_of_features_is_enough_only_where_many_more_bring_little(values, n, found):
    step = 1 if n == 6 else 10
    table = pd.DataFrame({"k": [step * (i + 1) for i in range(6)], "value": values})
    assert plateau(table, n) == found


@pytest.mark.parametrize(
    ("ks", "values", "n", "opened"),
    [
        ((1, 2, 3, 5, 7, 10), (2, 9.6, 9.7, 9.8, 9.9, 10), 10, 2),  # the plateau
        ((1, 5, 10, 20, 50, 100), (1, 2, 4, 6, 8, 10), 7129, 20),  # wide, and the curve still rises
        ((1, 10, 20, 100, 300, 361), (1, 2, 3, 6, 9, 10), 361, 20),  # all pixels say nothing
        ((1, 2, 3), (1, 2, 3), 3, 2),  # never the end of the range
        ((30, 50), (1, 2), 100, 30),
        ((4,), (1,), 10, 4),
    ],
)
def test_the_page_opens_on_a_k_that_a_person_can_look_at(ks, values, n, opened):
    assert first_k(pd.DataFrame({"k": ks, "value": values}), n) == opened


def test_a_feature_with_the_largest_numbers_is_said_to_outweigh_the_others(arrive, texts):
    rows = np.random.default_rng(0).normal(size=(40, 6)) * [1000, 1, 2, 1, 3, 1]
    workspace = "w" * 22
    content = pd.DataFrame(rows).to_csv(index=False).encode()
    digest = engine().store.put_upload(workspace, content, {"file": "a.csv", "name": "a"})
    said = "One feature outweighs the others by its larger numbers"
    for scale in (0, 1):
        page = arrive(w=workspace, upload=digest, scale=scale)
        assert (said in texts(page)) == (not scale)


def test_everything_of_a_first_answer_can_be_taken_home(opened):
    page = opened(from_=4, to=5)
    labels = [button.label for button in page.get("download_button")]
    assert labels == [
        "Report of this sweep, HTML",
        "Sweep, CSV",
        "Component, CSV",
        "Features in use, TXT",
        "Ranked list, RNK",
        "Every component of the sweep, GMT",
        "JSON",
        "Certificate, NPZ",
    ] and page.button(key="ask_everything")


def test_the_button_of_an_answer_is_folded_until_the_form_asks_something_else(opened):
    page = opened(from_=4, to=6)
    assert any(button.key == "run" for button in question(page).button)
    page.selectbox(key="widget_effort").select("thorough").run()
    assert not any(button.key == "run" for button in question(page).button) and page.button(key="run")


def test_a_curve_that_still_rises_does_not_say_that_fewer_features_are_enough(opened, texts):
    assert "ringed in the curve" not in texts(opened(from_=3, to=3, step=1))
    rising = opened(from_=1, to=3, step=1)
    assert "ringed in the curve" not in texts(rising), "at the last k"
    rings = [RING in json.dumps(figure, ensure_ascii=False) for figure in figures(rising)]
    assert rings and not any(rings), "and so there is no ring"
    page = opened()
    said = texts(page)
    assert any(RING in json.dumps(figure, ensure_ascii=False) for figure in figures(page))
    assert re.search(
        r"are enough\*\* \(ringed in the curve(; between 5 and 7 nothing was tried)?\): "
        r"(they keep [\d.]+ %, and )?more of them, up to 13, "
        r"never keep more than [\d.]+ %\.",
        said,
    )
