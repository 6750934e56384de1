"""The parts of the engine without threads: limits of the environment, and the order of jobs."""

import pytest

from nspca.errors import JobError
from nspca.jobs import Limits
from nspca.jobs.job import Job, in_turn, next_job


def test_the_environment_sets_limits(monkeypatch, tmp_path):
    for name in ("NSPCA_RUNS", "NSPCA_KEEP_GB", "NSPCA_KEEP_DAYS"):
        monkeypatch.delenv(name, raising=False)
    assert Limits.of_environment() == Limits()
    for name, text in (("NSPCA_RUNS", "2"), ("NSPCA_KEEP_GB", "0.5"), ("NSPCA_KEEP_DAYS", "7")):
        monkeypatch.setenv(name, text)
    limits = Limits.of_environment()
    assert (limits.per_person, limits.result_bytes, limits.result_age) == (2, 500_000_000, 7 * 86400.0)
    for name in ("NSPCA_KEEP_DAYS", "NSPCA_KEEP_GB", "NSPCA_RUNS"):
        for wrong in ("0", "many", "-1", "nan", "inf", "1e300"):
            with (
                monkeypatch.context() as patch,
                pytest.raises(JobError, match=rf"{name} must be a (whole )?number above 0"),
            ):
                patch.setenv(name, wrong)
                Limits.of_environment()
    for wrong in ("0.5", "2.5"):
        monkeypatch.setenv("NSPCA_RUNS", wrong)
        with pytest.raises(JobError, match=f"NSPCA_RUNS must be a whole number above 0 .* got '{wrong}'"):
            Limits.of_environment()


def test_the_queue_is_fair_between_those_who_ask():
    def job(asker, automatic=False):
        return Job(asker, "f", "{}", people={asker: asker[0]}, automatic=automatic)

    waiting = [job("a2"), job("a3"), job("z", automatic=True), job("a4"), job("b1"), job("b2"), job("c1")]
    said = [one.key for one in in_turn(waiting, [job("a1")])]
    assert said == ["b1", "c1", "a2", "b2", "a3", "a4", "z"]
    shared = Job("both", "f", "{}", people={"x": "a", "y": "d"})
    assert [one.key for one in in_turn([*waiting[:2], shared], [])] == ["a2", "both", "a3"]
    assert in_turn([], []) == ()


def test_automatic_jobs_leave_a_worker_free_and_stop_when_nobody_looks():
    left, seen, usual = (Job(key, "f", "{}", automatic=key != "usual") for key in ("left", "seen", "usual"))
    left.looked -= 11
    assert next_job([left, seen, usual], [left], 2) is usual
    assert next_job([left, seen], [usual], 2) is seen and next_job([left], [usual], 2) is left
    assert next_job([seen], [left], 2) is None and next_job([], [], 2) is None
    assert next_job([seen], [left], 3) is seen and next_job([seen], [], 1) is seen
    assert [job.gives_way([seen]) for job in (left, seen, usual)] == [True, False, False]
    assert left.gives_way([usual]) and not left.gives_way([left])
    left.looked -= 120
    assert left.gives_way([])
