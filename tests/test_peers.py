"""The parts of `python -m benchmarks.peers`: what a loading is worth, who is missing, what is said of it."""

import numpy as np
import pytest

import nspca

pytest.importorskip("resource", reason="runs are limited and measured as on Linux and macOS")

from benchmarks.peers import contenders, measuring, report, tables
from benchmarks.peers.contenders import Contender
from benchmarks.peers.race import raced
from benchmarks.peers.scoring import floored, score, truncated, verdict

TABLE = tables.Table("made", np.random.default_rng(0).random((30, 8)), "made")


@pytest.fixture
def few(monkeypatch):
    """k = 3 is asked for, and the table is too small to need repeating."""
    monkeypatch.setitem(tables.SIZES, "made", (3,))
    monkeypatch.setattr(measuring, "TOGETHER", 0.0)


def named(name):
    return next(one for one in contenders.CONTENDERS if one.name == name)


def test_a_loading_is_cut_to_its_k_largest_entries_of_the_right_sign():
    loading = np.array([0.1, -3.0, 2.0, 0.0, -4.0])
    (signed,) = truncated(loading, 2, nonneg=False)
    assert np.allclose(signed, [0, -0.6, 0, 0, -0.8])
    up, down = truncated(loading, 3, nonneg=True)
    assert np.allclose(up, np.array([0.1, 0, 2, 0, 0]) / np.hypot(0.1, 2))  # not filled up with negative ones
    assert np.allclose(down, [0, 0.6, 0, 0, 0.8])
    assert truncated(np.zeros(5), 2, nonneg=True) == []


def test_the_best_loading_counts_at_the_value_of_the_problem():
    problem = nspca.Problem.from_data(TABLE.X, 2)
    loadings = np.array([[0, 5.0, 1.0], [0, -9.0, np.nan], *[[0, 0.1, np.nan]] * 6])
    x, y = np.eye(8)[0], np.eye(8)[1]
    kept = np.array([5, 0, 0.1, 0, 0, 0, 0, 0])
    expected = max(problem.value(y), problem.value(kept / np.linalg.norm(kept)))
    assert score(problem, loadings) == expected != problem.value(x)
    assert score(problem, np.zeros((8, 1))) == 0.0


def row(name, value, cpu, ours=False):
    return {"name": name, "value": value, "cpu": cpu, "ours": ours}


@pytest.mark.parametrize(
    ("peer", "said"),
    [
        (row("p", 1.0, 0.3), []),
        (row("p", 0.8, 0.03), []),
        (row("p", 1.0, 0.2), ["p is faster, at the same value: 0.2 s against 0.2 s of slow"]),
        (row("p", 0.9, 0.009), ["p is faster, at 90.0 % of the value: 9 ms against 20 ms of quick"]),
        (row("p", 1.1, 9.0), ["p is better: 1.1 against 1"]),
        (row("p", None, None), []),
    ],
)
def test_what_is_lost_is_said(peer, said):
    ours = [row("quick", 0.95, 0.02, ours=True), row("slow", 1.0, 0.2, ours=True)]
    assert verdict([*ours, peer]) == said


def test_the_tables_of_a_race_name_the_best_peer_and_every_one():
    ours = [row("auto", 1.0, 0.2, ours=True), row("auto, proved", 1.0, 0.3, ours=True)]
    peers = [row("slow", 0.9, 0.4), row("quick", 0.9, 0.1), row("poor", 0.5, 0.1), row("none", None, None)]
    problem = {"table": "made", "k": 3, "nonneg": True, "source": "made", "proved": None}
    rows = [one | problem | {"memory": 1.0, "note": ""} for one in (*peers, *ours)]
    race = {"rows": rows, "versions": {}, "load": 0.0, "threads": 1, "machine": "", "rounds": 1}
    said = "quick: 90.0 %, 0.1 s | 100 %, 0.2 s | 100 %, 0.3 s | quick is faster, at 90.0 % of the value"
    assert said in report.markdown(race)
    first, second = report.spreadsheet(race).splitlines()
    assert first == 'table,k,sign,slow,quick,poor,none,auto,"auto, proved",where we lose'
    assert second.startswith(
        'made,3,nonnegative,"90.0 %, 0.4 s","90.0 %, 0.1 s","50.0 %, 0.1 s",-,"100 %, 0.2 s"'
    )


def test_shares_are_rounded_down_and_only_a_proved_optimum_is_called_one():
    assert [floored(s) for s in (0.8999, 0.99499, 0.99999, 1 - 1e-9)] == [
        "89.9 %",
        "99.49 %",
        "99.999 %",
        "100 %",
    ]
    assert [report.percent(s) for s in (1.0, 1 - 1e-7)] == ["optimal", "99.999 %"]


def test_a_missing_package_has_its_row_and_the_others_theirs(few, monkeypatch):
    monkeypatch.setattr(contenders.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(contenders.shutil, "which", lambda name: None)
    contenders.without_nsprcomp.cache_clear()
    peer = Contender("peer", lambda X, k, nonneg, setting: (np.ones((X.shape[1], 1)), None), nonneg_only=True)
    some = [peer, *(named(name) for name in ("abess", "nsprcomp", "tpower", "auto, proved"))]
    rows = raced(TABLE, 1, 20.0, some)
    contenders.without_nsprcomp.cache_clear()
    by_name = {row["name"]: row for row in rows if row["nonneg"]}
    assert (by_name["abess"]["value"], by_name["abess"]["note"]) == (None, "not installed")
    assert by_name["nsprcomp"]["note"] == "R is not installed"
    assert 0 < by_name["peer"]["value"] <= by_name["tpower"]["value"] * (1 + 1e-9)
    assert by_name["auto, proved"]["value"] >= by_name["peer"]["value"]
    assert 0.5 < by_name["auto, proved"]["proved"] <= 1 and by_name["tpower"]["proved"] is None
    assert all(row["wall"] > 0 and row["runs"] == 1 for row in rows if row["value"])
    assert [row["name"] for row in rows if not row["nonneg"]] == [
        "abess",
        "nsprcomp",
        "tpower",
        "auto, proved",
    ]


@pytest.mark.long
@pytest.mark.parametrize("contender", contenders.CONTENDERS, ids=lambda one: one.name)
def test_everybody_who_is_there_has_an_answer(few, contender):
    if contender.there():
        pytest.skip(contender.there())
    rows = raced(TABLE, 1, 60.0, [contender])
    assert [row["nonneg"] for row in rows] == [True] + [False] * (not contender.nonneg_only)
    assert all(row["value"] > 0 for row in rows), rows
