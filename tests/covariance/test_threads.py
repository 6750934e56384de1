"""One limit of BLAS threads for the whole process, however many threads of Python ask for it."""

import threading
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
import threadpoolctl

import nspca
from nspca import papers
from nspca.bounds import membership
from nspca.covariance.linalg import is_positive_definite, one_thread, one_thread_if_quick

X = np.random.default_rng(0).standard_normal((30, 8))


def blas_threads():
    return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads(monkeypatch):
    name = next(iter(papers.ITEMS))  # both are put back last, in whatever order threads end
    monkeypatch.setitem(papers.ITEMS, name, papers.ITEMS[name])
    monkeypatch.setattr(membership, "Limits", membership.Limits)
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        assert blas_threads() == {2}
        yield
        assert blas_threads() == {2}, "BLAS is left with another number of threads than it had"


@contextmanager
def reproducing(inside, wait):
    """Compute an item of a paper, which calls `inside` and then `wait`."""

    def make(report):
        inside()
        wait()
        return papers.Outcome()

    name = next(iter(papers.ITEMS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(papers.ITEMS, name, replace(papers.ITEMS[name], make=make))
        papers.reproduce(name)
    yield


@contextmanager
def asking_of_features(inside, wait):
    """Ask which features are in or out, and call `inside` and `wait` before the proofs begin."""
    problem = nspca.Problem.from_data(X, 3)
    result, limits = nspca.solve(problem), membership.Limits

    def waiting(**how):
        inside()
        wait()
        return limits(**how)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(membership, "Limits", waiting)
        nspca.membership(problem, result)
    yield


@contextmanager
def entered(context, inside, wait):
    with context:
        inside()
        wait()
    yield


USES = {
    "one_thread": lambda *calls: entered(one_thread(), *calls),
    "one_thread_if_quick": lambda *calls: entered(one_thread_if_quick(1.0), *calls),
    "papers": reproducing,
    "membership": asking_of_features,
}


@pytest.mark.parametrize("second", USES)
@pytest.mark.parametrize("first", USES)
def test_who_leaves_first_does_not_lift_the_limit_of_the_other(first, second):
    first_in, second_in, first_out = (threading.Event() for _ in range(3))
    seen = []

    def begin():
        with USES[first](first_in.set, lambda: second_in.wait(20)):
            pass
        first_out.set()

    def inside_of_both():
        seen.append(blas_threads())
        second_in.set()
        assert first_out.wait(20)
        seen.append(blas_threads())

    thread = threading.Thread(target=begin)
    thread.start()
    try:
        assert first_in.wait(20)
        with USES[second](lambda: None, inside_of_both):
            pass
    finally:
        second_in.set()
        thread.join()
    assert seen == [{1}, {1}]


def test_a_factor_that_is_not_finite_is_no_proof(monkeypatch):
    monkeypatch.setattr(np.linalg, "cholesky", lambda S: np.full_like(S, np.nan))
    assert not is_positive_definite(-np.eye(2))
