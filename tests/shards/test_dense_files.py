"""NPY, dense NPZ and HDF5 files become shards block by block, and the sentences about size name that way."""

import gzip
import shlex
import sys
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import nspca
from nspca.__main__ import main
from nspca.covariance.numbers import canonical, sparse_digest
from nspca.data import limits
from nspca.errors import InvalidData, InvalidOption
from nspca.shards.sources import shard

h5py = pytest.importorskip("h5py")
X = np.where(
    np.random.default_rng(0).random((57, 9)) < 0.6, np.random.default_rng(1).normal(size=(57, 9)), 0.0
)
NAMES = [f"gene {j}" for j in range(9)]


def _save(path, table) -> None:
    with path.open("wb") as file:  # np.save would add an ending
        np.save(file, table)


def hdf5(path, **members) -> None:
    with h5py.File(path, "w") as file:
        for name, value in members.items():
            if sp.issparse(value):
                group = file.create_group(name)
                group.attrs["shape"], group.attrs["encoding-type"] = value.shape, "csr_matrix"
                for part in ("data", "indices", "indptr"):
                    group[part] = getattr(value, part)
            else:
                file[name] = value


def write(kind: str, path) -> None:
    if kind == "npy":
        _save(path, X)
    elif kind == "npy by columns":
        _save(path, np.asfortranarray(X))
    elif kind == "npy of images":
        _save(path, X.reshape(57, 3, 3))
    elif kind == "npz":
        with path.open("wb") as file:
            np.savez_compressed(file, X=X, feature_names=np.array(NAMES))
    elif kind == "npz by columns":
        _savez(path, np.asfortranarray(X))
    elif kind == "npz of images":
        _savez(path, X.reshape(57, 3, 3))
    elif kind == "sparse npz by columns":
        _save_sparse(path, sp.csc_array(X))
    elif kind == "HDF5":
        hdf5(path, X=X, feature_names=np.array(NAMES, dtype=h5py.string_dtype()))
    elif kind == "HDF5, another name":
        hdf5(path, numbers=X)
    else:
        hdf5(path, X=sp.csr_array(X))


KINDS = ["npy", "npy by columns", "npy of images", "npz", "npz by columns", "npz of images"]
KINDS += ["sparse npz by columns", "HDF5", "HDF5, another name", "sparse HDF5"]
NOTES = {
    "npy of images": ("A stack of images of 3 x 3 pixels was unrolled row by row.",),
    "npz of images": ("A stack of images of 3 x 3 pixels was unrolled row by row.",),
    "HDF5, another name": ('The table "numbers" was taken.',),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_is_planned_and_sharded_in_blocks(kind, tmp_path):
    path = tmp_path / "table"
    write(kind, path)
    assert (nspca.plan(path, k=2).size.rows, nspca.plan(path, k=2).size.columns) == (57, 9)
    table = shard(path, tmp_path / "rows", rows=10)
    assert len(table) == 6
    whole = np.vstack([block.toarray() for block in table.blocks()])
    assert np.array_equal(whole, X)
    assert (tuple(table.feature_names) == tuple(NAMES)) == (kind in ("npz", "HDF5"))
    assert table.digest == sparse_digest(canonical(sp.csr_array(X)))
    assert table.notes == NOTES.get(kind, ())
    ending = ".h5" if "HDF5" in kind else ""
    if ending:
        path.rename(tmp_path / "table.h5")
    assert nspca.read(tmp_path / f"table{ending}").notes == table.notes
    assert {file.suffix for file in (tmp_path / "rows").iterdir()} <= {".npy", ".json", ".txt"}
    assert len(list((tmp_path / "rows").glob("*.npy"))) == 3


@pytest.mark.parametrize("kind", ["HDF5", "HDF5, another name", "sparse HDF5"])
def test_an_hdf5_file_of_ones_own_is_read_by_its_path_and_never_from_bytes(kind, tmp_path):
    path = tmp_path / "table.h5"
    write(kind, path)
    data = nspca.read(path)
    found = data.X.toarray() if sp.issparse(data.X) else data.X
    assert np.array_equal(found, X) and (data.feature_names == tuple(NAMES)) == (kind == "HDF5")
    with pytest.raises(InvalidData, match="never opened from uploads"):
        nspca.read(path.read_bytes())
    with pytest.raises(InvalidData, match="There is no file"):
        nspca.read(tmp_path / "none.h5")


def _odd(tmp_path):
    gap = X.copy()
    gap[31, 4] = np.nan
    yield "npy", lambda path: _save(path, gap), "Row 32 .* has no number in column 5"
    yield "hdf5", lambda path: hdf5(path, X=gap), "Row 32 .* has no number in column 5"
    yield "text", lambda path: _save(path, np.array([["a", "b"], ["c", "d"]])), "must hold real numbers"
    yield "cut", lambda path: path.write_bytes(_saved(tmp_path)[:-8]), "damaged or cut short"
    yield "packed", lambda path: path.write_bytes(gzip.compress(_saved(tmp_path))), "is packed.*unpack it"
    yield "packed npz", lambda path: _pack(path, lambda own: _savez(own, X)), "is packed.*unpack it"

    yield "inf", lambda path: _save(path, np.where(X > 2, np.inf, X)), "must be a finite number"
    yield "ticks", lambda path: _save(path, np.full((5, 3), 2**60 + 1)), "must fit float64"
    yield "two", lambda path: hdf5(path, a=X, b=X), "exactly one table of numbers; its tables are a, b"
    yield "none", lambda path: hdf5(path, a=np.arange(4)), r"its tables are none.* a \(4, int64\)"
    yield "by columns", lambda path: _savez(path, np.asfortranarray(gap)), "Row 32 .* no number in column 5"
    yield "sparse", lambda path: _save_sparse(path, sp.csc_array(gap)), "row 32 has another"
    yield "diagonals", lambda path: _save_sparse(path, sp.dia_array(X)), "in CSR or CSC form"

    yield "one number", lambda path: _save(path, np.array(3.0)), "2 dimensions.*got 0"
    yield "a list", lambda path: _save(path, X[:, 0]), "2 dimensions.*got 1"
    yield "four", lambda path: _savez(path, X.reshape(57, 3, 3, 1)), "2 dimensions.*got 4"
    yield "one column", lambda path: _save(path, X[:, :1]), "a row and two columns at least, got 57 x 1"
    yield "no rows", lambda path: _savez(path, X[:0]), "a row and two columns at least, got 0 x 9"
    yield "complex", lambda path: _save(path, X * 1j), "real numbers.*got type complex128"
    yield "objects", lambda path: _save(path, X.astype(object)), "never opened"
    yield "longer", lambda path: path.write_bytes(_saved(tmp_path) + bytes(1)), "4104 bytes .* holds 4105"
    yield "nothing", lambda path: path.write_bytes(b""), "is empty"
    yield "no shape", lambda path: hdf5(path, X=h5py.Empty("f8")), r"X \(empty, float64\)"
    yield "X of images", lambda path: hdf5(path, X=X.reshape(57, 3, 3), a=X), r"X \(57 x 3 x 3, float64\)"
    yield "cut HDF5", lambda path: _cut(path), r"as an HDF5 file \(truncated file\): it may be damaged"
    yield "csc", lambda path: _csc(path), "sparse matrix by rows"
    yield "indices", lambda path: hdf5(path, X=_beyond()), "do not fit"
    yield "broken", lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(90)), "damaged or cut short"
    yield (
        "external",
        lambda path: _elsewhere(path, external=[(b"/dev/zero", 0, 4104)]),
        "numbers itself, got X",
    )
    yield (
        "virtual",
        lambda path: _elsewhere(path, layout=h5py.VirtualLayout(X.shape, float)),
        "numbers itself, got X",
    )
    yield "link", lambda path: _link(path), "numbers itself, got X"
    yield "names", lambda path: _name(path, "/dev/zero"), "itself, got feature_names, which is in another"
    yield "torn", lambda path: _tear(path), "is damaged, its X cannot be read"
    yield "archive", lambda path: _zip(path), "got a ZIP or folder: convert it"


def _saved(tmp_path) -> bytes:
    np.save(tmp_path / "whole.npy", X)
    return (tmp_path / "whole.npy").read_bytes()


def _savez(path, table) -> None:
    with path.open("wb") as file:
        np.savez(file, X=table)


def _save_sparse(path, matrix) -> None:
    with path.open("wb") as file:
        sp.save_npz(file, matrix)


def _pack(path, make) -> None:
    make(path)
    path.write_bytes(gzip.compress(path.read_bytes()))


def _cut(path) -> None:
    hdf5(path, X=X)
    path.write_bytes(path.read_bytes()[:3000])


def _elsewhere(path, layout=None, **how) -> None:
    with h5py.File(path, "w") as file:
        if layout is None:
            file.create_dataset("X", shape=X.shape, dtype="f8", **how)
        else:
            layout[:] = h5py.VirtualSource(str(path) + ".none", "X", shape=X.shape)
            file.create_virtual_dataset("X", layout)


def _link(path) -> None:
    hdf5(path.with_suffix(".other"), X=X)
    with h5py.File(path, "w") as file:
        file["X"] = h5py.ExternalLink(str(path.with_suffix(".other")), "/X")


def _name(path, other) -> None:
    hdf5(path, X=X)
    with h5py.File(path, "a") as file:
        file.create_dataset("feature_names", (9,), "S7", external=[(other, 0, 63)])


def _tear(path) -> None:
    with h5py.File(path, "w") as file:
        table = file.create_dataset("X", data=X, chunks=X.shape, compression="gzip")
        start = table.id.get_chunk_info(0).byte_offset
    whole = bytearray(path.read_bytes())
    whole[start + 8 : start + 40] = bytes(32)
    path.write_bytes(whole)


def _zip(path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("table.csv", "a,b\n1,2\n3,5\n")


def _csc(path) -> None:
    hdf5(path, X=sp.csr_array(X))
    with h5py.File(path, "a") as file:
        file["X"].attrs["encoding-type"] = "csc_matrix"


def _beyond() -> sp.csr_array:
    table = sp.csr_array(X)
    table.indices = table.indices + 5
    return table


@pytest.mark.parametrize("number", range(34))
def test_what_cannot_be_sharded_is_one_sentence_and_leaves_nothing(number, tmp_path):
    odd = [*_odd(tmp_path)]
    _, make, sentence = odd[number]
    assert len(odd) == 34
    make(tmp_path / "file")
    with pytest.raises(InvalidData, match=sentence) as error:
        shard(tmp_path / "file", tmp_path / "rows", rows=10)
    assert "\n" not in str(error.value) and not (tmp_path / "rows").exists()
    assert not list(tmp_path.glob(".rows*"))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0)])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array])
def test_a_sparse_matrix_without_rows_or_columns_is_refused_in_a_sentence(make, shape, tmp_path):
    sp.save_npz(tmp_path / "none.npz", make(shape))
    with pytest.raises(InvalidData, match=f"got {shape[0]} samples and {shape[1]} features"):
        nspca.read(tmp_path / "none.npz")
    with pytest.raises(InvalidData, match=f"got {shape[0]} x {shape[1]}"):
        nspca.plan(tmp_path / "none.npz")


def test_what_a_killed_run_left_is_named_and_not_touched(tmp_path, capsys):
    left, other = tmp_path / ".rows.abc.part", tmp_path / ".rows2.abc.part"
    left.mkdir()
    other.mkdir()
    _save(tmp_path / "file", X)
    assert main(["shard", str(tmp_path / "file"), str(tmp_path / "rows")]) == 0
    said = capsys.readouterr().err
    assert f"{left} is of a run that was killed or still writes" in said and str(other) not in said
    assert left.is_dir() and main(["shard", str(tmp_path / "file"), str(tmp_path / "more")]) == 0
    assert "killed" not in capsys.readouterr().err


def test_a_file_too_large_for_memory_names_the_way_that_works(tmp_path, monkeypatch, capsys):
    path, folder = tmp_path / "large.npy", tmp_path / "rows"
    _save(path, X)
    monkeypatch.setattr(limits, "MAX_BYTES", 1000)
    assert main(["solve", str(path), "--k", "3"]) == 2
    said = capsys.readouterr().err
    assert "python -m nspca shard FILE FOLDER" in said and "in memory" in said
    assert main(["shard", str(path), str(folder)]) == 0
    assert main(["solve", str(folder), "--k", "3"]) == 0


@pytest.mark.parametrize("head", ["999999999\n5\n3\n", "5\n999999999\n3\n"])
def test_a_header_that_no_shards_are_made_of_is_refused_alike_by_all(head, tmp_path):
    path = tmp_path / "docword.txt"
    path.write_text(f"{head}1 1 1\n2 2 1\n3 3 1\n")
    for call in (nspca.read, nspca.plan, lambda path: shard(path, tmp_path / "rows")):
        with pytest.raises(InvalidData, match="one more for each entry"):
            call(path)


def test_the_command_that_a_plan_names_can_be_pasted(tmp_path, monkeypatch):
    path = tmp_path / "my table; rm.npy"
    _save(path, X)
    monkeypatch.setattr(limits, "MAX_VALUES", 100)
    words = shlex.split(nspca.plan(path).command.replace("FOLDER", str(tmp_path / "rows")))
    assert words[:3] == ["python", "-m", "nspca"] and main(words[3:]) == 0


@pytest.mark.parametrize(
    "option", [{"vocabulary": "words.txt"}, {"id_column": "a"}, {"label_column": 0}, {"decimal": ","}]
)
def test_an_option_about_other_files_is_refused(option, tmp_path):
    _save(tmp_path / "file", X)
    with pytest.raises(InvalidOption, match=r"leave (it|them) out"):
        shard(tmp_path / "file", tmp_path / "rows", **option)


def test_without_h5py_it_says_what_is_missing(tmp_path, monkeypatch):
    write("HDF5", tmp_path / "table.h5")
    monkeypatch.setitem(sys.modules, "h5py", None)
    for call in (nspca.read, nspca.plan, lambda path: shard(path, tmp_path / "rows")):
        with pytest.raises(nspca.NSPCAError, match="got no h5py"):
            call(tmp_path / "table.h5")


@pytest.mark.parametrize("sparse", [False, True])
def test_a_table_without_rows_is_refused_in_a_sentence(tmp_path, sparse):
    file = tmp_path / "none.h5"
    with h5py.File(file, "w") as made:
        if sparse:
            group = made.create_group("X")
            group["data"], group["indices"] = np.zeros(0), np.zeros(0, dtype=int)
            group["indptr"] = np.zeros(1, dtype=int)
            group.attrs["shape"], group.attrs["encoding-type"] = (0, 5), "csr_matrix"
        else:
            made.create_dataset("X", data=np.zeros((0, 5)))
    with pytest.raises(InvalidData, match="needed, got 0 samples and 5 features"):
        nspca.read(file)
