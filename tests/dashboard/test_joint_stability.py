"""Parts and topics found again on rows drawn anew: the run, what is counted, and both pages."""

from dataclasses import asdict
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.dashboard.joint.methods import frequencies, frequency_table
from nspca.errors import InvalidProblem
from nspca.specs import StabilitySpec
from nspca.specs.rows import Redrawn, Refused
from nspca.specs.selection import redrawn

ASKED = StabilitySpec(k=(4, 4), methods=("joint",), resamples=3)


@pytest.fixture
def planted():
    """Return data with two groups of four features and noise, and their components."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 20)) / 10
    for j, strength in enumerate((3.0, 2.0)):
        X[:, 4 * j : 4 * j + 4] += strength * rng.standard_normal((60, 1))
    U = np.zeros((20, 2))
    U[:4, 0] = U[4:8, 1] = 0.5
    return X, U


def test_each_component_stands_beside_the_one_it_goes_with():
    X = np.eye(5)[:, :3]
    Y = np.column_stack([X[:, 2], (X[:, 0] + X[:, 1]) / np.sqrt(2), -X[:, 0]])
    row = redrawn("joint", Y, X)
    assert row.supports == [[0], [0, 1], [2]] and np.allclose(row.overlaps, [1, np.sqrt(0.5), 1])


def test_components_found_again_have_the_numbers_of_the_page(planted):
    """The one of two that explains more comes first."""
    _, U = planted
    result = nspca.Result(U, np.array([1.0, 2.0]), nspca.Status.HEURISTIC, "joint")
    data = SimpleNamespace(feature_names=tuple("abcdefghijklmnopqrst"))
    page = SimpleNamespace(
        nouns=SimpleNamespace(one="part"), of=SimpleNamespace(dataset=data),
        problem=SimpleNamespace(n=20), shown=result,
    )  # fmt: skip
    rows = [Redrawn("joint", supports=[[0, 1, 2, 3], [4, 5, 6, 7]], overlaps=[0.8, 0.9])]
    frame = frequency_table(page, rows).set_index("feature")
    assert "".join(frame.index[frame["part 1"] > 0]) == "efgh" and frame["part 2"].sum() == 4


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("method", ["joint", "tpower"])
def test_planted_components_come_up_in_every_draw(planted, method, scale):
    X, U = planted
    spec, told = ASKED.but(methods=(method,), scale=scale), []
    draws = spec.run(told.append, X=X, components=U[:, ::-1])[method]
    assert [draw["supports"] for draw in draws] == [[[4, 5, 6, 7], [0, 1, 2, 3]]] * 3
    assert min(min(draw["overlaps"]) for draw in draws) > 0.99
    rows = [event.payload["row"] for event in told if "row" in event.payload]
    assert [{name: row[name] for name in draws[0]} for row in rows] == draws
    again = spec.run(X=sp.csr_array(X), components=U[:, ::-1])[method]
    assert [draw["supports"] for draw in again] == [draw["supports"] for draw in draws]


def test_what_cannot_be_drawn_is_said(planted):
    X, U = planted
    flat = np.column_stack([X[:, :19], np.ones(60)])
    with pytest.raises(InvalidProblem, match="1 constant"):
        ASKED.but(scale=True).run(X=flat, components=U)


def test_a_far_mean_of_sparse_data_is_no_constant_column(planted):
    X, U = planted
    far = sp.csr_array(X + 1e7)
    draws = ASKED.but(scale=True).run(X=far, components=U)["joint"]
    assert all(draw["supports"] == [[0, 1, 2, 3], [4, 5, 6, 7]] for draw in draws)


def test_frequencies_are_counted_over_the_draws():
    rows = [
        Redrawn("joint", [[0, 1], [2]], [1.0, 0.5]),
        Refused("x", "no"),
        Redrawn("joint", [[0], [3]], [0.5, 0.0]),
    ]
    F, overlaps = frequencies(rows, 4)
    assert np.array_equal(F, [[1, 0], [0.5, 0], [0, 0.5], [0, 0.5]]) and overlaps == [0.75, 0.25]
    F, overlaps = frequencies([], 4)
    assert F.shape == (4, 0) and overlaps == []
    assert asdict(rows[0]) == vars(rows[0])


@pytest.mark.visit
@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("pages/components.py", {"sample": "digits", "r": 2, "size": 6, "by": "tpower", "proof": "none"}),
        ("pages/components.py", {"sample": "coffee", "r": 2, "size": 5, "by": "tpower", "proof": "none"}),
    ],
)
def test_the_question_below_a_finished_run(visit, ended, texts, alts, address, path, asked):
    page = visit(path, **asked, look="again")
    page.button(key="run").click().run()
    page = ended(page)
    page.button(key="stability").click().run()
    page = ended(page)
    assert not page.error and not page.exception
    assert "are there again." in texts(page) and "counted, on average" in texts(page)
    if asked["sample"] == "digits":
        assert sum("2 components by tpower as 8 × 8 images" in alt for alt in alts(page)) == 2
    before = texts(page)
    page = visit(path, **address(page))
    assert texts(page) == before, "it is found again by the address of what it is about"
