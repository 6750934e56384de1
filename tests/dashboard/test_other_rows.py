"""Sections below a sweep: validation on other rows, and the test against noise."""

import json

import numpy as np
import pytest

import nspca
from nspca.dashboard.sweep import other_rows
from nspca.dashboard.views import section as held_out
from nspca.plots.selection import choice_figure, noise_figure
from nspca.plots.theme import alt_text
from nspca.selection import NoiseTest
from nspca.specs import ChoiceSpec, NoiseSpec
from nspca.specs.rows import Weighed, unpack
from nspca.specs.selection import choice_of

X = np.random.default_rng(0).standard_normal((30, 8)) + np.arange(30.0)[:, None] * (np.arange(8) < 3) / 5
HOW = {"forced": (0,), "method": "tpower"}
CHOICE = ChoiceSpec(**HOW, ks=(2, 3), folds=2, draws=2)
NOISE = NoiseSpec(**HOW, k=3, tables=3)


def rows_of(told):
    return unpack(event.payload["row"] for event in told if "row" in event.payload)


def test_a_worker_gives_what_the_package_gives():
    told = []
    body = json.loads(CHOICE.pack(CHOICE.run(told.append, X=X)))
    rows = rows_of(told)
    assert len(rows) == 5 and {"of": "k", **vars(rows[-1])} == body
    direct = nspca.choose_k(X, [2, 3], method="tpower", forced=[0], folds=2, draws=2)
    assert choice_of(rows[-1]).frame.equals(direct.frame)
    told.clear()
    body = json.loads(NOISE.pack(NOISE.run(told.append, X=X)))
    assert [row.noise for row in rows_of(told)] == body["noise"]
    test = nspca.noise_test(X, 3, method="tpower", forced=[0], tables=3)
    assert body == {"value": test.value, "noise": test.noise.tolist()}


def test_what_held_out_rows_say_in_words_and_as_a_figure():
    known = Weighed([2, 4, 8], [1.0, 2.0, 2.1], [0.3, 0.49, 0.5], [0.02] * 3, [0.8, 0.9, None], [0.1] * 3)
    choice = choice_of(known)
    assert held_out.choice_sentence(choice) == (
        "**k = 8** explains most of what was held out, 50.0 ± 2.0 % of its variance; **k = 4** is as good "
        "within a standard error. At k = 4 the features of two draws agree to 0.90."
    )
    figure = choice_figure(known.numbers, choice.columns, 4.0, choice.best, choice.simplest)
    assert "most is explained by 8, 50 %, and 4 is as good" in alt_text(figure)
    held = next(trace for trace in figure.data if trace.name == "of rows held out")
    assert np.allclose(held.y, [30, 49, 50]) and np.allclose(held.error_y.array, 2)
    nothing = Weighed([2], [1.0], [None], [None], [None], [None])
    empty = choice_figure([2], choice_of(nothing).columns, 4.0)
    assert "nothing is ready yet" in alt_text(empty)
    assert len(other_rows.some(range(1, 400))) == 12 and other_rows.some([3, 1]) == [1, 3]


@pytest.mark.parametrize(
    ("value", "tables", "said"),
    [
        (3.0, 99, "**More than noise would give.** This component explains 30 % of the variance, the best of "
         "99 shuffled tables 20 %: none reached it, p = 0.01, the least that 99 can say."),
        (3.0, 4, "**So far more than noise gives.** This component explains 30 % of the variance, the best "
         "of 4 shuffled tables 20 %: none reached it, p = 0.2, the least that 4 can say."),
        (2.0, 9, "**So far noise can give as much.** This component explains 20 % of the variance; 9 of 9 "
         "shuffled tables reached it, p = 1."),
        (2.0, 99, "**Noise can give as much.** This component explains 20 % of the variance; 99 of 99 "
         "shuffled tables reached it, p = 1."),
    ],
)  # fmt: skip
def test_what_shuffled_tables_say_in_words(value, tables, said):
    assert other_rows.noise_sentence(NoiseTest(value, np.full(tables, 2.0)), 10.0) == said
    figure = noise_figure(value, [1.0, 2.0], 10.0)
    assert f"explains {10 * value:.3g} % of the variance; those of 2" in alt_text(figure)


@pytest.mark.visit
def test_a_covariance_has_no_rows(ran, texts):
    page = ran("pages/sweep.py", sample="pitprops", from_=2, to=2, step=1)
    assert texts(page).count("is a covariance matrix without rows") == 1, "one reason for both questions"
    assert "A fifth of" not in texts(page), "nothing about how it would be done"
    assert not page.error and not page.exception


@pytest.mark.visit
def test_both_questions_below_a_finished_sweep(visit, ended, ran, texts, alts, address):
    page = ran("pages/sweep.py", sample="digits", from_=2, to=6, step=4)
    page.button(key="choice").click().run()
    page.button(key="noise").click().run()
    page = ended(page)
    assert not [one.value for one in page.error] and not page.exception
    said = texts(page)
    assert "explains most of what was held out" in said and "More than noise would give." in said
    assert any("those of 99 shuffled tables" in alt for alt in alts(page))
    page = visit("pages/runs.py", w=address(page)["w"])
    assert "shuffled tables, k" in texts(page) and "rows held out and drawn again" in texts(page)
