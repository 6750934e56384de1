"""Spannogram: both views, what they show against independent computations, and the address."""

import json
import re

import numpy as np
import pytest

import nspca
from nspca.dashboard import open_data, spannogram
from nspca.dashboard.components import cone_replay
from nspca.dashboard.runs import first_answer
from nspca.dashboard.runs.answer import Answer
from nspca.lowrank.spannogram import exact_rank_d
from nspca.specs import DataSpec, SweepSpec

PAGE = "pages/spannogram.py"
VIEWS = ("curves", "sphere")


def matrix(seed: int, n: int = 9, d: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize(
    ("view", "sample", "signed"),
    [
        *((view, "pitprops", 0) for view in VIEWS),
        *(pytest.param(view, "digits", 1, marks=pytest.mark.visit) for view in VIEWS),
        *(pytest.param(view, "all-aml", 0, marks=pytest.mark.visit) for view in VIEWS),
    ],
)
def test_every_view_of_every_kind(visit, texts, alts, view, sample, signed):
    page = visit(PAGE, sample=sample, view=view, signed=signed)
    assert not page.exception and not page.error, [error.value for error in page.error]
    assert texts(page).count("\n1. ") + texts(page).startswith("1. ") == 1 and "\n3. " in texts(page), (
        "three lines of teaching"
    )
    assert "\\max_" in texts(page), "and their formula"
    assert all(alts(page))


def test_the_address_opens_the_same_again(visit, address, texts):
    page = visit(PAGE, sample="digits", view="curves", k=7, phi=-31.5)
    assert page.slider(key="widget_k").value == 7 and "sets of 7 pixels have to be checked" in texts(page)
    again = visit(PAGE, **address(page))
    assert texts(again) == texts(page)
    assert {"view": "curves", "k": "7", "phi": "-31.5"}.items() <= {
        "view": "curves",
        **address(again),
    }.items()


@pytest.mark.parametrize("view", ["", "sphere", "ranks", "nowhere"])
def test_an_address_somebody_edited(visit, view):
    for wrong in ({"phi": "900", "k": 0}, {"phi": "nan", "k": 99999, "tol": 77}):
        page = visit(PAGE, sample="pitprops", view=view, **wrong)
        assert not page.exception and not page.error


def test_k_moves_the_component_and_the_address(visit, address, texts):
    page = visit(PAGE, sample="digits")
    page.slider(key="widget_k").set_value(3).run()
    assert address(page)["k"] == "3" and "these 3 pixels are" in texts(page)


def asked_of(sample: str, k: int, nonneg: bool = True) -> Answer:
    """Return the problem of the page with its question."""
    data = open_data.find(DataSpec(sample=sample), None)
    asked = SweepSpec(data=data.spec, ks=(k,), nonneg=nonneg)
    return spannogram.subject(data, asked)


def percentages(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"([\d.]+) %", text)]


@pytest.mark.parametrize("nonneg", [True, False])
def test_the_sentence_at_the_top_holds(nonneg):
    of = asked_of("digits", 10, nonneg)
    found = spannogram.rank2(of)
    result = nspca.solve(of.problem)
    certificate = nspca.certify(of.problem, result, effort="fast")
    for known in (spannogram.find_limit(of), spannogram.Limit(certificate.upper, False)):
        said = spannogram.how_good(of, known)
        (guarantee,) = percentages(said)
        assert "In all directions these 10 pixels are at least " in said
        assert " of the best possible, proved" in said and known.upper >= result.value
        assert 0 <= 100 * spannogram._value(of) / known.upper - guarantee < 0.1
        assert ("a quick limit: Sweep proves a tighter one" in said) == known.is_quick
    sets = f"Only {found.sets} of 151 billion sets of 10 pixels have to be checked."
    assert spannogram.answer(of) == sets
    assert not any("%" in step for step in spannogram.steps(of.problem, "pixel")), "one limit on the page"


def test_the_sentence_at_an_optimum_and_without_a_limit():
    of = asked_of("digits", 10)
    unit = of.problem.leading_eigenvalue
    best, none = spannogram.Limit(spannogram._value(of), False), spannogram.Limit(1.01 * unit, True)
    assert spannogram.how_good(of, best).endswith("are the best possible, proved up to rounding.")
    again = spannogram.Limit(best.upper, True, "a run")
    assert spannogram.how_good(of, again) == spannogram.how_good(of, best), "no limit is tighter than this"
    said = spannogram.how_good(of, none)
    assert said == "How good these 10 pixels are in all directions is not proved yet."
    one = asked_of("digits", 1)
    rough = spannogram.Limit(0.8999 * one.problem.leading_eigenvalue, True, "a run")
    said = spannogram.how_good(one, rough)
    assert "this pixel is at least " in said and said.endswith("a tighter limit is on its way.")


def test_the_limit_is_that_of_sweep(visit, settled, finish, address, texts, monkeypatch):
    """The page proves the limit by the run that Sweep makes, and takes a limit that Sweep has proved."""
    page = visit(PAGE, sample="pitprops", k=5)
    assert "quick limit: Sweep proves" in texts(page)
    sweep = visit("pages/sweep.py", sample="pitprops", from_=5, to=5)
    sweep.button(key="run").click().run()
    sweep = finish(sweep)
    proved = nspca.Problem.from_covariance(nspca.load_sample("pitprops").X, k=5)
    upper = nspca.sweep(proved, [5])["auto", 5].certificate.upper
    own = texts(visit(PAGE, sample="pitprops", k=5, w=address(sweep)["w"]))
    assert "quick limit" not in own
    monkeypatch.setattr(first_answer, "LARGEST", 10**6)
    page = settled(visit(PAGE, sample="pitprops", k=5), lambda page: "on its way" not in texts(page))
    assert "quick limit" not in texts(page)
    line = next(line for line in own.splitlines() if line.startswith("In all directions"))
    assert line in texts(page)
    x = nspca.sweep(proved, [5])["auto", 5].value
    assert 0 <= 100 * x / upper - percentages(line)[0] < 0.2 or "the best possible" in line


@pytest.mark.parametrize(
    ("count", "said"), [(47, "47"), (12582, "12,582"), (151473214816, "151 billion"), (10**18, "1.0 × 10¹⁸")]
)
def test_counts_as_people_say_them(count, said):
    assert spannogram.count_in_words(count) == said


def test_nothing_heavy_starts_unasked(visit, texts, monkeypatch):
    monkeypatch.setattr("nspca.dashboard.spannogram.heavy", lambda data: True)
    page = visit(PAGE, sample="pitprops")
    assert "$$" not in texts(page) and not page.error
    page.button(key="compute").click().run()
    assert (
        "$$" in texts(page)
        and not page.error
        and not [button for button in page.button if button.key == "compute"]
    )


@pytest.mark.parametrize("nonneg", [True, False])
@pytest.mark.parametrize("k", [1, 3, 9])
def test_the_star_is_the_exact_optimum(nonneg, k):
    V = matrix(2, 9, 2)
    bands, (phi, sign) = spannogram._exact(V, k, nonneg)
    value = exact_rank_d(V, k, nonneg).value
    assert len(bands) == (2 if nonneg else 1)
    at = sign * (V @ [np.sin(phi), np.cos(phi)])
    top = np.sort(np.maximum(at, 0) if nonneg else np.abs(at))[-k:]
    assert (top**2).sum() == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("nonneg", [True, False])
def test_a_replay_covers_the_sphere_and_its_bounds_close(nonneg):
    V, k, tol = matrix(3, 30), 5, 1e-4
    went = cone_replay.record(V, k, nonneg, tol)
    rng = np.random.default_rng(0)
    directions = rng.normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    at = directions @ V.T
    f = (np.sort(np.maximum(at, 0) if nonneg else np.abs(at), axis=1)[:, -k:] ** 2).sum(axis=1)
    steps = len(went.lower)
    for step in {0, 1, steps // 3, steps - 1}:
        alive = np.flatnonzero((went.born <= step) & ((went.cut < 0) | (went.cut > step)))
        inside = np.array(
            [(directions @ np.linalg.inv(went.generators[i]) >= -1e-9).all(axis=1) for i in alive]
        )
        covered = (
            inside
            if nonneg
            else inside
            | np.array(
                [(-directions @ np.linalg.inv(went.generators[i]) >= -1e-9).all(axis=1) for i in alive]
            )
        )
        assert covered.any(axis=0).all()
        assert (np.where(covered, f, 0).max(axis=1) <= went.bounds[alive] * (1 + 1e-12)).all()
    assert (np.diff(went.upper) <= 0).all() and (np.diff(went.lower) >= 0).all()
    assert went.upper[-1] == went.cover.upper and went.lower[-1] == went.cover.lower
    assert went.upper[-1] <= (1 + tol) * went.lower[-1] * (1 + 1e-12) and len(went.born) == went.cover.cones
    assert (
        went.lower[-1] <= exact_rank_d(V[:, :], k, nonneg).value * (1 + 1e-12) <= went.upper[-1] * (1 + 1e-12)
    )


def test_a_replay_of_rank_two_and_of_equal_rows():
    for V in (np.pad(matrix(4, 8, 2), ((0, 0), (0, 1))), np.ones((4, 3)), np.repeat(matrix(5, 3), 3, axis=0)):
        went = cone_replay.record(V, 2, True, 1e-3)
        assert went.cover.finished and went.upper[-1] >= exact_rank_d(V, 2).value * (1 - 1e-12)


def test_what_the_browser_gets_is_plain_and_in_per_cent():
    from nspca.plots.sphere import globe

    V = matrix(6, 20)
    data = cone_replay.replay_data(
        cone_replay.record(V, 4, True, 1e-3), globe(V, 4, resolution=20), 10.0, 1e-3
    )
    assert json.loads(json.dumps(data)) == data
    assert data["lower"][-1] == pytest.approx(10 * exact_rank_d(V, 4).value, rel=2e-3)
    for name in ("map", "sphere"):
        traces = [trace.get("name") for trace in json.loads(data["figures"][name])["data"]]
        assert {data["names"][kind] for kind in ("open", "leaf", "discarded")} | {"best found"} <= set(traces)


def test_a_table_has_no_more_directions_than_rows():
    X = np.random.default_rng(0).normal(size=(5, 30))
    wide, tall = (nspca.Problem.from_data(data, k=3) for data in (X, X.T))
    assert "The data have at most 3 more directions." in spannogram.steps(wide, "feature")[2]
    assert "The data have 3 more directions." in spannogram.steps(tall, "feature")[2]
