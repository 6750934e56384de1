"""One limit of BLAS threads for the whole process, however many threads of Python ask for it."""

import threading
from contextlib import contextmanager

import numpy as np
import pytest
import threadpoolctl

from nspca.covariance.linalg import is_positive_definite, one_thread, one_thread_if_quick


def blas_threads():
    return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        assert blas_threads() == {2}
        yield
        assert blas_threads() == {2}, "BLAS is left with another number of threads than it had"


@contextmanager
def entered(context, inside, wait):
    with context:
        inside()
        wait()
    yield


USES = {
    "one_thread": lambda *calls: entered(one_thread(), *calls),
    "one_thread_if_quick": lambda *calls: entered(one_thread_if_quick(1.0), *calls),
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
