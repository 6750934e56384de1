"""Hostile files: each is refused in one sentence, before anything large is allocated."""

import gc
import gzip
import io
import pickle
import struct
import threading
import time
import zipfile
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import nspca.validation.archive
from nspca.data import limits, neutralise, read
from nspca.errors import InvalidData
from nspca.validation.archive import npy_layout, read_npy
from tests.files import archive, npy

pytestmark = pytest.mark.usefixtures("bounded_memory")


def npy_header(shape: tuple[int, ...], descr: str = "<f8", held: bytes = b"") -> bytes:
    text = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + held


class Evil:
    def __reduce__(self):
        return (open, ("opened-by-pickle", "w"))


@pytest.mark.parametrize("shape", [(-1, -8), (-1, 8), (-3,)])
def test_npy_header_of_negative_lengths(shape):
    with pytest.raises(InvalidData, match="header cannot be read"):
        read(npy_header(shape, held=bytes(64)))


def test_numbers_of_any_length_in_the_names_of_a_zip():
    files = {f"img{'9' * 50_000}.pgm": b"P5 2 2 255\naaaa", "img10.pgm": b"P5 2 2 255\nbbbb"}
    files |= {"img9.pgm": b"P5 2 2 255\ncccc", "img009.pgm": b"P5 2 2 255\ndddd"}
    data = read(archive(files))
    assert data.X[:, 0].tolist() in ([99, 100, 98, 97], [100, 99, 98, 97])


@pytest.mark.parametrize("shape", [(True, True), (True, 2), (2, True), (False, 3)])
def test_npy_header_of_truth_values(shape):
    """Python takes True for the number 1, and NumPy's reader of arrays does not."""
    raw = npy_header(shape, held=bytes(8 * int(np.prod(shape))))
    for source in (raw, archive({"X.npy": raw}), archive({"a.npy": raw})):
        with pytest.raises(InvalidData, match=r"^The array's header cannot be read: save it again"):
            read(source)


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


@pytest.mark.parametrize("shape", [(200_000, 200_000), (2**62, 2**62), (2, -3), (10**30, 2)])
def test_npy_header_that_claims_more_than_the_file_holds(shape):
    raw = npy_header(shape)
    assert len(raw) < 200
    for source in (raw, archive({"X.npy": raw})):
        with pytest.raises(InvalidData, match=r"says it holds|header cannot be read"):
            read(source)


def test_the_claim_is_named_in_the_sentence():
    with pytest.raises(InvalidData, match="298 GiB"):
        read(npy_header((200_000, 200_000)))


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


@pytest.mark.parametrize("descr", ["[('a', '<f8')]", "|V8", "<M8[s]"])
def test_structured_and_strange_types(descr):
    text = (
        b"{'descr': %s, 'fortran_order': False, 'shape': (2, 2), }"
        % (descr if descr[0] == "[" else repr(descr)).encode()
    )
    raw = b"\x93NUMPY\x01\x00" + struct.pack("<H", 118) + text.ljust(117) + b"\n" + bytes(32)
    with pytest.raises(InvalidData, match=r"real numbers or text|header cannot be read"):
        read(raw)


def test_npy_header_of_deep_nesting():
    text = b"(" * 4000 + b"\n"
    with pytest.raises(InvalidData, match="header cannot be read"):
        read(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text)


def test_sparse_parts_that_point_outside():
    parts = {
        "data": np.ones(2),
        "indices": np.array([0, 10**9]),
        "indptr": np.array([0, 1, 2]),
        "shape": np.array([2, 3]),
    }
    stream = io.BytesIO()
    np.savez(stream, **parts)
    with pytest.raises(InvalidData, match="do not fit together"):
        read(stream.getvalue())
    stream = io.BytesIO()
    np.savez(stream, **parts | {"shape": np.array([2**60, 2**60])})
    with pytest.raises(InvalidData, match="at most"):
        read(stream.getvalue())


def sparse_npz(**parts) -> bytes:
    whole = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2])}
    stream = io.BytesIO()
    np.savez(stream, **whole | {"shape": np.array([2, 3])} | parts)
    return stream.getvalue()


def test_rows_and_columns_are_paid_for_by_entries():
    """A header of 40 bytes bought two million names, and half a minute of the page."""
    lines = b"1 1 1\n2 2 1\n"
    matrix = b"%%MatrixMarket matrix coordinate real general\n"
    long = np.append([0, 1], np.full(1_999_999, 2))
    for raw in (
        b"2000000\n1000000\n2\n" + lines,
        matrix + b"999999 1000000 2\n" + lines,
        sparse_npz(indptr=long, shape=np.array([2_000_000, 3])),
    ):
        with pytest.raises(InvalidData, match="one more for each entry, this one says"):
            read(raw)
    data = read(b"100002\n100000\n2\n" + lines)
    assert data.X.shape == (100_002, 100_000)
    assert data.sample_names[100_001] == "document 100002" and data.feature_names[:2] == ("word 1", "word 2")


@pytest.mark.parametrize(
    "layout", [np.array(b"\xff"), np.array([b"csr", b"csr"]), np.array(np.nan), np.array("x")]
)
def test_a_sparse_layout_that_is_none(layout):
    with pytest.raises(InvalidData, match="CSR or CSC form"):
        read(sparse_npz(format=layout))


EXTRAS = [
    "labels",
    "y",
    "feature_names",
    "sample_names",
    "image_shape",
    "wavelength_um",
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
        stream = io.BytesIO()
        np.savez(stream, X=np.arange(12.0).reshape(4, 3), **{key: value})
        try:
            assert read(stream.getvalue()).X.shape == (4, 3)
        except InvalidData as refused:
            assert str(refused).endswith(".")


@pytest.mark.parametrize(
    ("head", "sentence"),
    [
        (b"99999999999\n10\n10\n", "at most"),
        (b"10\n99999999999\n10\n", "at most"),
        (b"10\n10\n99999999999\n", "at most"),
        (b"10\n10\n20000000\n", "too short"),
    ],
)
def test_docword_header_is_checked_before_the_body(head, sentence):
    with pytest.raises(InvalidData, match=sentence):
        read(head + b"1 1 1\n")


def test_zip_bomb_by_ratio_and_by_size(monkeypatch):
    bomb = archive({"a.csv": bytes(20 * 2**20)})
    assert len(bomb) < 2**16
    with pytest.raises(InvalidData, match="would grow"):
        read(bomb)
    monkeypatch.setattr(nspca.validation.archive, "MAX_BYTES", 2**20)
    with pytest.raises(InvalidData, match="would unpack to"):
        read(bomb)


def test_zip_that_lies_about_sizes():
    raw = bytearray(archive({"a.csv": b"1,2\n3,4\n" * 2**14}))
    entry = raw.rindex(b"PK\x01\x02")
    raw[entry + 24 : entry + 28] = struct.pack("<I", 8)
    with pytest.raises(InvalidData, match=r"damaged|lies|At least two samples|got"):
        read(bytes(raw))


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


def test_gzip_that_grows_more_than_text_does():
    bomb = gzip.compress(bytes(24 * 2**20))
    with pytest.raises(InvalidData, match="grows more than 200 times when unpacked"):
        read(bomb)


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


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_a_line_that_never_ends_is_not_split(monkeypatch, end):
    monkeypatch.setattr(limits, "MAX_LINE", 1000)
    with pytest.raises(InvalidData, match="longer than"):
        read(b"1,2" + end + b"7," * 5000)
    assert read((b"1,2" + end) * 2000).X.shape == (2000, 2)


def test_table_of_too_many_columns(monkeypatch):
    monkeypatch.setattr(limits, "MAX_TEXT_COLUMNS", 50)
    with pytest.raises(InvalidData, match=r"at most 50 columns, this one has 51.*features in rows"):
        read(b",".join([b"1"] * 51) + b"\n" + b",".join([b"2"] * 51))


def test_names_in_archives_are_never_paths(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pixels = b"P5 2 2 255\n\x01\x02\x03\x04"
    data = read(
        archive({"../../outside.pgm": pixels, "/etc/absolute.pgm": pixels, "..\\windows.pgm": pixels})
    )
    assert set(data.sample_names) == {"outside", "absolute", "windows"}
    assert list(tmp_path.iterdir()) == []
    assert not (tmp_path.parent.parent / "outside.pgm").exists()


def test_links_in_a_zip_are_not_followed():
    link = zipfile.ZipInfo("folder/a.csv")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as target:
        target.writestr(link, "/etc/passwd")
    with pytest.raises(InvalidData, match=r'holds the link "a\.csv" in place'):
        read(stream.getvalue())


def test_links_in_a_folder_are_not_followed(tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_bytes(b"1,2\n3,4\n")
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "table.csv").symlink_to(secret)
    with pytest.raises(InvalidData, match="this one is empty"):
        read(tmp_path / "given")


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(bytes(1000)))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("side", [1100, 12_000, 60_000])
def test_pixel_bomb(side):
    with pytest.raises(InvalidData, match="pixels"):
        read(archive({"a.png": png(side, side), "b.png": png(side, side)}))
    with pytest.raises(InvalidData, match=r"pixels|not an image"):
        read(archive({"a.pgm": b"P5 %d %d 255\n" % (side, side), "b.pgm": b""}))


def test_many_images_are_counted_before_they_are_stacked():
    header = png(1000, 1000)
    with pytest.raises(InvalidData, match=r"values|not an image"):
        read(archive({f"{i}.png": header for i in range(100)}))


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
