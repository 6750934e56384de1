"""The cache of all sessions is limited in bytes, and is emptied when no page is open."""

import gc
import io
import sys
import threading
import weakref
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest

import nspca
from nspca.dashboard.app import cache, memory
from nspca.dashboard.app.cache import Cache, bytes_of
from nspca.errors import InvalidOption
from tests.patience import wait_for

ROOT = Path(__file__).resolve().parents[2]
MEGABYTE = 10**6
NAMES = tuple(f"feature {i}" for i in range(30_000))


def table(megabytes: float) -> np.ndarray:
    return np.zeros(int(megabytes * MEGABYTE) // 8)


@pytest.mark.parametrize(
    ("value", "size"),
    [
        (table(3), 3),
        (table(3)[:10], 3),
        ([table(1), table(2)], 3),
        ({"X": table(1), "again": {"Y": table(2)}}, 3),
        (SimpleNamespace(X=table(3)), 3),
        (sp.csr_array(np.eye(400) + 1.0), 400 * 400 * 12 / MEGABYTE),
        (pd.DataFrame(np.zeros((1000, 375))), 3),
        ("x" * 3 * MEGABYTE, 3),
        (NAMES, sum(sys.getsizeof(name) + 8 for name in NAMES) / MEGABYTE),
        (nspca.Problem.from_data(np.random.default_rng(0).random((1000, 30)), k=2), 1000 * 30 * 8 / MEGABYTE),
    ],
)
def test_the_size_of_a_value_is_what_it_holds(value, size):
    assert 0.9 * size < bytes_of(value, set()) / MEGABYTE < 1.3 * size + 0.1


def test_what_two_values_share_is_counted_once(tmp_path):
    shared, seen = table(3), set()
    first, second = [shared, table(1)], [shared[5:], shared.reshape(-1, 5)]
    assert bytes_of(first, seen) > 3.9 * MEGABYTE and bytes_of(second, seen) < 0.1 * MEGABYTE
    np.save(tmp_path / "mapped.npy", table(3))
    assert bytes_of(np.load(tmp_path / "mapped.npy", mmap_mode="r"), set()) < 0.1 * MEGABYTE


@pytest.mark.parametrize("most", [5, 12, 30])
def test_values_stay_within_their_bytes_whatever_is_asked(most):
    rng, held = np.random.default_rng(most), Cache(lambda: most * MEGABYTE)
    for key in rng.integers(0, 12, 200).tolist():
        held.get(key, lambda key=key: table(1 + key % 4))
        there = [value for value, _ in held._values.values()]
        assert sum(value.nbytes for value in there) <= most * MEGABYTE
        assert list(held._values)[-1] == key


def test_the_value_used_longest_ago_goes_first():
    held = Cache(lambda: 3.1 * MEGABYTE)
    for key in "abc":
        held.get(key, lambda: table(1))
    held.get("a", pytest.fail)
    held.get("d", lambda: table(1))
    assert list(held._values) == ["c", "a", "d"]


def test_one_value_stays_however_large_it_is():
    """The last value stays however large it is, since a page would make it again at every rerun."""
    held = Cache(lambda: 1.0)
    held.get("large", lambda: table(2))
    assert held.get("large", pytest.fail).nbytes == 2 * MEGABYTE
    held.get("other", lambda: 1)
    assert list(held._values) == ["other"]


def test_a_value_that_grew_after_it_was_made_counts_with_what_it_holds_now():
    held = Cache(lambda: 3.5 * MEGABYTE)
    problems = [held.get(key, dict) for key in "ab"]
    for problem in problems:
        problem["eigenvectors"] = table(2)
    assert held.trim() < 3.5 * MEGABYTE and list(held._values) == ["b"]


def test_a_value_that_nobody_asked_for_a_while_goes():
    now = [0.0]
    held = Cache(lambda: 1e9, lambda: now[0])
    for key in "ab":
        held.get(key, lambda: table(1))
    now[0] = 0.9 * cache.IDLE
    held.get("a", pytest.fail)
    now[0] = 1.1 * cache.IDLE
    assert held.trim() < 1.1 * MEGABYTE and list(held._values) == ["a"]
    now[0] = 3 * cache.IDLE
    assert held.trim() == 0 and len(held) == 0


def test_what_went_is_freed():
    held = Cache(lambda: 1.0)
    gone = weakref.ref(held.get("a", lambda: table(1)))
    held.get("b", lambda: table(1))
    gc.collect()
    assert gone() is None


def test_one_makes_what_all_wait_for_and_an_error_is_not_kept():
    held, begun, go_on, found = Cache(lambda: 1e9), [], threading.Event(), []

    def slow():
        begun.append(1)
        assert go_on.wait(300)
        return object()

    crowd = [threading.Thread(target=lambda: found.append(held.get("a", slow))) for _ in range(4)]
    for one in crowd:
        one.start()
    wait_for(lambda: begun)
    go_on.set()
    for one in crowd:
        one.join()
    assert begun == [1] and len({id(one) for one in found}) == 1
    with pytest.raises(ZeroDivisionError):
        held.get("b", lambda: 1 / 0)
    assert held.get("b", lambda: 7) == 7 and not held._making


def test_arguments_tell_values_apart_but_for_those_with_an_underscore():
    made = []

    @cache.keep()
    def sum_of(a, _data, *, b=1, **options):
        made.append((a, b, options))
        return a + b + _data

    assert sum_of(1, 2) == sum_of(1, 99) == sum_of(a=1, _data=0) == 4
    assert sum_of(True, 5) == 7 and sum_of(1, 0, b=2) == 3 and sum_of(1, 0, wide={"x": [1, 2]}) == 2
    assert sum_of(1, 0, wide={"x": [1, 2]}) == 2 and len(made) == 4
    sum_of.clear(1, 2)
    assert sum_of(1, 3) == 5 and len(made) == 5
    sum_of.clear()
    assert sum_of(1, 4) == 6 and sum_of.__name__ == "sum_of"
    sum_of.clear()


@pytest.mark.parametrize("given", ["-1", "much", "nan", "inf"])
def test_a_setting_that_is_no_number_is_one_sentence(monkeypatch, given):
    monkeypatch.setenv("NSPCA_CACHE_MB", given)
    with pytest.raises(InvalidOption, match="NSPCA_CACHE_MB must be a number of at least 0, got"):
        cache.most_bytes()
    monkeypatch.setenv("NSPCA_CACHE_MB", "20")
    assert cache.most_bytes() == 20 * MEGABYTE


@pytest.fixture
def upload(visit):
    """``upload(page, content)``: give a file to the data page of a new session, or to one that is open."""

    def give(content: bytes, name: str, page=None):
        page = page or visit("pages/data.py", source="upload")
        page.file_uploader[0].upload(name, content)
        return page.run()

    return give


def test_many_tables_of_one_visitor_take_no_more_than_the_setting(upload, monkeypatch):
    monkeypatch.setenv("NSPCA_CACHE_MB", "3")
    cache.shared.drop()
    for i in range(4):
        X, stream = np.random.default_rng(i).random((1000, 100)), io.BytesIO()
        np.savez(stream, X=X)
        page = upload(stream.getvalue(), f"{i}.npz")
        assert not page.exception and not page.error and page.metric[1].value == "100"
    assert X.nbytes < cache.shared.trim() <= 3 * MEGABYTE


@pytest.mark.visit
def test_parquet_files_of_repeated_values_fill_no_memory(upload):
    """Five of 281 KB, 1.9 million rows in 35 columns each, took the server from 252 MB to 5.4 GB."""
    column, stream = pa.array(np.repeat(np.arange(4.0), 1_900_000 // 4)), io.BytesIO()
    pq.write_table(pa.table({f"c{j}": column for j in range(35)}), stream)
    assert stream.tell() < 300_000
    del column
    before = psutil.Process().memory_info().rss
    for i in range(5):
        raw = stream.getvalue().replace(b"parquet-cpp-arrow", b"parquet-cpp-arro%d" % i)
        page = upload(raw, f"{i}.parquet")
        assert any("Parquet file would grow" in error.value for error in page.error)
    memory.give_back()
    assert psutil.Process().memory_info().rss - before < 300 * MEGABYTE


def test_all_data_go_some_time_after_the_last_page_was_closed(monkeypatch):
    events, there = [], iter([True, True, False, False, False])

    class Drawn:
        """One page is drawn, and no other."""

        pages = iter([True, False, False, False, False, False, False])

        def wait(self, seconds=None):
            events.append("forever" if seconds is None else "look")
            if seconds is None and len(events) > 1:
                raise InterruptedError
            return next(self.pages)

        def clear(self):
            pass

    now = iter(np.arange(0.0, 1e9, 100.0))
    monkeypatch.setattr(memory, "_drawn", Drawn())
    monkeypatch.setattr(memory, "SECONDS", 0.0)
    monkeypatch.setattr(memory, "time", SimpleNamespace(monotonic=lambda: next(now), sleep=lambda s: None))
    monkeypatch.setattr(memory, "is_page_open", lambda: next(there))
    monkeypatch.setattr(memory, "give_back", lambda: events.append("given back"))
    cache.shared.get("a table", lambda: table(1))
    with pytest.raises(InterruptedError):
        memory.work()
    assert events[-2:] == ["given back", "forever"] and events.count("look") >= 4
    assert len(cache.shared) == 0


def test_a_pass_over_the_data_that_lasts_shows_its_progress(monkeypatch):
    shown, draw = [], DeltaGenerator.progress
    monkeypatch.setattr(DeltaGenerator, "progress", lambda bar, *said: shown.append(said) or draw(bar, *said))

    def script():
        from contextlib import suppress

        import streamlit as st

        from nspca.dashboard.app import cache
        from nspca.errors import InvalidData
        from nspca.progress import Event, tell

        with suppress(InvalidData), cache.spinner("Preparing the covariance …"):
            tell(Event("covariance", 30, 120))
            if st.session_state.fails:
                raise InvalidData("the file is gone")

    for beat, fails, bars in ((0.0, True, 1), (0.0, False, 1), (99.0, False, 0)):
        monkeypatch.setattr(cache, "BEAT", beat)
        page = AppTest.from_function(script)
        page.session_state.fails = fails
        page.run()
        assert not page.exception and shown == [(0.25, "Reading the table: 25 %")] * bars
        assert not page.get("progress")  # the bar goes with the spinner
        shown.clear()


def test_giving_memory_back_is_no_error_where_the_c_library_cannot(monkeypatch):
    memory.give_back()
    monkeypatch.setattr(memory.ctypes, "CDLL", lambda name: SimpleNamespace())
    memory.give_back()
    memory.limit_arenas()
