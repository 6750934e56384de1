"""Formats of other programs: a file written by the program's own library is read as its table."""

import io
import json
import zipfile

import numpy as np
import pandas as pd
import pytest

from nspca.data import read, read_text
from nspca.data.formats import foreign
from nspca.errors import InvalidData

FRAME = pd.DataFrame(
    {
        "name": ["ann", "bob", "cid", "dan", "eve", "fay"],
        "a": [1.5, -2.25, 1 / 3, 1e-300, 5.0, 6.5],
        "b": np.array([1, 2, 3, 4, 5, 7], dtype="int16"),
        "kind": ["x", "y", "x", "y", "x", "ü"],
    }
)
X = FRAME[["a", "b"]].to_numpy().tolist()


def stata(frame=FRAME, **options) -> bytes:
    stream = io.BytesIO()
    frame.to_stata(stream, write_index=False, **options)
    return stream.getvalue()


def feather(frame=FRAME, **options) -> bytes:
    stream = io.BytesIO()
    frame.to_feather(stream, **options)
    return stream.getvalue()


def xport(path) -> bytes:
    pyreadstat = pytest.importorskip("pyreadstat")
    pyreadstat.write_xport(FRAME, path / "a.xpt", file_format_version=5)
    return (path / "a.xpt").read_bytes()


def records(frame=FRAME) -> list[dict]:
    return [
        {key: None if value != value else value for key, value in row.items()}
        for row in frame.to_dict("records")
    ]


ARFF = (
    b"% made up\n@RELATION people\n@ATTRIBUTE name string\n@attribute 'a' NUMERIC\n@ATTRIBUTE b real\n"
    b"@ATTRIBUTE kind {x,y,'\xc3\xbc'}\n\n@DATA\n% rows\n"
    + "".join(f"{n},{a!r}, {b},'{k}'\n" for n, a, b, k in FRAME.itertuples(index=False)).encode()
)
KINDS = {
    "Stata": stata(version=118),
    "Stata 13": stata(FRAME.replace("ü", "u"), version=117),
    "Stata 10": stata(FRAME.replace("ü", "u"), version=114),
    "Feather": feather(),
    "Feather, LZ4": feather(compression="lz4"),
    "Feather, plain": feather(FRAME.astype({"kind": "category"}), compression="uncompressed"),
    "JSON lines": "\n".join(map(json.dumps, records())).encode(),
    "JSON list": json.dumps(records(), indent=1).encode(),
    "JSON columns": json.dumps({name: FRAME[name].tolist() for name in FRAME}).encode(),
    "ARFF": ARFF,
    "ARFF, CRLF": ARFF.replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_table_is_that_of_the_program(kind):
    data = read(KINDS[kind], label_column="kind")
    assert data.X.tolist() == X
    assert (data.feature_names, data.sample_names) == (("a", "b"), tuple(FRAME["name"]))
    assert data.labels.tolist()[:5] == ["x", "y", "x", "y", "x"]


def test_a_sas_transport_file_keeps_its_last_record(tmp_path):
    data = read(xport(tmp_path), label_column="kind")
    assert np.allclose(data.X, X, rtol=1e-14, atol=1e-78)
    assert data.sample_names == tuple(FRAME["name"]) and data.labels[-1] == "ü"


def test_missing_values_stay_missing():
    gaps = FRAME.assign(a=[1.5, np.nan, 3, 4, 5, 6])
    for raw in (stata(gaps, version=118), feather(gaps), "\n".join(map(json.dumps, records(gaps))).encode()):
        assert read(raw, missing="samples", label_column="kind").X[:, 0].tolist() == [1.5, 3, 4, 5, 6]
    assert read(ARFF.replace(b"-2.25", b"?"), missing="samples", label_column="kind").X.shape == (5, 2)


def test_codes_with_value_labels_stay_numbers_and_are_said():
    answers = FRAME[["a", "b"]].assign(q=pd.Categorical(["no", "yes", "no", "no", "yes", "no"]))
    data = read(stata(answers))
    assert data.X.shape == (6, 3) and any("value labels" in note for note in data.notes)


def test_json_that_is_no_table_is_refused_and_lists_are_left_out():
    nested = [{"a": 1, "b": i, "c": [1, 2]} for i in range(3)]
    assert any('"c"' in note for note in read("\n".join(map(json.dumps, nested)).encode()).notes)
    for raw in (b'{"a": {"b": [1, 2]}}', b"[[[[[[", b'{"a"' * 2000):
        with pytest.raises(InvalidData) as caught:
            read(raw)
        assert str(caught.value).endswith(".")
    lines = "\n".join(json.dumps({"id": i, "text": f"the river floods the old town {i}"}) for i in range(12))
    assert read_text(lines.encode(), highest_share=1.0).X.shape[0] == 12


def test_sparse_arff():
    raw = b"@relation r\n@attribute a numeric\n@attribute b numeric\n@attribute c numeric\n@data\n"
    raw += b"{0 1.5, 2 3}\n{1 2}\n{}\n{2 -1}\n"
    assert read(raw).X.tolist() == [[1.5, 0, 3], [0, 2, 0], [0, 0, 0], [0, 0, -1]]
    with pytest.raises(InvalidData, match="attribute"):
        read(raw + b"{9 1}\n")


def test_svmlight_has_labels():
    raw = b"# made up\n+1 1:0.5 3:2 # one\n-1 2:1.25\n+1 qid:2 1:1e-3 2:3 3:1\n-1 3:.5\n"
    data = read(raw)
    assert data.X.toarray().tolist() == [[0.5, 0, 2], [0, 1.25, 0], [1e-3, 3, 1], [0, 0, 0.5]]
    assert data.labels.tolist() == [1, -1, 1, -1]
    with pytest.raises(InvalidData, match="ascending"):
        read(b"1 1:2 2:1\n1 2:1 1:3\n")
    for claim in (b"1 1:1 999999999:1\n", b"1 2147483646:1\n"):
        with pytest.raises(InvalidData, match="entries"):
            read(b"1 1:2 2:1\n" + claim)


def idx(array, kind=8) -> bytes:
    shape = b"".join(side.to_bytes(4, "big") for side in array.shape)
    return bytes([0, 0, kind, array.ndim]) + shape + array.tobytes()


def test_idx_images_and_their_labels(tmp_path):
    images = np.arange(5 * 4 * 3, dtype=np.uint8).reshape(5, 4, 3)
    labels = np.array([1, 0, 1, 0, 7], dtype=np.uint8)
    data = read(idx(images))
    assert data.X.tolist() == images.reshape(5, 12).tolist() and data.image_shape == (4, 3)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(images))
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(labels))
    both = read(tmp_path)
    assert both.labels.tolist() == labels.tolist() and both.image_shape == (4, 3)
    assert read(idx(np.linspace(0, 1, 8).astype(">f4").reshape(4, 2), 13)).X.shape == (4, 2)
    for wrong in (idx(images)[:-1], idx(images) + b"1", bytes([0, 0, 8, 3]) + b"\xff" * 12, idx(labels)):
        with pytest.raises(InvalidData):
            read(wrong)


@pytest.mark.parametrize(
    ("member", "said"),
    [
        ("ppt/presentation.xml", "PowerPoint"),
        ("word/document.xml", "Word"),
        ("META-INF/container.xml", "EPUB"),
        ("Index/Document.iwa", "Numbers"),
        ("xl/workbook.bin", "xlsb"),
    ],
)
def test_archives_that_are_not_read_have_a_name(member, said):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", "application/x")
        archive.writestr(member, "x")
        archive.writestr("ppt/media/a.png", b"\x89PNG")
        archive.writestr("ppt/media/b.png", b"\x89PNG")
    with pytest.raises(InvalidData, match=said):
        read(stream.getvalue())


def test_an_open_document_text_has_a_name():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", "<x/>")
    with pytest.raises(InvalidData, match="OpenDocument text"):
        read(stream.getvalue())


@pytest.mark.parametrize(
    ("begins", "said"),
    [
        (b"X\n\0\0\0\3", "rds"),
        (b"$FL2@(#) SPSS", "SPSS"),
        (b"%PDF-1.7", "PDF"),
        (b"RDX3\n", "RData"),
        (b"II*\0", "one image"),
    ],
)
def test_files_that_are_not_read_have_a_name(begins, said):
    with pytest.raises(InvalidData, match=said):
        read(begins + bytes(80))
    assert all(one.refused for one in foreign.FORMATS)


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_give_a_dataset_or_a_sentence(kind):
    rng, raw = np.random.default_rng(3), KINDS[kind]
    for trial in range(60):
        body = bytearray(raw[: rng.integers(1, len(raw))] if trial % 3 == 0 else raw)
        for _ in range(trial % 4):
            body[rng.integers(len(body))] = rng.integers(256)
        try:
            assert np.isfinite(read(bytes(body)).X).all()
        except InvalidData as error:
            assert str(error).endswith(".") and "\n" not in str(error)
