"""A search until several components are proved optimal is started, watched, cancelled, resumed and ended."""

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import nspca
from nspca.bounds.fixing.fates import hexed
from nspca.dashboard.joint import page as joint_proof
from nspca.dashboard.proof import attempts as proofs
from nspca.dashboard.proof import optimal
from nspca.dashboard.runs.answer import Attempt, in_order
from nspca.jobs import JobState
from nspca.progress import Event
from nspca.specs import ComponentsSpec, DataSpec, OptimumSpec
from nspca.specs.optimum import SECONDS, Standing

PAGE = "pages/components.py"
EASY = {"sample": "digits", "r": 2, "size": 4, "by": "joint", "proof": "fast"}
HARD = {"sample": "digits", "r": 4, "size": 8, "by": "joint", "proof": "fast", "signed": 1}
WORDS = {"sample": "pitprops", "r": 2, "size": 3, "by": "joint", "proof": "fast"}


@pytest.fixture
def start(ran):
    """Return a page after its run has ended."""
    return lambda **values: ran(PAGE, **values)


def attempt(shape, k, state, seconds, of, **masks):
    """Return a search that has ended, with its last report."""
    payload = {"open": 5, "nodes": 70, **{name: hexed(mask) for name, mask in masks.items()}}
    event = Event("proving the optimum", lower=1.0, upper=2.0, payload=payload)
    now = JobState("a", state, started=100.0, finished=100.0 + seconds, event=event)
    return Attempt("a", k, now, None, OptimumSpec(**of.about_problem(), k=k, method="joint"))


@pytest.mark.visit
@pytest.mark.parametrize(
    ("state", "seconds", "goes_on"), [("done", SECONDS, True), ("done", 20, False), ("cancelled", 10, True)]
)
def test_what_was_not_reached_is_said_and_names_have_marks(
    start, texts, monkeypatch, state, seconds, goes_on
):
    page = start(**WORDS)
    certain, possible = np.zeros((13, 2), bool), np.zeros((13, 2), bool)
    certain[0], possible[:4] = (True, False), True
    of = ComponentsSpec(data=DataSpec(sample="pitprops", covariance=True), sizes=(3, 3))
    problem = nspca.Problem.from_covariance(nspca.load_sample("pitprops").X, (3, 3))
    proof = nspca.solve(problem, "joint", certify="fast").certificate
    one = attempt((13, 2), (3, 3), state, seconds, of, certain=certain, possible=possible)
    one = replace(one, certificate=proof)
    monkeypatch.setattr(proofs, "attempts", lambda asked: [one])
    page = page.run()
    assert not page.exception and not page.error and (optimal.CANNOT in texts(page)) is not goes_on
    assert bool([button for button in page.button if button.key == "best"]) is goes_on
    drawn = "".join(part.proto.body for part in page.get("html"))
    assert "1 certain, 3 undecided" in drawn and "0 certain, 4 undecided" in drawn and "✓ topdiam" in drawn
    assert "18 of the 26 pairs of a feature and a component are ruled out." in texts(page)


@pytest.mark.visit
def test_the_line_says_what_a_search_has_proved_so_far(start, texts, monkeypatch):
    page = start(**WORDS)
    before = re.search(r"No other 2 lists explain ([\d.]+) % more: proved\.", texts(page))
    X = nspca.load_sample("pitprops").X
    problem = nspca.Problem.from_covariance(X, (3, 3))
    value = nspca.solve(problem, "joint", certify=None).value
    of = ComponentsSpec(data=DataSpec(sample="pitprops", covariance=True), sizes=(3, 3))
    one = attempt((13, 2), (3, 3), "running", 1, of)
    now = replace(one.now, event=Event("proving the optimum", lower=value, upper=value * 1.0001))
    now = replace(now, finished=None)
    monkeypatch.setattr(proofs, "attempts", lambda asked: [replace(one, now=now)])
    for module in ("joint.page", "proof.optimal"):
        monkeypatch.setattr(
            f"nspca.dashboard.{module}.engine", lambda: SimpleNamespace(status=lambda run: now)
        )
    page = page.run()
    assert not page.exception and not page.error
    said = " ".join(one.value for one in page.markdown if one.value.startswith("## "))
    assert before is not None and "2 lists of 3 features" in said and "proved" not in said
    assert "at least 99.99 % of the best, still rising" in texts(page), "the limit stands in one line alone"


def test_components_keep_their_place_in_the_pictures():
    X = np.zeros((6, 3))
    X[[0, 1], 0] = X[[2, 3], 1] = X[4, 2] = 1.0
    possible = np.zeros((6, 3), bool)
    possible[:, 2], possible[[2, 3], 0], possible[[0, 1], 1] = True, True, True
    standing = Standing(np.zeros((6, 3), bool), possible, 1, 1)
    result = nspca.Result(X, np.array([2.0, 1.0, 0.5]), nspca.Status.HEURISTIC, "joint")
    assert np.array_equal(joint_proof.numbered(standing, result, (2, 2, 1)).possible, possible[:, [1, 0, 2]])
    same = Standing(np.zeros((6, 3), bool), np.ones((6, 3), bool), 1, 1)
    assert joint_proof.numbered(same, result, (2, 2, 1)).possible.all()
    other = replace(result, values=np.array([1.0, 2.0, 0.5]))
    assert np.array_equal(joint_proof.numbered(standing, other, (2, 2, 1)).possible, possible)
    shown = in_order(other)
    assert shown.values.tolist() == [2.0, 1.0, 0.5] and shown.components[2, 0] == 1.0


@pytest.fixture(scope="module")
def poor():
    """Return a result with poor parts, and the search that found better ones."""
    X = nspca.load_sample("digits").X
    spec = OptimumSpec(data=DataSpec(sample="digits"), k=(1, 1), method="joint")
    problem = spec.problem(X)
    worse = nspca.Result.of(problem, np.eye(64)[:, [20, 30]], nspca.Status.HEURISTIC, "joint")
    found = spec.run(X=X, component=worse.components)
    return worse, Attempt("a", (1, 1), JobState("a", "done"), found.certificate, spec, found)


def test_better_components_take_the_place_of_the_first_ones(poor):
    worse, one = poor
    result = proofs.replaced(worse, "joint", (1, 1), [one])
    assert result.value == one.answer.value > worse.value == result.info["before"]
    for other in (
        replace(one, k=(1, 2)),
        replace(one, answer=None),
        replace(one, spec=one.spec.but(method="em")),
    ):
        found = proofs.replaced(worse, "joint", (1, 1), [other])
        assert np.array_equal(found.components, worse.components)
    assert proofs.replaced(worse, "joint", (2, 1), [one]) is worse
