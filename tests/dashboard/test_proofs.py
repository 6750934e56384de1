"""The section about the proof: its statements, recomputed numbers, refusals, and stored checks."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import nspca
from nspca.dashboard import open_data as chosen_data
from nspca.dashboard.app import times, wording
from nspca.dashboard.app.state import VALUES
from nspca.dashboard.open_data import Chosen, find
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof.optimal import LABEL
from nspca.dashboard.runs import answer as answers
from nspca.dashboard.runs import first_answer, lookup
from nspca.dashboard.runs.tasks import spec_of
from nspca.dashboard.sweep import form, whatif
from nspca.dashboard.sweep.form import differences
from nspca.data import Dataset
from nspca.errors import Cancelled
from nspca.jobs import JobState, engine
from nspca.presentation.numerals import format_bound, format_value
from nspca.progress import Event
from nspca.specs import CheckSpec, DataSpec, OptimumSpec, SweepSpec
from nspca.specs.proof import Closing
from nspca.specs.published import OTHERS, paper_bounds, rank3_bound
from tests.dashboard.figures import at_k, figures, slider, snippet
from tests.patience import wait_for

PAGE = "pages/sweep.py"
SHORT = {"sample": "digits", "from_": 14, "to": 15, "step": 1}  # with fast proofs, both have a gap


@pytest.fixture(autouse=True)
def nothing_stored(monkeypatch):
    """Let the stored answer of Home prove nothing here."""
    monkeypatch.setattr(first_answer, "find_same_problem", lambda *given: None)


@pytest.fixture
def done(ran):
    return ran(PAGE, **SHORT)


@pytest.fixture
def known(reopened):
    """Return the page with a finished short sweep, opened by its address."""
    return reopened(PAGE, **SHORT)


@pytest.fixture(scope="module")
def digits():
    data = nspca.load_sample("digits")
    return data.X, nspca.solve(nspca.Problem.from_data(data.X, k=6))


def names(page) -> list[str]:
    """Return the names of curves and regions of the sweep figure."""
    return [trace.get("name") for trace in figures(page)[0]["data"]]


def test_the_panel_says_what_the_certificate_says_and_verifies_it(known, texts, address):
    assert not known.metric, "each number stands in a sentence, once"
    sweep = lookup.read_result(address(known)["run"], 0.0, nspca.Sweep.from_bytes)
    result = sweep["auto", slider(known)["k"]]
    assert f"can explain more than {format_bound(result.certificate.upper)}." in texts(known)
    size = wording.size(result.certificate.nbytes)
    assert re.search(rf"Component and proof took [\d.]+ s, and {size} prove it again\.", texts(known))
    assert any(code.value.startswith("python -m nspca verify digits digits-k") for code in known.code)
    asks = [button for button in known.button if button.label == LABEL]
    assert [button.key for button in asks] == ["best"] and "the best within" in texts(known)
    assert not {"more", "stop"} & {button.key for button in known.button}, "one control for a closer proof"
    known.button(key="verify").click().run()
    assert not known.error and not known.exception
    said = known.success[0].value
    assert (
        "shares no code" in said
        and "recomputed from the data: no nonnegative component of the centred data with at most 14 nonzero"
        in said
    )


def test_a_proof_that_claims_too_much_is_refused_with_its_reason(known, monkeypatch, sentence):
    honest = lookup.read_result

    def boastful(*arguments):
        sweep = honest(*arguments)
        return nspca.Sweep(
            {key: one.with_certificate(scaled(one.certificate, 0.9999)) for key, one in sweep.results.items()}
        )

    monkeypatch.setattr(lookup, "read_result", boastful)
    known.run()
    known.button(key="verify").click().run()
    assert "Refused" in sentence(known) and "is proved" in sentence(known) and not known.success


def test_a_large_check_runs_in_the_background(known, monkeypatch, address, settled):
    monkeypatch.setattr(proofs, "QUICK", 0.0)
    known.button(key="verify").click().run()
    settled(known, lambda page: page.success)
    assert "Checked in" in known.success[0].value and not known.error
    assert any(run.function == "check" for run in engine().store.list_runs(address(known)["w"]))


def scaled(certificate: nspca.Certificate, factor: float) -> nspca.Certificate:
    return replace(certificate, upper=factor * certificate.upper)


def test_a_cancelled_proof_gives_what_was_proved(digits, monkeypatch):
    X, result = digits
    proved = scaled(result.certificate, 1.01)

    def certify(problem, known, effort, report):
        report(Event("dual", upper=proved.upper))
        stop = Cancelled("stop")
        stop.best = proved
        raise stop

    monkeypatch.setattr("nspca.specs.optimum.certify", certify)
    spec = OptimumSpec(k=6, effort="thorough", seconds=0)
    with pytest.raises(Cancelled) as stopped:  # so nobody else who asks the same gets it as the whole answer
        spec.run(X=X, component=result.components[:, 0])
    kept = stopped.value.result.certificate
    assert kept.upper == proved.upper and nspca.verify(X, kept) <= kept.upper


def test_the_gap_only_closes(digits):
    heard = []
    closing = Closing(heard.append, 1.0)
    for upper in (None, 3.0, 5.0, 2.0):
        closing(Event("dual", upper=upper))
    assert [event.payload["row"]["upper"] for event in heard if "row" in event.payload] == [3.0, 2.0]
    assert [event.upper for event in heard] == [None, 3.0, 3.0, 2.0]


def test_the_next_effort_says_so_before_its_first_bound():
    heard = []
    closing = Closing(heard.append, 1.0)
    closing.begin("standard")
    assert not heard, "there is no bound yet"
    closing(Event("dual", upper=3.0))
    closing.begin("thorough")
    rows = [event.payload["row"] for event in heard]
    assert [(row["effort"], row["lower"], row["upper"]) for row in rows] == [
        ("standard", 1.0, 3.0),
        ("thorough", 1.0, 3.0),
    ]
    assert heard[-1].upper == 3.0


def test_the_bounds_beside_ours_are_those_of_the_same_problem(digits):
    X, _ = digits
    spec = SweepSpec(ks=(6, 8), methods=("auto", "tpower"), nonneg=False, center=False, seed=3)
    heard = []
    sweep = spec.run(heard.append, X=X)
    problem = nspca.Problem.from_data(X, k=6, nonneg=False, center=False)
    paper, probability = paper_bounds(problem, [6, 8], seed=3)
    for (method, k), result in sweep.results.items():
        exact = rank3_bound(problem.with_k(k))
        # Up to rounding: which eigenvectors were computed before, and together with how many others, is part
        # of a last digit.
        assert [result.info[name] for name in OTHERS] == pytest.approx(
            [exact, paper[k], probability], rel=1e-12
        )
        row = next(
            e.payload["row"]
            for e in heard
            if e.payload.get("row", {}).get("method") == method and e.payload["row"]["k"] == k
        )
        assert [row[name] for name in OTHERS] == [result.info[name] for name in OTHERS]


def test_a_check_is_json(digits):
    X, result = digits
    check = lambda X, content, **other: CheckSpec(k=6, **other).run(X=X, certificate=content)  # noqa: E731
    said = check(X, result.certificate.to_bytes())
    assert (
        said["upper"] == nspca.verify(X, result.certificate) and not said["refusal"] and said["seconds"] >= 0
    )
    assert "digests differ" in check(X + 1.0, result.certificate.to_bytes())["refusal"]
    assert "asked for was False" in check(X, result.certificate.to_bytes(), nonneg=False)["refusal"]
    assert check(X, b"nonsense")["refusal"]


def test_the_switch_shows_the_paper_s_bound(known, alts, address, texts):
    others, band = (
        {"2014 paper's bound", "rank-3 bound, its exact form (proved)"},
        "the optimum is in here (proved)",
    )
    ours = alts(known)[0]
    assert band in names(known) and not others & set(names(known))
    assert "holds for all k together" not in texts(known)
    known.segmented_control(key="widget_bound").set_value("both").run()
    assert others | {band} <= set(names(known)) and alts(known)[0] == ours
    assert "holds for all k together with probability at least 98." in texts(known)
    known.segmented_control(key="widget_bound").set_value("paper").run()
    assert others <= set(names(known)) and band not in names(known) and alts(known)[0] != ours
    assert address(known)["bound"] == "paper" and not known.error


@pytest.mark.visit
def test_a_curve_of_other_preparations_says_which(visit, ran, address, done):
    where = address(done) | {"before": address(done)["run"]}
    page = ran(PAGE, **where, drop=1, log=1)
    assert "before: data as they are" in names(page) and not page.error
    page = visit(PAGE, **{**address(done), "before": address(page)["run"]})
    said = "before: without constant features, log2(x + 1)"
    assert said in names(page) and not page.error


@pytest.mark.visit
def test_what_takes_a_moment_runs_when_it_is_changed_and_the_curve_before_stays(
    done, finish, texts, address, monkeypatch
):
    first = address(done)["run"]
    monkeypatch.setattr(whatif, "MOMENT", 2.0)
    monkeypatch.setattr(form, "seconds", lambda *_: 60.0)
    done.segmented_control(key="widget_signed").set_value(True).run()
    assert address(done)["run"] == first and "60 seconds" in done.button(key="run").label
    done.segmented_control(key="widget_signed").set_value(False).run()
    monkeypatch.setattr(form, "seconds", lambda *_: 0.5)
    done.segmented_control(key="widget_signed").set_value(True).run()
    page = finish(done)
    second = address(page)["run"]
    assert second != first and address(page)["before"] == first
    assert "before: nonnegative" in names(page) and not page.error
    page.segmented_control(key="widget_signed").set_value(False).run()
    page = finish(page)
    assert (address(page)["run"], address(page)["before"]) == (first, second), (
        "what is known already is there at once"
    )


@pytest.fixture
def pitprops(visit, finish, monkeypatch):
    """Return a finished sweep of the pitprops, which is repeated at every change of its features."""
    page = visit(PAGE, sample="pitprops", from_=4, to=6)
    page.button(key="run").click().run()
    monkeypatch.setattr(whatif, "MOMENT", 2.0)
    monkeypatch.setattr(form, "seconds", lambda *_: 0.5)
    return finish(page)


def select(page, address, *features):
    """Select features in the table of the component, and return their names."""
    where, table = address(page), list(page.dataframe[-1].value["feature"])
    rows = [table.index(name) for name in features]
    key = f"table_{where['run']}_auto_{slider(page)['k']}"
    page.session_state[key] = {"selection": {"rows": rows, "columns": [], "cells": []}}
    return page.run()


def same_number(page, texts, capsys) -> float:
    """Test that the Python of the page finds the value that the page shows."""
    exec(snippet(page), {})
    value = float(capsys.readouterr().out.split()[0])
    assert f"a variance of {format_value(value)}" in texts(page)
    return value


@pytest.mark.visit
def test_what_if_some_features_were_one(pitprops, finish, texts, address, capsys):
    """Features are merged twice in a row, a group joins another, one is left out, and all is undone."""
    page = pitprops
    at_k(page, 6)
    first, table = address(page)["run"], list(page.dataframe[-1].value["feature"])
    page = select(page, address, *table[:1])
    assert page.button(key="without") and not {"one", "only"} & {button.key for button in page.button}
    page = select(page, address, *table[:2])
    page.button(key="one").click().run()
    page = finish(page)
    data = nspca.load_sample("pitprops")
    numbers = sorted(data.feature_names.index(name) for name in table[:2])
    assert address(page)["one"] == ",".join(map(str, numbers)) and address(page)["before"] == first
    assert not page.error and "before: all features" in names(page) and "2 features as one" in texts(page)
    at_k(page, 5)
    both = data.together(numbers)
    best = nspca.solve(nspca.Problem.from_covariance(both.X, 5), certify="standard")
    assert np.isclose(same_number(page, texts, capsys), best.value)
    page = select(page, address, " + ".join(data.feature_names[j] for j in numbers), table[3])
    page.button(key="one").click().run()
    page = finish(page)
    numbers = sorted([*numbers, data.feature_names.index(table[3])])
    assert address(page)["one"] == ",".join(map(str, numbers)) and "3 features as one" in texts(page)
    at_k(page, 4)
    same_number(page, texts, capsys)
    page.button(key="verify").click().run()
    assert "Checked in" in page.success[-1].value
    page = select(page, address, f"{data.feature_names[numbers[0]]} + 2 more")
    page.button(key="without").click().run()
    page = finish(page)
    assert address(page)["out"] == ",".join(map(str, numbers)) and "without 3 features" in texts(page)
    assert "as one" not in page.get("markdown")[0].value and not page.error
    page.button(key="all_again").click().run()
    page = finish(page)
    assert address(page)["run"] == first and not {"one", "out"} & set(address(page))


@pytest.mark.visit
def test_what_if_some_features_must_be_in(pitprops, finish, texts, address, capsys, monkeypatch):
    """Features are forced twice in a row, with a proof for this question alone, and all is undone."""
    page, data = pitprops, nspca.load_sample("pitprops")
    at_k(page, 6)
    first, table = address(page)["run"], list(page.dataframe[-1].value["feature"])
    page = select(page, address, *table[-2:])
    page.button(key="keep").click().run()
    page = finish(page)
    kept = sorted(data.feature_names.index(name) for name in table[-2:])
    assert address(page)["keep"] == ",".join(map(str, kept)) and address(page)["before"] == first
    assert "keeping 2 features" in texts(page) and "before: keeping none" in names(page) and not page.error
    page = select(page, address, *table[-2:])
    assert "keep" not in {button.key for button in page.button}, "they are kept already"
    page = select(page, address, table[0])
    page.button(key="without").click().run()
    page = finish(page)
    assert "without 1 feature, keeping 2 features" in texts(page)
    at_k(page, 4)
    left = data.without([table[0]])
    forced = [left.feature_names.index(name) for name in table[-2:]]
    problem = nspca.Problem.from_covariance(left.X, 4, forced=forced)
    best = nspca.solve(problem, certify="standard")
    assert np.isclose(same_number(page, texts, capsys), best.value)
    assert f"forced={problem.forced}" in snippet(page)
    assert "at most 4 features, the 2 kept among them, can explain more" in texts(page)
    page.button(key="verify").click().run()
    assert "and at most 2 more explains more than" in page.success[-1].value
    run = engine().store.open_run(address(page)["w"], address(page)["run"])
    asked = spec_of(run)
    assert asked.forced == problem.forced and (asked.keep or asked.forced) == tuple(kept)
    plain = asked.but(forced=(), keep=())
    with monkeypatch.context() as patch:
        patch.setattr(proofs.state, "get", lambda name: address(page)["w"] if name == "w" else None)
        patch.setattr(proofs.state, "workspace", lambda: address(page)["w"])
        of = Chosen(left, asked.data, asked.content)
        proofs.search(SimpleNamespace(of=of, asked=asked, k=4, shown=best), best.certificate)
        wait_for(lambda: proofs.attempts(asked)[0].now.ended)
        (attempt,) = proofs.attempts(asked)
        assert attempt.certificate.forced == problem.forced and proofs.attempts(plain) == []
    page.button(key="all_again").click().run()
    assert not {"keep", "out"} & set(address(page)) and not page.error


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"keep": "3,7"}, "keeping 2 features"),
        ({"keep": "3,7", "out": "7"}, "without 1 feature, keeping 1 feature"),
        ({"keep": "3,7", "one": "3,7"}, "2 features as one, keeping 1 feature"),
        ({"keep": "3,99"}, "keeping 1 feature"),
        ({"keep": "99"}, "How many features are enough?"),
        ({"keep": "3,7", "from": "1"}, "k counts the 2 features that are kept, so it goes from 2, got 1"),
    ],
)
def test_features_that_are_kept_are_read_from_the_address(visit, texts, given, said):
    page = visit(PAGE, sample="pitprops", **given)
    assert not page.exception and said in texts(page)
    assert ("keeping" in texts(page)) == (given["keep"] != "99")
    if "from" not in given and said.startswith("keeping 2"):
        assert page.number_input(key="widget_from").value == 2
        offered = page.multiselect(key="widget_methods").options
        assert "greedy" in offered and "em" not in offered


def test_pixels_are_not_offered_as_one(known, address):
    page = known
    page = select(page, address, *list(page.dataframe[-1].value["feature"])[:2])
    assert page.button(key="only") and "one" not in {button.key for button in page.button}


@pytest.mark.parametrize(
    "changes",
    [
        {"one": "0,1~5,6,7", "out": "2"},
        {"one": "0,1,2~5,6", "out": "1,6"},
        {"one": "2,3~5,6", "only": "1,3,5,6,7"},
        {"one": "1,3", "log": "1"},
        {"one": "1,3~6,7", "log": "1", "drop": "1"},
    ],
)
def test_python_puts_the_same_features_together(visit, changes, monkeypatch, tmp_path):
    """Exported Python merges the same features after others, and a constant one, were left out."""
    X = np.abs(np.random.default_rng(2).standard_normal((9, 9))).round(3)
    X[:, 7] = 1.0
    made = Dataset("made", X, tuple("abcdefghi"), tuple(map(str, range(9))))
    np.savez(tmp_path / "made.npz", X=X, feature_names=np.array(made.feature_names))
    monkeypatch.setattr(chosen_data, "load_sample", lambda name: made)
    monkeypatch.setattr(chosen_data, "version", lambda name: f"{changes}")
    state = {"w": None, **{name: value.default() for name, value in VALUES.items()}}
    state |= {name: VALUES[name].read(text) for name, text in changes.items()}
    monkeypatch.setattr(chosen_data.state, "get", state.get)
    of = find(chosen_data.reference(), None)
    assert find(of.reference, None).content == of.content
    named: dict = {}
    there = of.reference.but(sample=None, path=str(tmp_path / "made.npz"))
    exec("\n".join(["import nspca", *there.to_python()]), named)
    assert tuple(named["names"]) == of.dataset.feature_names
    assert np.allclose(named["X"], of.dataset.X, rtol=1e-15)
    assert list(map(len, chosen_data.members(of))) == [
        1 + name.count(" + ") + ("more" in name) * (int(name.split()[-2]) - 1 if "more" in name else 0)
        for name in of.dataset.feature_names
    ]


@pytest.mark.visit
def test_a_long_run_is_neither_replaced_nor_given_up_by_a_change(visit, finish, address, monkeypatch):
    monkeypatch.setattr(whatif, "MOMENT", 2.0)
    monkeypatch.setattr(form, "seconds", lambda of, asked: 60.0 if asked.effort == "thorough" else 0.1)
    page = visit(PAGE, **SHORT, effort="thorough")
    page.button(key="run").click().run()
    first = address(page)["run"]
    assert not engine().status(first).ended, "it takes some seconds"
    page.selectbox(key="widget_effort").set_value("fast").run()
    assert address(page)["run"] == first
    page.button(key="run").click().run()
    assert address(page)["run"] != first and engine().status(first).state != "cancelled"
    engine().cancel(first)
    finish(page)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"out": "999999"}, "All features are there again"),
        ({"only": "3"}, "All features are there again"),
        ({"one": "3,999999"}, "All features are there again"),
        ({"one": "0,1,2,3,4,5,6,7,8,9,10,11,12"}, "All features are there again"),
        ({"only": "3,4,5", "out": "4"}, "only 2 features"),
        ({"out": "x", "before": "nothing"}, "How many features are enough?"),
    ],
)
def test_features_of_another_table_are_forgotten(visit, texts, address, given, said):
    page = visit(PAGE, sample="pitprops", **given)
    assert not page.error and not page.exception
    assert said in texts(page) + "".join(each.value for each in page.warning)
    assert ("out" in address(page)) == ("only 2" in said) and "one" not in address(page)


def test_how_long_a_sweep_takes_is_guessed_from_its_size():
    about = Chosen(nspca.load_sample("pitprops"), DataSpec(sample="pitprops"), "nothing was run of this")
    asked = SweepSpec(data=about.spec, ks=range(1, 11))
    assert form.seconds(about, asked) < 2 < form.seconds(about, asked.but(effort="thorough"))
    assert [times.roughly(s) for s in (0.2, 7, 44, 100, 6000)] == [
        "1 second",
        "7 seconds",
        "45 seconds",
        "2 minutes",
        "2 hours",
    ]


def test_what_is_different():
    one = SweepSpec(data=DataSpec(sample="digits", content="x"), ks=range(1, 10))
    assert differences(one, one.but(nonneg=False, scale=True)) == "not standardised, nonnegative"
    assert differences(one, one.but(ks=(1, 5))) == ""


def test_a_proof_is_no_sweep(done, visit, address, sentence):
    done.button(key="best").click().run()
    run = next(one for one in engine().store.list_runs(address(done)["w"]) if one.function == "optimum")
    engine().cancel(run.id)
    assert "is no sweep" in sentence(visit(PAGE, sample="digits", w=address(done)["w"], run=run.id))


def test_two_components_of_one_problem_share_their_proof(digits):
    """A bound is about the problem, so the rows of all methods get it."""
    _, result = digits
    other = replace(result, values=result.values * 0.9, certificate=scaled(result.certificate, 1.5))
    sweep = nspca.Sweep({("auto", 6): other, ("cone", 6): replace(other, values=result.values)})
    spec = OptimumSpec(data=DataSpec(sample="digits"), k=6)
    attempt = answers.Attempt("x", 6, JobState("x", "done"), result.certificate, spec)
    grown = {key: proofs.replaced(result, *key, [attempt]) for key, result in sweep.results.items()}
    table = answers.table(nspca.Sweep(grown))
    assert np.allclose(table["upper"], result.certificate.upper) and table["ratio"][
        1
    ] == result.certificate.ratio(result.value)
    assert table["ratio"][0] < table["ratio"][1]


def test_features_that_a_preparation_added_can_be_kept_and_left_out(visit, nspca_data, texts, address):
    page = visit("pages/sweep.py", sample="lrs", prep="with-header", keep="3,95", from_=2, to=4)
    assert not page.exception and not page.error and "keeping 2 features" in texts(page)
    page = visit("pages/sweep.py", sample="lrs", prep="with-header", out="95", one="94,96", from_=2, to=4)
    assert not page.exception and not page.error
    assert "without 1 feature, 2 features as one" in texts(page)
