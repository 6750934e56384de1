"""A folder of shards: the same table as in memory, whole or not there, refused when not what it says."""

import gzip
import hashlib
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse as sp

import nspca
from nspca.__main__ import main
from nspca.covariance.numbers import canonical, sparse_digest
from nspca.data.formats import delimited, entries
from nspca.errors import InvalidData, InvalidOption
from nspca.shards.reader import Shards
from nspca.shards.sources import shard
from tests.cancelling import cancelled
from tests.rowblocks import counts, folder_of


@pytest.fixture
def X():
    return counts(np.random.default_rng(0), 30, 40, words=6)


def whole(shards):
    return sp.csr_array(sp.vstack(list(shards.blocks()), format="csr"))


def docword(X, order=None):
    """Return the docword text of word counts, with entries in a given order."""
    X = sp.coo_array(X)
    order = np.arange(X.nnz) if order is None else order
    i, j = X.coords
    lines = [f"{i[e] + 1} {j[e] + 1} {int(X.data[e])}" for e in order]
    return "\n".join([str(X.shape[0]), str(X.shape[1]), str(X.nnz), *lines]).encode() + b"\n"


# --- the same table -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("packed", "rows", "shuffled"), [(False, 1, True), (True, 7, True), (True, 100, False), (False, 7, False)]
)
def test_docword_is_what_reading_it_gives(X, tmp_path, monkeypatch, packed, rows, shuffled):
    monkeypatch.setattr(entries, "PIECE", 8 * 7)
    order = np.random.default_rng(1).permutation(X.nnz) if shuffled else None
    raw = docword(X, order)
    source = tmp_path / ("docword.x.txt.gz" if packed else "docword.x.txt")
    source.write_bytes(gzip.compress(raw) if packed else raw)
    (tmp_path / "vocab.x.txt").write_text("".join(f"w{j}\n" for j in range(40)))
    made = shard(source, tmp_path / "s", rows=rows)
    known = nspca.read(source)
    assert made.shape == known.X.shape and made.nonzeros == known.X.nnz
    assert made.digest == sparse_digest(canonical(known.X)) == Shards(tmp_path / "s").digest
    assert made.feature_names == tuple(known.feature_names)
    assert (whole(made) != known.X).nnz == 0
    assert next(block.shape[0] for block in made.blocks()) == min(rows, 30)
    assert not list(tmp_path.glob(".s*"))


def test_a_result_knows_the_names_that_the_folder_has(X, tmp_path):
    source = tmp_path / "docword.x.txt"
    source.write_bytes(docword(X))
    bare = nspca.Problem.from_shards(shard(source, tmp_path / "bare"), 3)
    assert bare.features is None
    (tmp_path / "vocab.x.txt").write_text("".join(f"w{j}\n" for j in range(40)))
    shard(source, tmp_path / "s")
    problem = nspca.Problem.from_shards(tmp_path / "s", 3)
    result = nspca.solve(problem)
    in_memory = nspca.solve(nspca.Problem.from_data(nspca.read(source), 3))
    found, known = result.weights(), in_memory.weights()
    assert [name for name, _ in found] == [name for name, _ in known] and found[0][0].startswith("w")
    assert f": {found[0][0]} +" in repr(result)
    sent = pickle.dumps(result)
    shutil.rmtree(tmp_path / "s")
    assert pickle.loads(sent).weights() == found


@pytest.mark.parametrize("kind", ["general", "symmetric", "skew-symmetric", "pattern"])
def test_matrix_market_is_what_reading_it_gives(tmp_path, kind):
    rng = np.random.default_rng(2)
    S = sp.random_array((25, 25), density=0.2, rng=rng)
    S = {"symmetric": S + S.T, "skew-symmetric": S - S.T}.get(kind, S)
    scipy.io.mmwrite(
        tmp_path / "x.mtx",
        sp.coo_array(S),
        comment="first\nsecond",
        symmetry=kind if "sym" in kind else "general",
        **({"field": "pattern"} if kind == "pattern" else {}),
    )
    made = shard(tmp_path / "x.mtx", tmp_path / "s", rows=10)
    known = nspca.read(tmp_path / "x.mtx").X
    assert made.digest == sparse_digest(canonical(sp.csr_array(known)))
    assert np.array_equal(whole(made).toarray(), sp.csr_array(known).toarray())


def test_the_size_of_a_shard_can_be_asked_for(X, tmp_path):
    (tmp_path / "docword.x.txt").write_bytes(docword(X))
    made = shard(tmp_path / "docword.x.txt", tmp_path / "s", megabytes=0.001)
    assert 2 <= len(made) <= 10
    for number, most in enumerate((np.int8(1), 10**308)):  # neither times 2**20 is a number of its type
        whole = shard(tmp_path / "docword.x.txt", tmp_path / f"whole{number}", megabytes=most)
        assert len(whole) == 1
    with pytest.raises(InvalidOption, match="megabytes"):
        shard(tmp_path / "docword.x.txt", tmp_path / "t", megabytes=0)


def test_a_certificate_goes_from_the_folder_to_memory_and_back(X, tmp_path):
    made = folder_of(X, tmp_path / "s", 7)
    one, other = nspca.Problem.from_shards(tmp_path / "s", 5), nspca.Problem.from_data(X, 5)
    found, known = nspca.solve(one), nspca.solve(other)
    assert found.value == pytest.approx(known.value, rel=1e-12)
    for certificate in (found.certificate, known.certificate):
        for data in (made, X):
            assert nspca.verify(data, certificate, one) == pytest.approx(certificate.upper, rel=1e-9)


# --- not what it says ---------------------------------------------------------------------------------------


def flipped(path):
    raw = bytearray(path.read_bytes())
    raw[-3] ^= 1
    path.write_bytes(raw)


def rewritten(folder, part, change):
    """Change an array and the digest, so that only the content shows the lie."""
    np.save(folder / f"{part}.npy", change(np.load(folder / f"{part}.npy")))
    digest = hashlib.sha256(b"sparse 30 40")
    for name in ("indptr", "indices", "data"):
        array = np.load(folder / f"{name}.npy")
        digest.update(array.astype(np.int64) if name == "indices" else array)
    record = json.loads((folder / "meta.json").read_text()) | {"digest": digest.hexdigest()}
    (folder / "meta.json").write_text(json.dumps(record))


def put(at, value):
    def change(array):
        array[at] = value
        return array

    return change


@pytest.mark.parametrize("part", ["indptr", "indices", "data"])
def test_files_that_are_missing_cut_or_damaged_are_named(X, tmp_path, part):
    folder_of(X, tmp_path / "s", 7)
    path = tmp_path / "s" / f"{part}.npy"
    raw = path.read_bytes()
    path.write_bytes(raw[:-1])
    with pytest.raises(InvalidData, match=f"{path.name} is damaged or cut short"):
        Shards(tmp_path / "s")
    path.write_bytes(raw)
    flipped(path)
    with pytest.raises(InvalidData, match=r"The folder .* is damaged, its digest is another"):
        nspca.Problem.from_shards(tmp_path / "s", 3)
    path.unlink()
    with pytest.raises(InvalidData, match=f"{path.name} is missing"):
        Shards(tmp_path / "s")
    (tmp_path / "elsewhere").write_bytes(raw)
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InvalidData, match=f"{path.name} is missing"):
        Shards(tmp_path / "s")


@pytest.mark.parametrize(
    ("part", "change", "words"),
    [
        ("indptr", put(0, 1), "Rows 1 to 7"),
        ("indptr", put(2, 10**6), "Rows 1 to 7"),
        ("indptr", put(-1, 3), "Rows 29 to 30"),
        ("indices", put(0, 40), "Rows 1 to 7"),
        ("indices", put(0, -1), "Rows 1 to 7"),
        ("indices", lambda a: a[::-1].copy(), "Rows 1 to 7"),
        ("data", put(1, np.nan), "Rows 1 to 7"),
        ("data", put(1, np.inf), "Rows 1 to 7"),
        ("data", put(1, 0.0), "Rows 1 to 7"),
        ("data", put(1, 1e9), "Rows 1 to 7"),
        ("data", lambda a: a[:-1], r"data\.npy must hold"),
        ("data", lambda a: a.astype(np.float32), r"data\.npy must hold"),
        ("data", lambda a: a.view(np.int64), r"data\.npy must hold"),
        ("indices", lambda a: a.astype(np.int64), r"indices\.npy must hold"),
        ("indptr", lambda a: a[None, :], r"indptr\.npy must hold"),
    ],
)
def test_shards_that_lie_are_refused(X, tmp_path, part, change, words):
    folder_of(X, tmp_path / "s", 7)
    rewritten(tmp_path / "s", part, change)
    with pytest.raises(InvalidData, match=words) as refused:
        nspca.Problem.from_shards(tmp_path / "s", 3)
    assert "\n" not in str(refused.value)


def test_a_file_of_pickled_objects_is_refused_unread(X, tmp_path):
    folder_of(X, tmp_path / "s", 7)
    np.save(tmp_path / "s" / "data.npy", np.full(3, None), allow_pickle=True)
    with pytest.raises(InvalidData, match=r"data\.npy is damaged"):
        Shards(tmp_path / "s")


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told.update(format="shards"),
        lambda told: told.update(version=1),
        lambda told: told.update(columns="30"),
        lambda told: told.update(columns=0),
        lambda told: told.update(columns=2**40),
        lambda told: told.update(largest=float("nan")),
        lambda told: told.update(largest="1"),
        lambda told: told.update(digest="0" * 63),
        lambda told: told.update(features="x"),
        lambda told: told.update(more=1),
        lambda told: told.update(name=3),
        lambda told: told.update(rows=0),
        lambda told: told.update(rows=True),
        lambda told: told.update(nonzeros=-1),
        lambda told: told.update(step=0),
        lambda told: told.update(features=["a"]),
        lambda told: told.pop("digest"),
        lambda told: told.clear(),
    ],
)
def test_a_record_that_is_wrong_is_refused(X, tmp_path, change):
    folder_of(X, tmp_path / "s", 7)
    path = tmp_path / "s" / "meta.json"
    told = json.loads(path.read_text())
    change(told)
    path.write_text(json.dumps(told))
    with pytest.raises(InvalidData, match=r"meta\.json cannot be read"):
        Shards(tmp_path / "s")


def test_counts_of_another_table_do_not_fit_the_files(X, tmp_path):
    folder_of(X, tmp_path / "s", 7)
    path = tmp_path / "s" / "meta.json"
    told = json.loads(path.read_text())
    told["rows"] -= 1
    path.write_text(json.dumps(told))
    with pytest.raises(InvalidData, match=r"indptr\.npy must hold 30 numbers"):
        Shards(tmp_path / "s")


def test_no_record_is_no_folder_of_shards(tmp_path):
    with pytest.raises(InvalidData, match=r"holds a meta\.json"):
        Shards(tmp_path)
    (tmp_path / "meta.json").write_bytes(b"\xff{")
    with pytest.raises(InvalidData, match="cannot be read"):
        Shards(tmp_path)


# --- text that is wrong -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (
            b"2\n3\n2\n1 1 1\n2 4 1\n",
            r'Line 5 of .* is "2 4 1" and does not fit its header: words are counted from 1 to 3',
        ),
        (b"2\n3\n2\n1 1 1\n\n3 1 1\n", r'Line 6 of .* is "3 1 1" and does not fit its header: documents'),
        (b"2\n3\n2\n1 1 1\n2 1 0\n", "Line 5 .* counts are positive"),
        (b"2\n3\n2\n1 1 1\n2 x 1\n", r'Line 5 of .* is "2 x 1"'),
        (b"2\n3\n2\n1 1 1\n2 1\n", r'Line 5 of .* is "2 1"'),
        (b"2\n3\n2\n1 1 1\n2 1 1 1\n", r'Line 5 of .* is "2 1 1 1"'),
        (b"2\n3\n3\n1 1 1\n2 1 1\n", "promises 3 entries and the file holds 2"),
        (b"2\n3\n1\n1 1 1\n2 1 1\n", "promises 1 entries and the file holds 2"),
        (b"2\n3\n1\n1 1 1" + bytes(9 * 2**20).replace(b"\0", b" "), "longer than 8 MiB"),
        (b"2\n999999999\n1\n1 1 1\n", "at most 100000 rows and columns and one more for each entry"),
        (b"0\n3\n0\n", "a row and two columns at least"),
        (b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 nan\n", 'Line 3 of .* is "1 1 nan"'),
        (b"%%MatrixMarket matrix coordinate real general\n%\n2 2 1\n3 1 1\n", 'Line 4 of .* is "3 1 1"'),
        (b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1.5 1 1\n", "Line 3 of"),
        (b"%%MatrixMarket matrix coordinate real general\n2 2\n1 1 1\n", "size line .* rows, columns and"),
        (b"%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 1 1\n", "real numbers"),
        (b"%%MatrixMarket matrix array real general\n2 2\n1\n1\n1\n1\n", "coordinate form"),
        (b"%%MatrixMarket matrix coordinate real symmetric\n2 3 1\n1 1 1\n", "is square"),
        (b"a,b\n1,2\n3,\n", 'line 3, column "b" holds none'),
        (b"a,b\nx,y\nz,w\n", "columns of numbers"),
        (b"PAR1 no more", "damaged or cut short"),
        (b"PK\x03\x04 no more", "damaged or cut short"),
    ],
)
def test_what_is_wrong_in_a_text_is_said_with_its_line(tmp_path, monkeypatch, raw, words):
    monkeypatch.setattr(entries, "PIECE", 8 * 16)
    monkeypatch.setattr(delimited, "PIECE", 16)
    (tmp_path / "docword.x.txt").write_bytes(raw)
    with pytest.raises(InvalidData, match=words) as refused:
        shard(tmp_path / "docword.x.txt", tmp_path / "s")
    assert "\n" not in str(refused.value)
    assert [path.name for path in tmp_path.iterdir()] == ["docword.x.txt"]


def test_gzip_that_is_cut_short_is_refused(X, tmp_path):
    raw = gzip.compress(docword(X))
    for part in (raw[:60], raw[:-4]):
        (tmp_path / "docword.x.txt.gz").write_bytes(part)
        with pytest.raises(InvalidData, match=r"damaged or cut short|is damaged"):
            shard(tmp_path / "docword.x.txt.gz", tmp_path / "s")
        assert not (tmp_path / "s").exists()


def test_a_folder_that_is_there_is_left_alone(X, tmp_path):
    (tmp_path / "docword.x.txt").write_bytes(docword(X))
    (tmp_path / "s").mkdir()
    with pytest.raises(InvalidData, match="is there: name another"):
        shard(tmp_path / "docword.x.txt", tmp_path / "s")
    with pytest.raises(InvalidData, match="make it first"):
        shard(tmp_path / "docword.x.txt", tmp_path / "no" / "s")
    with pytest.raises(InvalidData, match="There is no file"):
        shard(tmp_path / "nothing", tmp_path / "t")


# --- ended midway -------------------------------------------------------------------------------------------


def test_who_cancels_leaves_nothing(X, tmp_path):
    (tmp_path / "docword.x.txt").write_bytes(docword(X))
    source, place = tmp_path / "docword.x.txt", tmp_path / "s"
    _, seen = cancelled(shard, source, place, when=lambda seen: seen[-1].stage == "digest")
    assert {"entries", "shards"} <= {event.stage for event in seen}
    assert [path.name for path in tmp_path.iterdir()] == ["docword.x.txt"]


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_a_kill_leaves_no_folder_that_looks_whole(X, tmp_path):
    (tmp_path / "docword.x.txt").write_bytes(docword(X))
    code = (
        "import sys, time\nfrom nspca.shards.sources import shard\n"
        "def report(event):\n    if event.stage == 'digest':\n        print('now', flush=True)\n"
        "        time.sleep(60)\n"
        "shard(sys.argv[1], sys.argv[2], rows=3, report=report)\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "docword.x.txt"), str(tmp_path / "s")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "now\n"
        process.send_signal(signal.SIGKILL)
    left = [path for path in tmp_path.iterdir() if path.name != "docword.x.txt"]
    assert len(left) == 1 and left[0].name.startswith(".s.") and list(left[0].glob("*.npy"))
    with pytest.raises(InvalidData):
        Shards(left[0])
    made = shard(tmp_path / "docword.x.txt", tmp_path / "s", rows=3)
    assert made.digest == sparse_digest(canonical(X))


# --- the command line ---------------------------------------------------------------------------------------


def test_from_a_file_to_a_verified_certificate(X, tmp_path, capsys):
    source, folder, proof = tmp_path / "docword.x.txt", str(tmp_path / "s"), str(tmp_path / "proof.npz")
    source.write_bytes(docword(X))
    (tmp_path / "words").write_text("".join(f"w{j}\n" for j in range(40)))
    assert main(["shard", str(source), folder, "--rows", "7", "--vocabulary", str(tmp_path / "words")]) == 0
    assert f"30 x 40, {X.nnz} nonzeros in 5 blocks" in capsys.readouterr().out
    asked = ["solve", folder, "--k", "3", "--components", "2", "--certificate", proof]
    assert main([*asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["k"] == [3, 3] and [len(one) for one in told["components"]] == [3, 3]
    assert told["components"][0][0]["name"].startswith("w")
    assert main(asked) == 0
    assert "component 2: " in capsys.readouterr().out
    assert main(["verify", folder, proof]) == 0
    assert main(["verify", str(source), proof]) == 0
    assert capsys.readouterr().out.count("proved: no 2 disjoint") == 2
    assert main(["sweep", folder, "--k", "2,3"]) == 0
    capsys.readouterr()
    assert main(["solve", folder, "--k", "3", "--forced", "w7", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["forced"] == ["w7"]
    assert main(["solve", folder, "--k", "3", "--forced", "no word"]) == 2
    assert "given by name" in capsys.readouterr().err
    flipped(tmp_path / "s" / "data.npy")
    assert main(["verify", folder, proof]) == 1
    assert main(["solve", folder, "--k", "3"]) == 2
    assert "is damaged" in capsys.readouterr().err
    assert main(["shard", str(source), folder]) == 2
    assert main(["solve", folder, "--k", "3", "--prepare", "log2"]) == 2


# --- memory -------------------------------------------------------------------------------------------------

PEAK = """
import sys
import numpy as np
import nspca
from nspca.data.formats import delimited, entries
from nspca.shards.sources import shard
entries.LINES = 2**16
if sys.argv[1] == "shard":
    shard(sys.argv[2] + "/docword.x.txt", sys.argv[2] + "/s", megabytes=1)
else:
    shards = nspca.Shards(sys.argv[2] + "/s")
    result = nspca.solve(nspca.Problem.from_shards(shards, (5, 5)))
    nspca.verify(shards, result.certificate)
from pathlib import Path
status = Path("/proc/self/status").read_text()  # getrusage would include the process that started this one
print(status.split("VmHWM:")[1].split()[0])
"""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_flat_in_the_number_of_rows(tmp_path):
    peaks = {}
    for m in (20_000, 160_000):
        folder = tmp_path / str(m)
        folder.mkdir()
        X = counts(np.random.default_rng(0), m, 300, words=20)
        entries = pd.DataFrame({"i": X.tocoo().row + 1, "j": X.indices + 1, "v": X.data.astype(int)})
        with (folder / "docword.x.txt").open("w") as handle:
            handle.write(f"{m}\n300\n{X.nnz}\n")
            entries.to_csv(handle, sep=" ", header=False, index=False)
        for step in ("shard", "solve"):
            command = [sys.executable, "-c", PEAK, step, str(folder)]
            peaks[step, m] = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    for step in ("shard", "solve"):  # eight times the rows: 35 MB of shards more, 30 MB of text
        assert peaks[step, 160_000] < peaks[step, 20_000] + 12_000, peaks
