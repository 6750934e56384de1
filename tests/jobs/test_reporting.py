"""The report hook with a clock of the test's own."""

import json
import logging

import numpy as np
import pytest

from nspca.errors import Cancelled
from nspca.jobs import worker
from nspca.jobs.worker import PAYLOAD_BYTES, PERIOD, Reporter
from nspca.progress import Event


class Bench:
    def __init__(self):
        self.now, self.sent, self.timers, self.stop = 0.0, [], [], False
        self.report = Reporter(
            lambda text: self.sent.append((self.now, json.loads(text))),
            lambda seconds, function: self.timers.append((self.now + seconds, function)),
            lambda: self.stop,
            lambda: self.now,
        )

    def advance(self, seconds):
        end = self.now + seconds
        while self.timers and self.timers[0][0] <= end:
            self.now, function = self.timers.pop(0)
            function()
        self.now = end

    def rows(self):
        return [row for _, message in self.sent for row in message["rows"]]


@pytest.fixture
def bench():
    return Bench()


def test_first_and_last_arrive_and_no_more_than_ten_a_second(bench):
    for step in range(1000):
        bench.report(Event("s", step, payload={"row": {"k": step}}))
        bench.advance(0.003)
    bench.report.flush()
    times = [time for time, _ in bench.sent]
    assert bench.sent[0][1]["event"]["done"] == 0 and bench.sent[-1][1]["event"]["done"] == 999
    assert min(np.diff(times[:-1])) >= PERIOD - 1e-9
    assert 29 <= len(bench.sent) <= 32
    assert bench.rows() == [{"k": step} for step in range(1000)]


def test_what_is_held_back_is_sent_though_nothing_follows(bench):
    bench.report(Event("s", 1))
    bench.report(Event("s", 2))
    assert len(bench.sent) == 1
    bench.advance(PERIOD)
    assert [message["event"]["done"] for _, message in bench.sent] == [1, 2]
    bench.report.flush()
    assert len(bench.sent) == 2


def test_the_newest_event_wins_and_keeps_the_payload_it_replaces(bench):
    bench.report(Event("s", 0))
    bench.report(Event("s", 1, payload={"cells": [1], "radius": 2.0}))
    bench.report(Event("s", 2, lower=0.5, payload={"cells": [3]}))
    bench.report.flush()
    event = bench.sent[-1][1]["event"]
    assert (event["done"], event["lower"], event["payload"]) == (2, 0.5, {"cells": [3], "radius": 2.0})


def test_numpy_values_become_plain(bench):
    bench.report(
        Event("s", np.int64(1), lower=np.float64(0.5), payload={"row": {"k": np.int32(2)}, "x": np.arange(3)})
    )
    message = bench.sent[0][1]
    assert (
        message["rows"] == [{"k": 2}]
        and message["event"]["payload"] == {"x": [0, 1, 2]}
        and message["event"]["lower"] == 0.5
    )


def test_all_rows_arrive_and_large_payloads_are_left_out(bench, caplog):
    bench.report(Event("s", 0))
    for step in range(300):
        bench.report(Event("s", step, payload={"row": {"k": step, "text": "x" * 1000}}))
    with caplog.at_level(logging.WARNING):  # Dask raises the level of every handler, this one too
        bench.report(Event("s", 300, payload={"x": "y" * PAYLOAD_BYTES}))
    bench.report.flush()
    assert [row["k"] for row in bench.rows()] == list(range(300))
    assert bench.sent[-1][1]["event"]["done"] == 300 and bench.sent[-1][1]["event"]["payload"] == {}
    assert "left out a progress payload" in caplog.text


def test_cancelled_is_raised_at_the_next_report(bench):
    bench.report(Event("s", 0))
    bench.stop = True
    with pytest.raises(Cancelled):
        bench.report(Event("s", 1))
    assert len(bench.sent) == 1


def test_messages_of_all_threads_leave_in_the_order_in_which_they_were_made(monkeypatch, tmp_path):
    """The timer's come from the thread of the loop, the others from the run's: both wait in the loop's
    queue.
    """
    queue, sent = [], []

    class Loop:
        def add_callback(self, function, *arguments):
            queue.append((function, arguments))

        def call_later(self, seconds, function):
            function()

    class Dask:
        loop, address = Loop(), "tls://127.0.0.1:1"

        def log_event(self, topic, message):
            sent.append(message)

    monkeypatch.setattr(worker, "get_worker", Dask)
    done = worker.run(
        worker.Task("token", "topic", "tests.jobs.background_tasks:sweep", '{"count": 300}', str(tmp_path))
    )
    assert (done.state, sent) == ("done", [])
    while queue:
        function, arguments = queue.pop(0)
        function(*arguments)
    texts = [json.loads(message["text"]) for message in sent]
    assert "worker" in texts[0]
    assert [row["k"] for text in texts[1:] for row in text["rows"]] == list(range(300))
