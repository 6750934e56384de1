"""First answers of the page Components, shown before a visitor asks."""

import json
import time

import numpy as np
import pytest

import nspca
from nspca.dashboard import open_data
from nspca.dashboard.joint.form import usual
from nspca.dashboard.open_data import problem_of
from nspca.dashboard.runs import defaults, first_answer
from nspca.jobs import engine
from nspca.specs import DataSpec
from scripts.answers import STORED, answered, questions

FIND = first_answer.find_stored
PAGES = [
    ("pages/components.py", {"sample": "state-of-the-union"}),
    ("pages/components.py", {"sample": "all-aml"}),
]
LONGER = ("all-aml",)
"""Samples whose proof for several components takes seconds to check: among the visits. The same is proved of
the others in every run.
"""


@pytest.fixture(autouse=True)
def nothing_stored(monkeypatch, first_answers):
    """Let pages make first answers, also about data that have a stored one."""
    monkeypatch.setattr(first_answer, "find_stored", lambda *given: None)


@pytest.fixture(scope="module")
def bundled():
    """Today's usual questions about the samples, each with its file."""
    return [
        (of, asked, first_answer.StoredAnswer.from_bytes(first_answer.file_of(asked, name).read_bytes()))
        for name, of, asked in questions()
    ]


def test_there_is_a_file_for_every_question_and_no_other(bundled):
    folder = first_answer.folder()
    assert {path.name for path in folder.glob("*.zip")} == {
        f"{kind}-{name}.zip" for kind, names in STORED.items() for name in names
    }
    assert sum(path.stat().st_size for path in folder.iterdir()) < 3_500_000


def test_each_is_about_today_s_question_and_today_s_numbers(bundled):
    for of, asked, answer in bundled:
        assert (answer.content, answer.spec) == (
            of.content,
            asked.numbers_only().to_plain(),
        ), of.dataset.name
        assert {method for method, _ in answer.sweep} == set(asked.methods)
        assert 0 < answer.seconds < 600 and answer.computed < time.time()


@pytest.mark.parametrize("longer", [False, pytest.param(True, marks=pytest.mark.visit)])
def test_every_value_and_every_proof_is_one_that_the_data_give_again(bundled, longer):
    for of, asked, answer in bundled:
        verified = {}
        if (hasattr(asked, "sizes") and of.reference.sample in LONGER) is not longer:
            continue
        for result in answer.sweep.results.values():
            problem, proof = problem_of(of, asked), result.certificate
            assert np.allclose([problem.value(x) for x in result.components.T], result.values, rtol=1e-9)
            assert (result.components >= 0).all() and np.allclose(
                np.linalg.norm(result.components, axis=0), 1
            )
            if id(proof) not in verified:
                verified[id(proof)] = nspca.verify(of.dataset.X, proof, nonneg=True)
            assert result.value <= verified[id(proof)] <= proof.upper and result.ratio > 0.3


@pytest.mark.visit
def test_the_script_makes_what_is_there(bundled, monkeypatch):
    monkeypatch.undo()  # as many steps for the proof as the script takes
    of, asked, kept = next(one for one in bundled if hasattr(one[1], "sizes"))
    made = answered(of, asked)
    for key, result in made.sweep.results.items():
        assert np.isclose(result.value, kept.sweep[key].value) and np.isclose(
            result.ratio, kept.sweep[key].ratio, rtol=1e-3
        )
    again = first_answer.StoredAnswer.from_bytes(made.to_bytes())
    assert (again.spec, again.content, again.seconds) == (kept.spec, made.content, made.seconds)


@pytest.mark.parametrize(("path", "address"), PAGES)
def test_a_page_opens_on_its_stored_answer_and_starts_nothing(
    visit, stand_ins, texts, alts, monkeypatch, path, address
):
    monkeypatch.setattr(first_answer, "find_stored", FIND)
    monkeypatch.setattr(defaults, "ask", lambda *given: pytest.fail("a stored answer needs no worker"))
    page = visit(path, **address)
    assert not page.exception and not page.error
    assert "of the variance of all" in texts(page)
    assert any("nspca-topics" in part.proto.body for part in page.get("html"))
    assert page.button(key="run") and page.segmented_control(key="widget_look")
    assert set(page.query_params) <= {*address, "w"}


@pytest.fixture
def arrive(visit, texts, settled):
    """Open a page, and look at it again when its first answer is there."""

    def there(page):
        return bool(page.get("download_button"))

    return lambda path, **address: settled(visit(path, **address), there)


@pytest.mark.visit
def test_of_other_data_it_is_made_once_for_everybody(arrive, texts, address):
    # what the form says later does not matter
    pages = [arrive("pages/components.py", sample="digits", signed=sign) for sign in (0, 1)]
    assert not any(page.error or page.exception for page in pages)
    task = "components"
    mine = [run for run in engine().store.list_runs(defaults.EVERYBODY) if run.function == task]
    assert len(mine) == 1 and "data" not in json.loads(mine[0].parameters)["spec"]
    pages[0].button(key="run").click().run()
    assert [run.function for run in engine().store.list_runs(address(pages[0])["w"])] == [task]


def test_it_takes_the_data_as_the_visitor_prepared_them(visit, stand_ins, texts, monkeypatch):
    monkeypatch.setattr(first_answer, "find_stored", FIND)
    opened = visit("pages/components.py", sample="coffee", scale=1)
    assert not opened.exception and not opened.error
    assert "nonnegative, standardised" in texts(opened)
    asked = json.loads(engine().store.list_runs(defaults.EVERYBODY)[0].parameters)["spec"]
    assert asked["scale"], "the stored answer is about the data as they are"
    monkeypatch.setattr(defaults, "ask", lambda *given: pytest.fail("a stored answer needs no worker"))
    assert not visit("pages/components.py", sample="coffee").error


@pytest.mark.visit
def test_an_answer_that_a_restart_cut_off_is_made_again(arrive):
    page = arrive("pages/components.py", sample="pitprops")
    runs = engine().store.list_runs(defaults.EVERYBODY)
    (run,) = [run for run in runs if run.title == "components" and '"sizes": [3, 3, 3]' in run.parameters]
    engine().store.finish_runs([run.id], "interrupted")
    with engine().store._writing() as db:
        db.execute("DELETE FROM results WHERE key = ?", (run.key,))
    arrive("pages/components.py", sample="pitprops")
    assert engine().status(run.id).state == "done" and not page.error


def test_what_can_be_no_problem_and_what_is_too_large_has_none(visit, texts, monkeypatch):
    monkeypatch.setattr(first_answer, "LARGEST", 100)
    page = visit("pages/components.py", sample="pitprops")
    assert "Nothing has run yet" in texts(page) and page.button(key="run") and not page.error


def test_a_failed_answer_leaves_the_page_as_it_was(visit, texts, monkeypatch):
    monkeypatch.setattr(first_answer, "unasked", lambda *given: None)
    for path, given in PAGES:
        page = visit(path, **given)
        assert "Nothing has run yet" in texts(page) and not page.error and not page.exception


def test_every_first_answer_has_a_quick_proof():
    of = open_data.find(DataSpec(sample="all-aml"), None)
    assert usual(of).effort == "fast"
