"""Hostile files: each is refused in one sentence, before anything large is allocated."""

import gc
import gzip
import io
import pickle
import struct
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nspca.validation.archive
from nspca.data import limits, neutralise, read
from nspca.errors import InvalidData
from nspca.validation.archive import npy_layout, read_npy
from tests.files import archive, npy, npz

pytestmark = pytest.mark.usefixtures("bounded_memory")


def npy_header(shape: tuple[int, ...], descr: str = "<f8", held: bytes = b"") -> bytes:
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + held


class Evil:
    def __reduce__(self):
        return (open, ("opened-by-pickle", "w"))


def test_a_long_type_does_not_fill_the_sentence():
    fields = [(f"measurement{i}", "<f8") for i in range(100)]
    text = repr({"descr": fields, "fortran_order": False, "shape": (2,)}).encode() + b"\n"
    raw = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + bytes(1600)
    columns = {f"measurement{i}": pa.array([1.0, 2.0]) for i in range(100)}
    nested, stream = pa.StructArray.from_arrays(columns.values(), columns.keys()), io.BytesIO()
    pq.write_table(pa.table({"a": nested, "b": [1, 2]}), stream)
    for source, said in ((raw, "real numbers or text, got type"), (stream.getvalue(), "holds struct|footer")):
        with pytest.raises(InvalidData, match=said) as caught:
            read(source)
        assert len(str(caught.value)) < 250


def test_pickled_objects_are_never_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stream = io.BytesIO()
    np.save(stream, np.array([[Evil(), 1], [2, 3]], dtype=object), allow_pickle=True)
    for source in (stream.getvalue(), archive({"X.npy": stream.getvalue()})):
        with pytest.raises(InvalidData, match="pickled Python objects, which are never opened"):
            read(source)
    named = archive({"X.npy": npy_header((2, 2), held=bytes(32)), "feature_names.npy": stream.getvalue()})
    with pytest.raises(InvalidData, match="pickled"):
        read(named)
    with pytest.raises(InvalidData):
        read(pickle.dumps(Evil()))
    assert list(tmp_path.glob("opened*")) == []


def test_a_header_may_have_more_rows_and_columns_than_entries_up_to_a_hundred_thousand():
    data = read(b"100002\n100000\n2\n1 1 1\n2 2 1\n")
    assert data.X.shape == (100_002, 100_000)
    assert data.sample_names[100_001] == "document 100002" and data.feature_names[:2] == ("word 1", "word 2")


EXTRAS = [
    "labels",
    "y",
    "feature_names",
    "sample_names",
    "image_shape",
    "axis",
    "header",
    "header_names",
    "prepared",
]


@pytest.mark.parametrize("key", EXTRAS)
def test_npz_with_anything_in_its_extra_fields(key):
    """Each is taken, left out with a note, or refused with a sentence."""
    odd = [
        np.array([np.nan] * 4),
        np.array(np.nan),
        np.array("x"),
        np.array([b"\xff"] * 4),
        np.array([["a"]] * 4),
    ]
    odd += [np.array([2**62, 2**62]), np.array([-1, -3]), np.array([]), np.array([1e300, 3.0])]
    for value in odd:
        try:
            assert read(npz(X=np.arange(12.0).reshape(4, 3), **{key: value})).X.shape == (4, 3)
        except InvalidData as refused:
            assert str(refused).endswith(".")


def test_zip_bomb_by_ratio_and_by_size(monkeypatch):
    bomb = archive({"a.csv": bytes(20 * 2**20)})
    assert len(bomb) < 2**16
    with pytest.raises(InvalidData, match="would grow"):
        read(bomb)
    monkeypatch.setattr(nspca.validation.archive, "MAX_BYTES", 2**20)
    with pytest.raises(InvalidData, match="would unpack to"):
        read(bomb)


def test_zip_of_too_many_files(monkeypatch):
    monkeypatch.setattr(limits, "MAX_FILES", 10)
    with pytest.raises(InvalidData, match="at most 10 files, this one holds 11"):
        read(archive({f"{i}.pgm": b"" for i in range(11)}))


def test_gzip_bomb_stops_at_the_cap(monkeypatch):
    monkeypatch.setattr(limits, "MAX_BYTES", 2**20)
    with pytest.raises(InvalidData, match="unpacks to more than 1 MiB"):
        read(gzip.compress(bytes(32 * 2**20)))


def test_a_gzip_file_that_is_too_large_names_the_way_that_works(monkeypatch):
    monkeypatch.setattr(limits, "MAX_BYTES", 100)
    with pytest.raises(
        InvalidData, match=r"or solve it from the disk, after `python -m nspca shard FILE FOLDER`"
    ):
        read(gzip.compress(b"a,b\n" + b"1,2\n" * 200))


def test_file_larger_than_the_cap(monkeypatch, tmp_path):
    monkeypatch.setattr(limits, "MAX_BYTES", 1000)
    path = tmp_path / "a.csv"
    path.write_bytes(b"1,2\n" * 1000)
    for source in (path, path.read_bytes(), io.BytesIO(path.read_bytes())):
        with pytest.raises(InvalidData, match="at most"):
            read(source)


def test_table_of_too_many_values(monkeypatch):
    monkeypatch.setattr(limits, "MAX_VALUES", 100)
    with pytest.raises(InvalidData, match=r"51 rows and 2 columns.*`python -m nspca shard FILE FOLDER"):
        read(b"1,2\n" * 51)
    with pytest.raises(InvalidData, match=r"30000000 entries.*`python -m nspca shard FILE FOLDER"):
        limits.check_sparse(1000, 1000, 30_000_000)
    monkeypatch.setattr(limits, "MAX_TEXT_COLUMNS", 10)
    with pytest.raises(InvalidData, match=r"at most 10 columns, this one has 11.*features in rows"):
        read((b"1," * 10 + b"1\n") * 3)


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_a_line_that_never_ends_is_not_split(monkeypatch, end):
    monkeypatch.setattr(limits, "MAX_LINE", 1000)
    with pytest.raises(InvalidData, match="longer than"):
        read(b"1,2" + end + b"7," * 5000)
    assert read((b"1,2" + end) * 2000).X.shape == (2000, 2)


def test_names_in_archives_are_never_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pixels = b"P5 2 2 255\n\x01\x02\x03\x04"
    data = read(
        archive({"../../outside.pgm": pixels, "/etc/absolute.pgm": pixels, "..\\windows.pgm": pixels})
    )
    assert set(data.sample_names) == {"outside", "absolute", "windows"}
    assert list(tmp_path.iterdir()) == []
    assert not (tmp_path.parent.parent / "outside.pgm").exists()


def test_links_in_a_folder_are_not_followed(tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_bytes(b"1,2\n3,4\n")
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "table.csv").symlink_to(secret)
    with pytest.raises(InvalidData, match="this one is empty"):
        read(tmp_path / "given")


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", " =1", "\r=1", "＝1+1"]
)
def test_formulas_are_neutralised(text):
    assert neutralise(text) == "'" + text


@pytest.mark.parametrize("text", ["", "gene", "-5", "+1e3", "a=b", "1-2", "'quoted"])
def test_plain_text_and_numbers_stay(text):
    assert neutralise(text) == text


def test_headers_are_read_while_other_threads_read_some():
    """Python before 3.11.8 and 3.12.2 can raise SystemError where garbage is collected in between."""
    raw = npy(np.zeros((3, 4)))
    failed: list[Exception] = []

    def read() -> None:
        try:
            for _ in range(200):
                assert npy_layout(io.BytesIO(raw)) == ((3, 4), False, np.dtype(float))
                assert read_npy(raw).shape == (3, 4)
        except Exception as error:
            failed.append(error)

    def give_way(*_: object) -> None:
        time.sleep(0)

    threads = [threading.Thread(target=read) for _ in range(4)]
    before = gc.get_threshold()
    gc.callbacks.append(give_way)
    gc.set_threshold(3)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(give_way)
    assert not failed
