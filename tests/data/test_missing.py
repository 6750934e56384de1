"""Missing values: refused with a count, left out or replaced, alike in every format."""

import pickle
import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from nspca.data import read
from nspca.data.formats import delimited
from nspca.data.missing import settle
from nspca.errors import InvalidData, MissingValues, Way
from tests.files import npz, saved

GAPS = b"id,a,b,c,kind\ns1,1,,3,x\ns2,4,5,6,y\ns3,7,8,NA,x\ns4,10,11,12,y\n"
WHOLE = np.array([[1, np.nan, 3], [4, 5, 6], [7, 8, np.nan], [10, 11, 12]])
FILLED = np.array([[1, 8, 3], [4, 5, 6], [7, 8, 7], [10, 11, 12]])


FRAME = pd.DataFrame(WHOLE, columns=list("abc"), index=["s1", "s2", "s3", "s4"]).assign(kind=list("xyxy"))
NPZ = npz(
    X=WHOLE,
    labels=np.array(list("xyxy")),
    feature_names=np.array(list("abc")),
    sample_names=np.array(["s1", "s2", "s3", "s4"]),
)
FORMS = {"csv": GAPS, "excel": saved(FRAME.to_excel), "parquet": saved(FRAME.to_parquet), "npz": NPZ}


@pytest.mark.parametrize(
    ("raw", "row", "options"),
    [
        (b"a,b\n1,2\n,\n,\n3,\n5,6\n", 4, {}),
        (
            b"a,b\n" + b",\n".join([b"1,2\n" * 9000, b"1,2\n" * 9000 + b"3,\n" + b"1,2\n" * 9000, b"1,2\n"]),
            18_002,
            {},
        ),
        (b"n,a,b\nx,1,2\n,,\ny,5,\nz,7,8\n", 3, {"drop_rows": ("x",)}),
        (
            b"gene,a,b,c\nkind,u,v,u\nx,1,2,3\n,,,\ny,5,,7\n",
            4,
            {"features_in_rows": True, "label_column": "kind"},
        ),
    ],
    ids=["empty rows", "pieces", "rows left out", "features in rows"],
)
def test_the_row_of_the_first_missing_value_is_that_of_the_file(raw, row, options, monkeypatch):
    for name in ("PIECE", "PER_COLUMN", "HEAD"):
        monkeypatch.setattr(delimited, name, 4000)
    with pytest.raises(MissingValues, match=f"row {row}, "):
        read(raw, **options)


@pytest.mark.parametrize("form", FORMS)
def test_every_format_is_settled_alike(form):
    raw = FORMS[form]
    labels = {} if form == "npz" else {"label_column": "kind"}
    with pytest.raises(MissingValues, match="row 1, column ") as caught:
        read(raw, **labels)
    assert {way.value: said(way) for way in caught.value.ways} == {"samples": (2, 4), "mean": (2, 12)}
    samples = read(raw, missing="samples", **labels)
    assert samples.X.tolist() == [[4, 5, 6], [10, 11, 12]]
    assert (samples.sample_names, samples.labels.tolist()) == (("s2", "s4"), ["y", "y"])
    with pytest.raises(InvalidData, match="features with missing values would leave 1 of 3"):
        read(raw, missing="features", **labels)


@pytest.mark.parametrize("form", FORMS)
def test_means_are_put_in_and_said(form):
    data = read(FORMS[form], missing="mean")
    assert np.array_equal(data.X, FILLED)
    assert any("2 missing values in 2 features, replaced by the mean" in note for note in data.notes)


def test_features_in_rows_mean_the_features_mean():
    raw = b"gene,s1,s2,s3\ng1,1,,3\ng2,4,5,6\ng3,7,8,9\n"
    assert read(raw, features_in_rows=True, missing="mean").X.tolist() == [[1, 4, 7], [2, 5, 8], [3, 6, 9]]
    assert read(raw, features_in_rows=True, missing="features").feature_names == ("g2", "g3")
    assert read(raw, features_in_rows=True, missing="samples").sample_names == ("s1", "s3")
    turned = read(npz(X=WHOLE.T), features_in_rows=True, missing="mean")
    assert np.array_equal(turned.X, FILLED)


@pytest.mark.parametrize(
    "word", ["", "NA", "na", "N/A", "nan", "NaN", "null", "NULL", "None", "?", "-", ".", " na ", "nAn"]
)
def test_however_a_gap_is_written(word):
    data = read(f"a,b\n1,2\n3,{word}\n5,6\n".encode(), missing="samples")
    assert data.X.tolist() == [[1, 2], [5, 6]]


def test_text_is_no_gap_and_infinity_no_number():
    with pytest.raises(InvalidData, match=r'row 3, column "b" holds the text "six"'):
        read(b"a,b\n1,2\n3,NA\n5,six\n7,8\n9,1\n", missing="mean")
    with pytest.raises(InvalidData, match='"inf"'):
        read(b"a,b\n1,2\n3,NA\n5,inf\n7,8\n9,1\n", missing="mean")


def test_a_column_that_is_empty_in_the_first_lines_only():
    lines = ["a,b,c", *(f"{i},,{i}" for i in range(60)), *(f"{i},{i},{i}" for i in range(3))]
    with pytest.raises(MissingValues, match="60 are missing, in 60 samples and 1 feature"):
        read("\n".join(lines).encode())
    assert read("\n".join(lines).encode(), missing="samples").X.tolist() == [[i] * 3 for i in range(3)]


def test_sparse_tables():
    X = sp.csr_array(np.where(np.isnan(WHOLE), 0, WHOLE))
    X.data[2] = np.nan  # the 4 of the second sample
    raw = saved(sp.save_npz, sp.csr_matrix(X))
    with pytest.raises(MissingValues):
        read(raw)
    data = read(raw, missing="mean")
    assert sp.issparse(data.X) and data.X.toarray()[1].tolist() == [6, 5, 6]
    assert read(raw, missing="samples").X.shape == (3, 3)


def test_an_image_that_loses_pixels_is_a_table():
    stack = np.arange(24.0).reshape(3, 2, 4)
    stack[0, 1, 1] = np.nan
    for raw in (npz(X=stack), npz(X=stack.reshape(3, 8), image_shape=np.array([2, 4]))):
        assert read(raw, missing="mean").image_shape == (2, 4)
        data = read(raw, missing="features")
        assert (data.image_shape, data.kind, data.X.shape) == (None, "table", (3, 7))


def test_the_error_travels():
    ways = (Way("missing", "mean", "Put in means"),)
    error = pickle.loads(pickle.dumps(MissingValues("Some are.", ways)))
    assert str(error) == "Some are, or use missing='mean' (put in means)." and error.ways == ways


def test_in_names_and_labels_a_word_is_a_word():
    raw = b"who,kind,a,b\nNA,none,1,2\nnull,none,3,4\nnan,-,5,7\n,-,6,1\n"
    ways = [
        read(raw, id_column="who", label_column="kind", missing=way)
        for way in ("refuse", "samples", "features", "mean")
    ]
    for data in ways:
        assert data.sample_names[:3] == ("NA", "null", "nan")
        assert data.labels.tolist() == ["none", "none", "-", "-"]
        assert np.array_equal(data.X, ways[0].X)


def test_a_wide_table_with_gaps_takes_little_memory():
    """With words for missing values column by column, 150 000 columns took 3.6 GB."""
    wide = 6000
    rows = [",".join([f"{'NA' if i == 5 else i % 7}" for i in range(wide)]), ",".join(["2"] * wide)]
    raw = "\n".join([",".join(f"f{i}" for i in range(wide)), *rows, rows[1]]).encode()
    tracemalloc.start()
    try:
        assert read(raw, missing="mean").X.shape == (3, wide)
        assert tracemalloc.get_traced_memory()[1] < 8000 * wide
    finally:
        tracemalloc.stop()


def test_a_row_is_counted_as_in_the_file():
    raw = b"a,b,note\n,1,\n2,3,\n4,5,one thing\n6,7,and another\n9,8,third\n"
    for way in ("samples", "mean"):
        with pytest.raises(InvalidData, match='"note" holds text \\("one thing" in row 3\\)'):
            read(raw, missing=way)


def test_a_column_whose_texts_are_left_out_with_their_samples():
    raw = b"a,b,note\n,1,one thing\n2,3,\n4,5,\n6,7,\n"
    assert read(raw, missing="samples").feature_names == ("a", "b")


def refused(raw: bytes, **options) -> MissingValues:
    with pytest.raises(MissingValues) as error:
        read(raw, **options)
    return error.value


def gaps(cells: list[tuple[int, int]], m: int = 20, n: int = 50) -> bytes:
    X = np.random.default_rng(0).normal(size=(m, n)).round(2).astype(object)
    for i, j in cells:
        X[i, j] = ""
    names = [f"s{i}" for i in range(m)]
    return pd.DataFrame(X, names, [f"g{j}" for j in range(n)]).to_csv().encode()


@pytest.mark.parametrize(
    ("cells", "costs", "recommended"),
    [
        (
            [(i, i) for i in range(5)],
            {"features": (5, 50), "samples": (5, 20), "mean": (5, 1000)},
            "features",
        ),
        (
            [(3, j) for j in range(40)],
            {"samples": (1, 20), "features": (40, 50), "mean": (40, 1000)},
            "samples",
        ),
        ([(i % 20, i) for i in range(45)], {"features": (45, 50), "mean": (45, 1000)}, "mean"),
        ([(i, j) for i in range(19) for j in (0, 1)], {"features": (2, 50), "mean": (38, 1000)}, "features"),
        ([(i % 20, i) for i in range(50)], {"mean": (50, 1000)}, "mean"),
    ],
    ids=range(5),
)
def test_only_ways_that_leave_something_are_offered_each_with_its_cost(cells, costs, recommended):
    raw = gaps(cells)
    ways = refused(raw).ways
    assert {way.value: said(way) for way in ways} == costs and ways[0].value == recommended
    turned = refused(raw, features_in_rows=True).ways
    swap = {"features": "samples", "samples": "features", "mean": "mean"}
    assert {way.value: said(way) for way in turned} == {swap[how]: cost for how, cost in costs.items()}
    for way in ways:
        X = read(raw, missing=way.value).X
        lost = 1000 - X.size
        assert lost == {"mean": 0, "features": 20 * said(way)[0], "samples": 50 * said(way)[0]}[way.value]
    for how in {"samples", "features"} - costs.keys():
        again = refused(raw, missing=how)  # what leaves nothing says so, and what else there is
        assert "would leave" in str(again) and again.ways == ways


def said(way: Way) -> tuple[int, int]:
    lost, of = (int(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", way.words))
    return lost, of


def test_large_counts_are_printed_as_on_the_pages():
    X = np.ones((3, 2500))
    X[1, :1200] = np.nan
    assert settle(X, "features").notes == (
        "Left out because of missing values: 1,200 of 2,500 features (1,200 missing values).",
    )


def test_a_short_row_is_no_row_with_missing_values():
    raw = b"n,a,b,c\n" + b"x,1,2,\n" * 3 + b"x,1,2\n" + b"x,1,2,3\n" * 9
    with pytest.raises(InvalidData, match="row 4 has 3"):
        read(raw, missing="mean")


def test_a_feature_without_any_value_has_no_mean():
    data = read(b"a,b,c\n1,NA,2\n3,NA,4\n5,,7\n", missing="mean")
    assert data.feature_names == ("a", "c")
    assert any("no value at all: 1 feature" in note for note in data.notes)
