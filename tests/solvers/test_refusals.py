"""Refusals of methods: their lines of METHODS refuse before any computation, in the words of `solve`."""

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.errors import InvalidOption, InvalidProblem, Refused
from nspca.solvers import METHODS, baselines
from nspca.solving import line_of

NAMES = ["auto", *METHODS]
X = np.random.default_rng(0).poisson(1.0, (9, 7)).astype(float)
SOURCES = {
    "dense": lambda k, nonneg: nspca.Problem.from_data(X, k, nonneg),
    "sparse": lambda k, nonneg: nspca.Problem.from_data(sp.csr_array(X), k, nonneg, center=False),
    "sparse, centred": lambda k, nonneg: nspca.Problem.from_data(sp.csr_array(X), k, nonneg),
    "covariance": lambda k, nonneg: nspca.Problem.from_covariance(X.T @ X, k, nonneg),
}


def said(problem, method, **options):
    """Return the sentence with which `solve` refuses a problem; None when it solves the problem."""
    try:
        nspca.solve(problem, method, certify=None, **options)
    except (InvalidOption, InvalidProblem, Refused) as error:
        return str(error)
    return None


def foretold(problem, method, **options):
    line = line_of(method)
    return line.refusal(problem, line.Options(**options)) if options else line.refusal(problem)


@pytest.mark.parametrize(
    ("source", "k"),
    [
        ("dense", 3),
        ("dense", (3, 2)),
        ("sparse", 3),
        ("covariance", 3),
        ("sparse, centred", 3),
        ("dense", (2,)),
    ],
    ids=str,
)
@pytest.mark.parametrize("nonneg", [True, False], ids=["nonnegative", "signed"])
@pytest.mark.parametrize("method", NAMES)
def test_a_refusal_is_what_solve_says_and_nothing_else_is_refused(method, nonneg, source, k):
    problem = SOURCES[source](k, nonneg)
    assert foretold(problem, method) == said(problem, method)


def test_the_contract_has_both_sides():
    """Every reason for a refusal occurs above, and every method solves some problem."""
    problems = [make(k, nonneg) for make in SOURCES.values() for k in (3, (3, 2)) for nonneg in (True, False)]
    refused = {name: [foretold(problem, name) for problem in problems] for name in NAMES}
    assert all(None in each for each in refused.values())
    sentences = {sentence for each in refused.values() for sentence in each if sentence}
    for reason in (
        "no nonnegative form",
        "no signed form",
        "several sizes need",
        "works on data, got a covariance matrix",
    ):
        assert any(reason in sentence for sentence in sentences), reason
    assert not any(refused["auto"])


def test_more_than_can_be_enumerated_is_known_before():
    wide = np.random.default_rng(1).standard_normal((4, 5000))
    for nonneg in (True, False):
        problem = nspca.Problem.from_data(wide, 3, nonneg)
        sentence = foretold(problem, "spannogram")
        assert "5000 curves in " in sentence or "10000 curves in " in sentence
        assert sentence == said(problem, "spannogram")
        assert foretold(problem, "spannogram", rank=1) is None is said(problem, "spannogram", rank=1)
    # As many features, of which few are different: there is little to enumerate.
    twins = nspca.Problem.from_data(np.repeat(wide[:, :6], 800, axis=1).round(), 3, scale=False)
    V = np.unique(twins.covariance.leading(2)[1].round(12), axis=0)
    assert len(V) <= 6 and foretold(twins, "spannogram") is None is said(twins, "spannogram")
    # A rank that is refused by numbers alone, on data that do not have it.
    flat = nspca.Problem.from_data(wide[:, :3] @ np.ones((3, 60)), 3)
    assert foretold(flat, "spannogram", rank=40) is None is said(flat, "spannogram", rank=40)


def test_options_can_make_a_method_unable():
    problem = SOURCES["covariance"](3, True)
    options = {"rank": 7, "eps": 0.001}
    assert foretold(problem, "epsnet") is None
    assert "more than 1e" in foretold(problem, "epsnet", **options)
    assert foretold(problem, "epsnet", **options) == said(problem, "epsnet", **options)


@pytest.mark.parametrize("method", ["nmf", "spca"])
def test_a_sparse_table_too_large_to_write_out(method, monkeypatch):
    """nmf moves what is negative to zero: a column that is mostly zeros is then written out, one that is full
    is so already.
    """
    monkeypatch.setattr(baselines, "DENSE_ENTRIES", 20)
    few, full = np.where(np.arange(9)[:, None] < 6, 0.0, np.abs(X)), np.abs(X) + 1
    for center in (True, False):
        for table in (few, -few, full, -full):
            problem = nspca.Problem.from_data(sp.csr_array(table), 2, center=center)
            assert foretold(problem, method) == said(problem, method)
            refused = "needs this sparse table written out" in (foretold(problem, method) or "")
            is_held_dense = center and abs(table).min() > 0  # most columns are full, and centred
            assert refused == (not is_held_dense if method == "spca" else np.array_equal(table, -few))


@pytest.mark.parametrize("method", ["nmf", "spca"])
def test_what_a_deflation_leaves_is_no_table(method):
    problem = nspca.Problem.from_data(X, 2)
    assert nspca.solve(problem, method, components=2).components.shape == (7, 2)
    with pytest.raises(
        InvalidProblem, match=f"{method} works on data, got what a deflation or an angle left .* 'drop'"
    ):
        nspca.solve(problem, method, components=2, deflation="schur")


def test_a_sweep_asks_for_its_own_k():
    problem = nspca.Problem.from_data(X, (2, 2))
    paths = tuple(name for name, line in METHODS.items() if line.path)
    assert (
        len(nspca.sweep(problem, [1, 3], methods=(*paths, "em"), certify=None).results) == 2 * len(paths) + 2
    )
    with pytest.raises(InvalidOption, match="coordinate has no signed form"):
        nspca.sweep(nspca.Problem.from_data(X, 2, nonneg=False), [1, 3], methods=("coordinate",))
