"""The page Sweep: a background run, found again by its address."""

import io

import numpy as np
import pandas as pd
import pytest

import nspca
from nspca.dashboard.runs.tasks import TASKS
from nspca.dashboard.sweep.form import default_range, usual_ks
from nspca.dashboard.sweep.page import _says as says
from nspca.dashboard.views.component import csv_of, weights
from nspca.jobs import JobState, engine
from nspca.progress import Event
from nspca.specs import DataSpec, SweepSpec
from nspca.specs.rows import Found, pack
from tests.dashboard.figures import at_k, snippet
from tests.patience import wait_for

PAGE = "pages/sweep.py"
SHORT = {"sample": "pitprops", "from_": 2, "to": 6, "step": 2}


@pytest.fixture
def done(ran):
    """Return a finished short sweep."""
    return ran(PAGE, **SHORT)


@pytest.fixture
def known(reopened):
    """Return the page with a finished short sweep, opened by its address."""
    return reopened(PAGE, **SHORT)


def test_a_sweep_from_run_to_component(done, texts, alts):
    assert not done.exception and not done.error
    assert "best possible, proved" in texts(done)
    assert any("3 values of k from 2 to 6" in alt for alt in alts(done))
    table = done.dataframe[0].value
    assert list(table.columns) == ["feature", "weight", "share"] and set(table["feature"]) <= set(
        nspca.load_sample("pitprops").feature_names
    )
    at_k(done, 2)
    assert (
        done.dataframe[0].value["feature"].tolist() == ["topdiam", "length"]
        or len(done.dataframe[0].value) == 2
    )


def test_the_numbers_are_those_of_the_package(known, texts):
    data = nspca.load_sample("pitprops")
    direct = nspca.sweep(nspca.Problem.from_covariance(data.X, k=1), [2, 4, 6])["auto", 4]
    at_k(known, 4)
    assert np.allclose(known.dataframe[0].value["weight"], weights(data, direct.components[:, 0])["weight"])
    assert f"{direct.value:.3f}" in texts(known)


@pytest.mark.visit
def test_the_run_is_shown_with_its_own_data(done, visit, address, texts):
    """A link to a run stays about the data of the run when another sample is chosen."""
    page = visit(PAGE, **{**address(done), "sample": "digits"})
    assert not page.error and set(page.dataframe[0].value["feature"]) <= set(
        nspca.load_sample("pitprops").feature_names
    )


def test_a_run_about_a_relative_is_not_shown_beside_the_original(
    visit, ran, address, nspca_data, monkeypatch, texts
):
    with monkeypatch.context() as without:
        without.delenv("NSPCA_DATA")
        page = ran(PAGE, sample="lrs", from_=5, to=5, step=1)
        assert "proved" in texts(page)
    page = visit(PAGE, **{**address(page), "sample": "lrs"})
    assert "proved" in texts(page) and "Coffee" in texts(page), "the run says what it is about"


def test_a_curve_of_one_point_asks_nobody_to_move_a_slider(ran, texts):
    page = ran(PAGE, sample="pitprops", from_=5, to=5)
    assert "5 features" in texts(page) and "show in the main direction" in texts(page)


@pytest.mark.parametrize(
    ("address_", "said"),
    [
        ({"to": 500}, "got 2 to 500"),
        ({"from_": 9, "to": 3}, "got 9 to 3"),
        ({"step": 0}, "step of k must be at least 1"),
    ],
)
def test_k_out_of_range_is_one_sentence(visit, sentence, address_, said):
    page = visit(PAGE, **{**SHORT, **address_})
    assert said in sentence(page)
    for name, value in (("from", 2), ("to", 6), ("step", 2)):
        page.number_input(key=f"widget_{name}").set_value(value)
    assert not page.run().error and page.button(key="run")


def test_a_problem_that_cannot_be_is_said_before_the_run(visit, sentence):
    page = visit(PAGE, sample="digits", scale=1)
    assert len(page.multiselect(key="widget_methods").options) == len(nspca.METHODS) + 1, "none is refused"
    page.button(key="run").click().run()
    assert "constant columns" in sentence(page) and "run" not in page.query_params


@pytest.mark.visit
def test_signed_and_several_methods(ran, texts, alts):
    page = ran(PAGE, **SHORT, signed=1, methods="auto,cone")
    assert not page.error and not page.exception
    assert page.selectbox(key="widget_shown").options == ["best found", "cone"]
    page.selectbox(key="widget_shown").select("cone").run()
    assert not page.error
    assert "nonnegative" not in page.markdown[2].value


@pytest.fixture
def cancelled(visit, address):
    """Return a long sweep of the digits, cancelled when some rows were ready."""
    page = visit(PAGE, sample="digits", from_=1, to=64, step=1, effort="thorough")
    page.button(key="run").click().run()
    wait_for(lambda: len(engine().status(address(page)["run"]).rows) >= 2)
    page.button(key="cancel").click().run()
    return page


@pytest.mark.visit
def test_what_a_cancelled_run_had_ready_is_whole(cancelled, visit, address, texts, alts):
    page = cancelled
    assert "Cancelled. What was ready stays here." in texts(page) and not page.error and not page.exception
    assert (
        "show in the main direction" in texts(page)
        and page.button(key="verify")
        and len(page.get("download_button")) == 9
    )
    at_k(page, 1)
    page.button(key="verify").click().run()
    assert "Checked in" in page.success[-1].value and "This pixel is the best one: proved." in texts(page)
    run = address(page)["run"]
    page.button(key="again").click().run()
    assert address(page)["run"] == run and page.button(key="cancel"), "it starts from the beginning"
    other = {name: value for name, value in address(page).items() if name not in ("run", "w")}
    page.button(key="cancel").click().run()
    assert not page.error and not page.exception
    page = visit(PAGE, **other)
    page.button(key="run").click().run()
    assert page.button(key="cancel"), "what somebody else had ready is no answer to the whole"
    page.button(key="cancel").click().run()


def test_a_failed_run_is_one_sentence_and_can_run_again(ran, monkeypatch, sentence):
    monkeypatch.setitem(TASKS, "sweep", "nspca.specs.job:not_there")
    page = ran(PAGE, **SHORT, signed=1)
    assert "not_there" in sentence(page).replace("&#95;", "_") and page.button(key="again")


def test_an_error_of_our_own_is_one_sentence_without_details(visit, monkeypatch, sentence):
    def broken(*arguments):
        raise RuntimeError("secret detail")

    monkeypatch.setattr("nspca.dashboard.sweep.form.question", broken)
    page = visit(PAGE, **SHORT)
    assert "secret" not in sentence(page) and "reference" in sentence(page)
    monkeypatch.undo()
    assert not page.run().error


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (1, 1, (1,)),
        (1, 2, (1, 2)),
        (1, 13, (1, 2, 3, 5, 7, 10, 13)),
        (4, 93, (4, 5, 7, 10, 15, 20, 30, 50, 70, 93)),
        (1, 361, (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 361)),
    ],
)
def test_k_of_a_sweep_when_nobody_said_which(first, last, expected):
    assert usual_ks(first, last) == expected


@pytest.mark.parametrize(("n", "expected"), [(2, (1, 2)), (361, (1, 361)), (12582, (1, 100))])
def test_default_ranges(n, expected):
    assert default_range(n) == expected


@pytest.mark.visit
@pytest.mark.parametrize(
    ("prepared", "said"),
    [
        ({"scale": 1, "drop": 1}, ""),
        ({"log": 1}, "log2"),
        ({"prep": "equalised,off-first"}, "nonnegative, Equalised, First component out"),
    ],
)
def test_the_snippet_prepares_the_data_as_the_page_did(ran, capsys, texts, prepared, said):
    page = ran(PAGE, sample="digits", from_=3, to=3, step=1, **prepared)
    assert not page.error and not page.exception and said in texts(page)
    exec(snippet(page), {})  # its own certificate is checked against the data it made
    value = float(capsys.readouterr().out.split()[0])
    assert f"a variance of {value:.3f}" in texts(page)
    if "log" in prepared:
        said = [code.value for code in page.code if ".npz digits-k3-certificate.npz" in code.value]
        assert said, "the sample's name is not these data"


def test_the_snippet_names_the_file_and_how_it_is_read():
    where = DataSpec(upload="ab", file="my table.csv", features_in_rows=True)
    text = SweepSpec(data=where, ks=(1, 2, 3), scale=True).to_python(k=2, method="auto")
    assert "nspca.read('my table.csv', features_in_rows=True)" in text and "scale=True" in text
    compile(text, "snippet", "exec")


def test_a_relative_is_called_by_its_own_name_in_what_is_taken_home(monkeypatch):
    monkeypatch.delenv("NSPCA_DATA", raising=False)
    data = nspca.load_sample("lrs")
    table = pd.read_csv(io.BytesIO(csv_of(weights(data, np.eye(data.X.shape[1])[0]), data)))
    assert (
        set(table["source"]) == {"in the place of the original"} and table["data"][0] == data.name == "coffee"
    )


ROW = pack(Found("auto", 6, 1234.5, 1300.25, 0.9, "B3", 0.1))["row"]
SHARE = "2 of 9 ready; k = 6: at least 94.9 % of the best possible, proved"


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (JobState("x", "starting"), "Starting workers …"),
        (JobState("x", "queued", place=3), "Waiting: place 3 in the queue"),
        (JobState("x", "running"), "0 of 9 ready"),
        (JobState("x", "running", event=Event("cones", 3)), "0 of 9 ready; searching the main directions"),
        (JobState("x", "running", rows=(ROW, ROW)), SHARE),
        (JobState("x", "running", rows=({**ROW, "upper": None},)), "1 of 9 ready; k = 6"),
    ],
)
def test_what_is_said_while_it_runs(now, said):
    assert says(now, 9) == said


@pytest.mark.visit
def test_an_interrupted_run_says_so_and_keeps_its_rows(visit, done, address, texts):
    """A run that a restarted server finds unfinished is shown as interrupted, with its rows."""
    store, run = engine().store, address(done)["run"]
    kept = store.find_run(run)
    with store._writing() as database:
        database.execute("UPDATE runs SET state = 'interrupted' WHERE id = ?", (run,))
    page = visit(PAGE, **address(done))
    assert "restarted while this was running" in page.warning[0].value and page.button(key="again")
    page.button(key="again").click().run()
    assert store.find_run(run).state == "done" and kept.key == store.find_run(run).key


@pytest.mark.visit
def test_an_adaptive_sweep_stays_within_what_was_asked(visit, finish):
    page = visit("pages/sweep.py", sample="digits", to=20, **{"from": 20})
    assert page.button(key="run").label.startswith("Compute k = ")
    page = visit("pages/sweep.py", sample="digits", to=12, **{"from": 10})
    assert page.button(key="run").label.startswith("Compute the full curve (")
