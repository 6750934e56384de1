"""Waves of tasks: in order, here or on workers, and what happens when workers are lost."""

import pytest

from nspca.covariance import parallel
from nspca.covariance.parallel import ClusterWaves, check_client, waves
from nspca.errors import Cancelled, InvalidOption, JobError, WorkersLost
from tests.workers import Workers


def scaled(common, task, report):
    return common * task


def broken(common, task, report):
    return common / task


def quiet(*_):
    pass


@pytest.mark.parametrize("client", [None, Workers(1), Workers(3)])
def test_results_come_in_the_order_of_the_tasks(client):
    assert list(waves(client, quiet, quiet)(scaled, 3, range(20))) == [3 * one for one in range(20)]


def test_what_tasks_have_in_common_is_sent_once():
    client = Workers(2)
    wave = waves(client, quiet, quiet)
    common = [2]
    for _ in range(2):
        assert list(wave(scaled, common, range(1, 3))) == [[2], [2, 2]]
    assert client.given == 1 + 2 * 2


def test_an_error_of_a_task_is_one_sentence():
    with pytest.raises(JobError, match="got ZeroDivisionError") as raised:
        list(waves(Workers(1), quiet, quiet)(broken, 3, [1, 0]))
    assert isinstance(raised.value, Cancelled)  # so what was ready is attached on the way up


def test_a_wait_without_workers_ends(monkeypatch):
    client = Workers(1)
    client.nthreads = dict
    monkeypatch.setattr(parallel, "CHECKED", 0.0)
    monkeypatch.setattr(parallel, "PATIENCE", 0.1)
    wave = ClusterWaves(client, quiet)

    class Never:
        def done(self):
            return False

    with pytest.raises(WorkersLost, match="there has been none for 0 s: start one, or leave the client out"):
        wave._wait(Never())


def test_a_wave_is_cancelled_by_its_report():
    def stop():
        raise Cancelled

    with pytest.raises(Cancelled):
        list(waves(Workers(1), quiet, stop)(scaled, 3, range(50)))


def test_what_is_no_client_is_refused():
    with pytest.raises(InvalidOption, match=r"client must be a distributed\.Client or None, got 3"):
        check_client(3)
