"""The preview of the page Sweep, shown before a visitor asks for a sweep."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

import nspca
from nspca.dashboard.runs import defaults
from nspca.dashboard.runs.lookup import Watched
from nspca.dashboard.runs.sweeps import finer, usual
from nspca.dashboard.runs.tasks import spec_of
from nspca.dashboard.sweep import preview
from nspca.dashboard.sweep.page import PREVIEW, ROUGH, SweepPage, _preview
from nspca.errors import JobError
from nspca.jobs import JobState, engine
from nspca.specs import DataSpec, SweepSpec
from nspca.specs.preview import FEW, MANY, METHOD
from tests.dashboard.figures import at_k

PAGE = "pages/sweep.py"


@pytest.fixture
def arrive(visit, settled):
    """Open the page, and come back when the workers have started and the preview is there."""

    def open_page(**address):
        return settled(visit(PAGE, **address), lambda page: page.select_slider)

    return open_page


def test_the_page_opens_with_a_curve_a_component_and_an_answer(arrive, texts, alts):
    page = arrive(sample="pitprops")
    assert not page.exception and not page.error
    assert any("7 values of k from 1 to 13" in alt for alt in alts(page)) and "## Preview: " in texts(page)
    assert "show in the main direction" in texts(page)
    assert set(page.query_params) <= {"sample"}, "it is nobody's run, and the address stays as it was"
    at_k(page, 2)
    assert "2 features are the best 2" in texts(page) or ("2 features keep" in texts(page) and not page.error)


@pytest.mark.visit
def test_genes_are_a_heat_map_of_samples_sorted_by_score_with_what_the_labels_say(
    arrive, stand_ins, alts, texts
):
    page = arrive(sample="all-aml", k=5)
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


@pytest.mark.parametrize("nonneg", [True, False])
def test_every_bound_of_it_with_features_that_must_be_in_is_about_these(nonneg):
    X, forced = nspca.load_sample("pitprops").X, (11, 12)
    data = DataSpec(covariance=True)
    sweep = SweepSpec(draft=True, data=data, ks=(2, 3, 6), nonneg=nonneg, forced=forced).run(X=X)
    for (_, k), result in sweep.results.items():
        problem = nspca.Problem.from_covariance(X, k, nonneg, forced)
        assert problem.violation(result.components[:, 0]) <= 1e-12
        assert nspca.solve(problem).value <= nspca.verify(X, result.certificate, problem) * (1 + 1e-12)


def test_it_is_made_once_for_everybody_and_is_nobody_s(arrive, address):
    pages = [arrive(sample="pitprops", signed=1, to=9) for _ in range(2)]
    store = engine().store
    previews = [run for run in store.list_runs(defaults.EVERYBODY) if '"draft"' in run.parameters]
    kept = [spec_of(run) for run in previews]
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
    monkeypatch.setattr(defaults, "LARGEST", 100)
    page = visit(PAGE, sample="pitprops")
    assert "Nothing has run yet" in texts(page) and page.button(key="run") and not page.error


@pytest.mark.visit
def test_the_run_is_finer_where_the_preview_saw_the_bend(arrive, address):
    page = arrive(sample="digits")
    page.button(key="run").click().run()
    request = json.loads(engine().store.find_run(address(page)["run"]).parameters)["spec"]
    assert set(usual(1, 64)) < set(request["ks"]) and {8, 9, 11, 12, 13, 14} <= set(request["ks"])


@pytest.mark.parametrize(
    ("ks", "low", "high", "expected"),
    [
        ((1, 5, 9), 5, 9, (1, 5, 6, 7, 8, 9)),
        ((1, 2), 1, 2, (1, 2)),
        ((10, 100), 10, 100, (10, 20, 30, 40, 50, 60, 70, 80, 90, 100)),
    ],
)
def test_finer_values(ks, low, high, expected):
    assert finer(ks, low, high) == expected


@pytest.mark.parametrize("nonneg", [True, False])
def test_every_bound_of_it_is_one_that_the_checker_takes(nonneg):
    X = nspca.load_sample("digits").X
    sweep = SweepSpec(draft=True, ks=(1, 4, 20, 64), nonneg=nonneg).run(X=X)
    problem = nspca.Problem.from_data(X, k=1, nonneg=nonneg)
    for (_, k), result in sweep.results.items():
        upper = nspca.verify(X, result.certificate, k=k, nonneg=nonneg)
        assert result.value <= upper <= result.certificate.upper * (1 + 1e-12)
        assert (
            np.isclose(result.value, problem.value(result.components[:, 0]))
            and np.count_nonzero(result.components) <= k
        )
        assert result.ratio > 0.95, "a small table has the proofs of a sweep"
        assert result.info["upper_epsnet"] > result.value * 0.99
    assert len({result.certificate.kind for result in sweep.results.values()}) > 1


def test_of_very_many_features_there_are_few_values_of_k_and_no_factorisation():
    X = np.random.default_rng(0).standard_normal((1001, 1)) * np.ones(MANY + 1)
    sweep = SweepSpec(draft=True, ks=usual(1, 100)).run(X=X[:8])
    ks = [k for _, k in sweep]
    assert len(ks) == FEW and (ks[0], ks[-1]) == (1, 100) and sweep[METHOD, 100].ratio > 0.999
    sweep = SweepSpec(draft=True, ks=(3,)).run(X=X[:, :1002])
    assert sweep[METHOD, 3].certificate.form == "diagonal"


@pytest.mark.parametrize(("share", "words"), [(0.8, ROUGH), (0.96, PREVIEW), (1.0, PREVIEW), (None, ROUGH)])
def test_a_limit_is_called_rough_only_when_it_is(share, words):
    assert _preview(SimpleNamespace(ratio=share)) == words


@pytest.mark.parametrize("end", ["done", "failed", "gone"])
def test_beside_a_run_it_is_looked_for_once_and_its_state_asked_for_until_it_ends(monkeypatch, end):
    looked, asked, run = [], [], SimpleNamespace(id="run", of="data", asked="question")

    def look(of, question):
        looked.append((of, question))
        return Watched("its run", of, question, JobState("its run", "queued"), own=False)

    def status(run_id):
        asked.append(run_id)
        if len(asked) > 1 and end == "gone":
            raise JobError("There is no run with this address here.")
        return JobState(run_id, end if len(asked) > 1 else "running")

    monkeypatch.setattr(preview, "look", look)
    monkeypatch.setattr(preview, "engine", lambda: SimpleNamespace(status=status))
    page = SweepPage()
    seen = [page._ghost(run) for _ in range(5)]
    states = [None if one is None else one.now.state for one in seen]
    assert states == ["running", *[None if end == "gone" else end] * 4]
    assert looked == [("data", "question")] and asked == ["its run"] * 2
