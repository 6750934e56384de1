"""Cost estimates: sizes from headers, memory and passes as measured, and ways out of too little memory."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.__main__ import main
from nspca.bounds import elimination
from nspca.covariance import data as of_data
from nspca.data import limits
from nspca.planning import Size, costs, planned, read_size
from nspca.shards.sources import shard
from tests.rowblocks import InMemory, counts, folder_of


@pytest.fixture(autouse=True)
def known_speed(monkeypatch):
    monkeypatch.setattr(costs, "speed", lambda: 1e-9)


@pytest.fixture(scope="module")
def X():
    return counts(np.random.default_rng(3), 40, 60)


def docword(X, path):
    X = X.tocoo()
    lines = [f"{i + 1} {j + 1} {v:.0f}\n" for i, j, v in zip(X.row, X.col, X.data, strict=True)]
    path.write_text(f"{X.shape[0]}\n{X.shape[1]}\n{X.nnz}\n{''.join(lines)}")


def _save(X, path):
    np.savetxt(path, X.toarray(), delimiter=",")


def _frame(D):
    import pandas as pd

    return pd.DataFrame(D, columns=[f"c{j}" for j in range(D.shape[1])])


def test_rows_of_a_long_text_are_told_from_its_beginning(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("1.5,2.5,3.5\n" * 200_000)
    size = read_size(path)
    assert not size.exact and 190_000 < size.rows < 210_000 and "about" in str(nspca.plan(path, 2))


@pytest.mark.parametrize(
    "text",
    [
        '"id",a,b\n' + "".join(f'"n{i}\nx",1,{i}\n' for i in range(60)),
        "a;b\n\n" + "".join(f"1;{i}\n\n" for i in range(60)) + ";\n;\n",
        "a b\r" + "1  2\r\r" * 60,
    ],
)
def test_rows_of_a_text_are_not_its_lines(tmp_path, text):
    path = tmp_path / "a.csv"
    path.write_text(text)
    size = read_size(path)
    assert (size.rows, size.columns, size.exact) == (60, 2, True)
    assert shard(path, tmp_path / "shards").shape == (60, 2)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_columns_without_numbers_are_named(X, tmp_path, capsys, name):
    frame = _frame(X.toarray())
    frame["who"] = [f"plant {min(row, 38)}" for row in range(len(frame))]  # no names, two are alike
    path = tmp_path / name
    frame.to_csv(path, index=False) if name == "a.csv" else frame.to_parquet(path)
    assert main(["plan", str(path)]) == 0
    assert '40 x 60, 2400 numbers (not counted: column "who" as text)' in capsys.readouterr().out
    with pytest.raises(nspca.InvalidData, match='column "who" holds text'):
        shard(path, tmp_path / "shards")


@pytest.mark.parametrize("name", ["a.csv", "folder"])
def test_more_features_than_there_are_are_refused(X, tmp_path, capsys, name):
    _save(X, tmp_path / name) if name == "a.csv" else folder_of(X, tmp_path / name, 7)
    path = str(tmp_path / name)
    assert nspca.plan(path, 60).size.columns == nspca.plan(path, 20, 3).size.columns == 60
    with pytest.raises(nspca.InvalidOption, match="k must be at most 60, the number of columns, got 61"):
        nspca.plan(path, 61)
    with pytest.raises(nspca.InvalidOption, match=r"k times components must be at most 60, .*, got 63"):
        nspca.plan(path, 9, 7)
    assert main(["plan", path, "--k", "61"]) == 2 and "at most 60" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["parts", "shards", "sparse", "dense"])
def test_bytes_and_passes_are_as_planned(monkeypatch, what):
    m, n = (400, 300) if what in ("parts", "shards") else (400, 200)
    X = counts(np.random.default_rng(3), m, n)
    if what in ("parts", "shards"):
        for module in (of_data, elimination, costs):
            for name in {"FORMED", "CANDIDATES"} & {*vars(module)}:
                monkeypatch.setattr(module, name, 175)  # the features of a core
        monkeypatch.setattr(costs, "DENSE_LIMIT", 175)
    tracemalloc.start()
    if what == "shards":
        problem = nspca.Problem.from_shards(InMemory(X, 200), 5)
    else:
        problem = nspca.Problem.from_data(X.toarray() if what == "dense" else X, 5)
    found = nspca.solve(problem, restarts=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    planned = nspca.plan(problem)
    assert peak / 3 < planned.bytes < peak * 3
    assert planned.passes / 3 <= found.info.get("passes", 1) <= planned.passes * 3
    assert planned.size.entries == pytest.approx(X.nnz if what != "dense" else m * n, rel=0.1)


@pytest.mark.parametrize("sparse, at", [(False, "file"), (True, "shards"), (False, "memory")])
def test_a_is_formed_whole_of_full_data_with_many_rows(sparse, at):
    rows, columns = 50_000, 5_000
    full = planned(Size(rows, columns, rows * columns, sparse=sparse, at=at), (20,), "fast")
    assert full.features == columns and full.passes == 1
    if at != "memory":
        assert full.bytes < 4e9
        wide = planned(Size(4_000, columns, 4_000 * columns, sparse=True, at="shards"), (20,), "fast")
        few = planned(Size(rows, columns, rows * 50, sparse=True, at="shards"), (20,), "fast")
        assert wide.features == few.features == 2000


def test_more_data_take_longer(X, tmp_path):
    sizes = []
    for times in (1, 100):
        docword(sp.vstack([X] * times), tmp_path / "a.txt")
        sizes.append(nspca.plan(tmp_path / "a.txt", 3))
    assert 0 < sizes[0].seconds < sizes[1].seconds and sizes[0].bytes < sizes[1].bytes
    assert nspca.plan(tmp_path / "a.txt", 3, 8).seconds > sizes[1].seconds


@pytest.mark.parametrize("limit", ["entries", "memory"])
def test_what_memory_cannot_hold_is_told_with_the_command_that_can(monkeypatch, X, tmp_path, capsys, limit):
    path = tmp_path / "docword.a.txt"
    docword(X, path)
    assert main(["plan", str(path)]) == 0
    assert "shard" not in capsys.readouterr().out
    if limit == "entries":
        monkeypatch.setattr(limits, "MAX_ENTRIES", X.nnz - 1)
    else:
        monkeypatch.setattr(costs, "available", lambda: 1000)
    assert main(["plan", str(path), "--k", "3", "--components", "2"]) == 0
    said = capsys.readouterr().out
    assert f"python -m nspca shard {path} FOLDER" in said and "2 disjoint components" in said
    assert nspca.plan(path, 3).at == "shards"


def test_small_tables_are_planned_for_what_they_have(tmp_path, capsys):
    path = tmp_path / "small.csv"
    path.write_text("a,b,c\n1,2,3\n2,3,5\n")
    for more in ([], ["--components", "2"], ["--k", "3"]):
        assert main(["plan", str(path), *more]) == 0
    assert main(["plan", "pitprops", "--components", "2"]) == 0
    assert main(["plan", str(path), "--components", "4"]) == 2
    assert "k times components must be at most 3" in capsys.readouterr().err
    assert nspca.plan(path) == nspca.plan(path, 3)


def test_a_table_in_memory_is_planned(X, tmp_path):
    assert nspca.plan(X) == nspca.plan(X.tocsc()) and nspca.plan(X).size == Size(
        40, 60, X.nnz, sparse=True, at="memory"
    )
    dense = nspca.plan(nspca.Problem.from_data(X.toarray(), 3))
    _save(X, tmp_path / "a.csv")
    data = nspca.read(tmp_path / "a.csv")
    assert nspca.plan(X.toarray(), 3) == nspca.plan(_frame(X.toarray()), 3) == nspca.plan(data, 3) == dense
    shards = folder_of(X, tmp_path / "s", 7)
    assert nspca.plan(shards) == nspca.plan(tmp_path / "s")
    for other in (None, [[1, 2], [3, 4]], np.zeros(3), 3):
        with pytest.raises(nspca.InvalidOption, match="a problem, a table, or the path of a file"):
            nspca.plan(other)


def test_the_speed_is_measured_once(monkeypatch):
    monkeypatch.undo()
    assert 1e-11 < costs.speed() < 1e-3 and costs.speed() is costs.speed()


def test_a_search_for_the_optimum_is_planned_up_to_its_first_bound(X, capsys):
    known, found = nspca.plan(X, 5, effort="standard"), nspca.plan(X, 5, effort="exhaustive")
    assert (found.bytes, found.passes) == (known.bytes, known.passes)
    assert (
        found.proved == f"{known.proved}, before a search until the optimum is proved, which has no estimate"
    )
    assert main(["plan", "pitprops", "--effort", "exhaustive"]) == 0
    assert "until the optimum is proved" in capsys.readouterr().out
