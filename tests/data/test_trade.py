"""Formats of other programs: a file written by the program's own library is read as its table."""

import json

import h5py
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from nspca.data import read, read_text
from nspca.data.formats import foreign
from nspca.errors import InvalidData
from tests.files import archive, npy, npz, saved

FRAME = pd.DataFrame(
    {
        "name": ["ann", "bob", "cid", "dan", "eve", "fay"],
        "a": [1.5, -2.25, 1 / 3, 1e-300, 5.0, 6.5],
        "b": np.array([1, 2, 3, 4, 5, 7], dtype="int16"),
        "kind": ["x", "y", "x", "y", "x", "ü"],
    }
)
X = FRAME[["a", "b"]].to_numpy().tolist()


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


def test_a_sas_transport_file_keeps_its_last_record(tmp_path):
    data = read(xport(tmp_path), label_column="kind")
    assert np.allclose(data.X, X, rtol=1e-14, atol=1e-78)
    assert data.sample_names == tuple(FRAME["name"]) and data.labels[-1] == "ü"


def test_missing_values_stay_missing():
    gaps = FRAME.assign(a=[1.5, np.nan, 3, 4, 5, 6])
    for raw in (
        saved(gaps.to_stata, write_index=False, version=118),
        saved(gaps.to_feather),
        "\n".join(map(json.dumps, records(gaps))).encode(),
    ):
        assert read(raw, missing="samples", label_column="kind").X[:, 0].tolist() == [1.5, 3, 4, 5, 6]
    assert read(ARFF.replace(b"-2.25", b"?"), missing="samples", label_column="kind").X.shape == (5, 2)


def test_codes_with_value_labels_stay_numbers_and_are_said():
    answers = FRAME[["a", "b"]].assign(q=pd.Categorical(["no", "yes", "no", "no", "yes", "no"]))
    data = read(saved(answers.to_stata, write_index=False))
    assert data.X.shape == (6, 3) and any("value labels" in note for note in data.notes)


def test_json_that_is_no_table_is_refused_lists_are_left_out_and_objects_flattened():
    nested = [{"a": 1, "b": i, "c": [1, 2]} for i in range(3)]
    assert any('"c"' in note for note in read("\n".join(map(json.dumps, nested)).encode()).notes)
    inside = [{"site": i, "x": {"a": 2.0**i, "b": {"c": -i}}} for i in range(4)]
    data = read("\n".join(map(json.dumps, inside)).encode(), id_column="site")
    assert data.feature_names == ("x.a", "x.b.c") and data.X.tolist() == [[1, 0], [2, -1], [4, -2], [8, -3]]
    assert any('"x.a", "x.b.c"' in note for note in data.notes)
    both = [{"a.b": 1.0, "a": {"b": i}, "c": i} for i in range(4)]
    with pytest.raises(InvalidData, match=r'Two values of a JSON object are called "a\.b": rename one'):
        read("\n".join(map(json.dumps, both)).encode())
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
    pictures = dict.fromkeys(("ppt/media/a.png", "ppt/media/b.png"), b"\x89PNG")
    with pytest.raises(InvalidData, match=said):
        read(archive({"mimetype": "application/x", member: "x", **pictures}))


@pytest.mark.parametrize(
    ("begins", "said"),
    [
        (b"X\n\0\0\0\3", "rds"),
        (b"$FL2@(#) SPSS", "SPSS"),
        (b"%PDF-1.7", "PDF"),
        (b"RDX3\n", "RData"),
    ],
)
def test_files_that_are_not_read_have_a_name(begins, said):
    with pytest.raises(InvalidData, match=said):
        read(begins + bytes(80))
    assert all(one.refused for one in foreign.FORMATS)


def pages(*arrays) -> bytes:
    first, *others = map(Image.fromarray, arrays)
    return saved(first.save, format="TIFF", save_all=True, append_images=others)


def loom(path) -> None:
    with h5py.File(path, "w") as file:
        file["matrix"] = np.arange(12.0).reshape(4, 3)
        file["row_attrs/Gene"], file["col_attrs/CellID"] = (
            np.array(list("abcd"), "S"),
            np.array(list("xyz"), "S"),
        )
        file["col_attrs/Cluster"] = np.array([1, 2, 1])


def test_cells_of_loom_are_its_columns(tmp_path):
    loom(tmp_path / "a.loom")
    data = read(tmp_path / "a.loom", label_column="Cluster")
    assert data.X.tolist() == np.arange(12.0).reshape(4, 3).T.tolist() and data.labels.tolist() == [1, 2, 1]
    assert (data.feature_names, data.sample_names) == (tuple("abcd"), tuple("xyz"))


def test_the_pages_of_one_image_are_samples():
    images = np.arange(24, dtype=np.uint8).reshape(3, 2, 4)
    assert read(pages(*images)).X.tolist() == images.reshape(3, 8).tolist()
    deep = images.astype(np.uint16) * 1000
    assert read(pages(*deep)).X.tolist() == deep.reshape(3, 8).tolist()
    with pytest.raises(InvalidData, match="one image, which is one sample"):
        read(pages(images[0]))


@pytest.mark.parametrize("orient", ["records", "split", "columns", "index", "table"])
def test_json_as_pandas_writes_it(orient):
    data = read(FRAME.to_json(orient=orient, double_precision=15).encode(), label_column="kind")
    assert np.allclose(data.X, X, atol=1e-15) and data.sample_names == tuple(FRAME["name"])


@pytest.mark.parametrize("index", [None, ["r1", "r2", "r3"]])
def test_json_of_columns_keeps_names_of_rows(index):
    frame = pd.DataFrame({"a": [1.5, 2, 3], "b": [4, 5, 7]}, index)
    data = read(frame.to_json().encode())
    assert data.X.tolist() == frame.to_numpy().tolist()
    assert data.sample_names == tuple(index or ("sample 1", "sample 2", "sample 3"))


def test_arff_in_every_kind_of_quotation_marks():
    raw = (
        b"@relation r\n@attribute 'it\\'s' numeric\n@attribute \"b c\" numeric\n@attribute k {'x y',\"z\"}\n"
    )
    raw += b"@data\n1,2,'x y'\n3\t4\t\"z\"\n5 , 7, 'x y', {2}\n6,1,z\n"
    data = read(raw, label_column="k")
    assert data.X.tolist() == [[1, 2], [3, 4], [5, 7], [6, 1]] and data.feature_names == ("it's", "b c")
    assert data.labels.tolist() == ["x y", "z", "x y", "z"]


def test_two_tables_of_the_same_columns_are_not_joined():
    table = b"who,a,b\nann,1,2\nbob,3,4\ncid,5,7\n"
    both = archive({"train.csv": table, "test.csv": table.replace(b"cid", b"dan")})
    with pytest.raises(InvalidData, match="two tables of the same columns") as told:
        read(both)
    ways = {way.value: read(both, **{way.option: way.value}).sample_names[2] for way in told.value.ways}
    assert ways == {"train.csv": "cid", "test.csv": "dan"}
    with pytest.raises(InvalidData, match=r'two tables, "a\.csv" and "b\.csv", that name no sample'):
        read(archive({"a.csv": b"1,2", "b.csv": b"1,2"}))


def test_what_is_left_of_an_npz_is_said():
    raw = npz(X=X, mask=np.ones(5))
    assert any('not read: "mask"' in note for note in read(raw).notes)
    with pytest.raises(InvalidData, match="no column 'kind' to take as labels: the file has none"):
        read(raw, label_column="kind")


def test_a_column_of_an_array_names_or_groups_the_samples_when_it_is_pressed():
    X = np.random.default_rng(0).normal(size=(30, 6))
    X[:, 0], X[:, 5] = 3 + 7 * np.arange(30), np.tile([1, 2, 3], 10)
    raw = npy(X)
    ways = {way.option: way.value for one in read(raw).findings for way in one.ways}
    data = read(raw, id_column=ways["id_column"], label_column=ways["label_column"])
    assert data.labels.tolist() == [1, 2, 3] * 10 and data.label_name == "feature 6"
    assert data.sample_names[:3] == ("3", "10", "17") and np.array_equal(data.X, X[:, 1:5])
    with pytest.raises(InvalidData, match="no column 'x' to take as labels"):
        read(raw, label_column="x")
    with pytest.raises(InvalidData, match='no column "x" to take as the id column'):
        read(raw, id_column="x")


def test_of_two_arrays_with_one_meaning_the_other_is_said():
    data = read(npz(X=np.eye(4, 3), y=np.arange(4), labels=np.ones((2, 2)), axis=np.array(["a"] * 3)))
    assert data.labels.tolist() == [0, 1, 2, 3]
    assert any('left out: "axis", "labels"' in note for note in data.notes)
    data = read(npz(X=np.eye(4, 3), axis=np.arange(3), wavelength_um=np.arange(3)))
    assert data.axis_name == "" and any('not read: "wavelength_um"' in note for note in data.notes)


def test_a_table_of_numbers_has_no_texts_to_count():
    with pytest.raises(InvalidData, match="no column of texts"):
        read_text(b"name,a,b,c\n" + b"".join(b"s%d,1.%d,2.5,3\n" % (i, i) for i in range(9)))


def test_an_open_document_text_has_a_name():
    files = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<x/>"}
    with pytest.raises(InvalidData, match="OpenDocument text"):
        read(archive(files))
