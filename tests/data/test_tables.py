"""CSV and TSV: values, notes and refusals."""

import csv
import gzip
import io
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from nspca.data import (
    cells,
    covariance_suggestion,
    dialect,
    read,
    scaling_suggestion,
)
from nspca.data.dialect import find_layout
from nspca.data.numerals import Numerals
from nspca.data.suspicions import genes_in_rows
from nspca.errors import InvalidData, InvalidOption
from tests.files import archive, saved


def text(*lines: str) -> bytes:
    return "\n".join(lines).encode() + b"\n"


def webp() -> bytes:
    return saved(Image.new("L", (2, 2)).save, "WEBP")


@pytest.mark.parametrize(
    ("lines", "cell"),
    [
        (("name\tsales\tprice", "ann\t1,243\t98", "bob\t960\t62", "cid\t2,080\t89"), "1,243"),
        (("a;b", "1.243;98", "960;62", "2.080;89"), "1.243"),
        (("a;b", "1.234;2,5", "5.678;3", "9.100;9"), "1.234"),
        (("a\tb", "1.234\t2,5", "5.678\t3,5", "9.100\t9"), "1.234"),
        (("a b", "1,234 2", "5,678 3"), "1,234"),
        (("a,b,c", '"1,500",2,1', '"12,500",3,5', "NA,1,2"), "1,500"),
        (("a,b,c", '"1,500",2,1', "960,3,5", "12,1,2"), "1,500"),
    ],
)
def test_a_mark_between_thousands_is_no_decimal_sign(lines, cell):
    with pytest.raises(
        InvalidData, match=rf'between thousands, but the .* in "{re.escape(cell)}" of column "'
    ):
        read(text(*lines))


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        (("a;b", "0,123;1", "12,500;2", "7,250;3"), [0.123, 1]),  # nobody writes a thousand with 0 before it
        (("a;b", "12,500;3,14", "12,750;2", "1,125;5"), [12.5, 3.14]),
        (("a\tb", "7.123\t8.125", "9.250\t6.125", "5.500\t2.375"), [7.123, 8.125]),
        (("a b", "1.243 98", "960.5 62", "2.080 89"), [1.243, 98]),
        (("a;b", "1.234;0.5", "5.678;3", "9.100;9"), [1.234, 0.5]),
        (("a\tb", "1234,567\t1", "1,567\t2", "960\t2"), [1234.567, 1]),
        (("a;b", "1,234;2", "5,678;3", "960;9"), [1.234, 2]),  # what semicolons are for
        (("a;b", "1.234;2", "5.678;3", "9.100;9"), [1.234, 2]),
        (("a\tb", "1.243\t98", "960\t62", "2.080\t89"), [1.243, 98]),
        (("a,b", "1.243,98", "960,62", "2.080,89"), [1.243, 98]),
    ],
)
def test_three_decimals_are_decimals(lines, first):
    assert read(text(*lines)).X[0].tolist() == first


@pytest.mark.parametrize(
    ("lines", "decimal", "first"),
    [
        (("a\tb", "1,243\t98", "960\t62", "2,080\t89"), ",", [1.243, 98]),
        (("a;b", "1.243;98", "960;62", "2.080;89"), ".", [1.243, 98]),
        (("a,b,c", '"1,500",2,1', "960,3,5"), ",", [1.5, 2, 1]),
    ],
)
def test_who_names_the_decimal_sign_is_believed(lines, decimal, first):
    assert read(text(*lines), decimal=decimal).X[0].tolist() == first
    with pytest.raises(InvalidData, match="may be one") as refused:
        read(text(*lines))
    assert [way.option for way in refused.value.ways] == ["thousands"], "a decimal sign would be wrong"
    other = read(text(*lines), **{refused.value.ways[0].option: refused.value.ways[0].value})
    assert other.X[0, 0] == 1000 * first[0]


@pytest.mark.parametrize(
    ("lines", "first", "option"),
    [
        (("a;b", "1.234,5;2", "3.000,25;4"), [1234.5, 2], ""),
        (("a;b", "1,234.5;2", "3,000.25;4"), [1234.5, 2], ""),
        (("a;b", "1.234.567;2", "12.345;3", "960;9"), [1234567, 2], ""),
        (("a;b", "1'234.5;2", "3'000.25;4"), [1234.5, 2], ""),
        (("a;b", "1\u00a0234,5;2", "3\u202f000,25;4"), [1234.5, 2], ""),
        (("n\ta\tb", "x\t1,243\t9.5", "y\t1,960\t6.2", "z\t2,080\t8.9"), [1243, 9.5], "decimal"),
    ],
)
def test_marks_between_thousands_that_can_be_nothing_else_are_read_and_said(lines, first, option):
    data = read(text(*lines))
    assert data.X[0].tolist() == first
    (said,) = [one for one in data.findings if "between thousands" in one.what]
    assert said.option == option


@pytest.mark.parametrize(
    ("lines", "names"),
    [
        (("# by X", "# on Y", "a,b", "1,2", "3,4"), ("a", "b")),
        (("% by X", "a,b", "1,2", "3,4"), ("a", "b")),
        (("# a b", "1 2", "3 4"), ("a", "b")),
        (("# by X", "#a,b", "1,2", "# later", "3,4"), ("#a", "b")),
        (("A title", "", "a,b,c", "1,2,3", "3,4,6"), ("a", "b", "c")),
        (("A title,,", "a,b,c", "1,2,3", "3,4,6"), ("a", "b", "c")),
    ],
)
def test_lines_above_the_table_are_left_out_and_said(lines, names):
    data = read(text(*lines))
    assert data.feature_names == names and data.X.shape[0] == 2
    assert len(lines) == 3 or "left out" in data.notes[0]


def test_marks_in_a_column_that_is_named_are_no_thousands():
    lines = ("n;a;b", "1.234;1,5;2", "1.235;2,5;3", "12;3,5;5")
    assert read(text(*lines), id_column="n", decimal=",").sample_names == ("1.234", "1.235", "12")
    assert read(text(*lines), label_column="n").X[:, 0].tolist() == [1.5, 2.5, 3.5]


def test_numbers_of_three_decimals_are_read_back():
    values = np.random.default_rng(0).uniform(1, 999, (60, 3)).round(3)
    for separator, mark in (";,", ";.", "\t.", " .", ",."):
        rows = [separator.join(f"{value:.3f}" for value in row).replace(".", mark) for row in values]
        assert np.array_equal(read(text("a b c".replace(" ", separator), *rows)).X, values)


def test_a_mark_of_comments_in_a_name_is_no_comment():
    assert read(text("#a,b", "1,2", "3,4")).feature_names == ("#a", "b")
    assert read(text("#1,2,3", "#2,4,5", "#3,6,7")).sample_names == ("#1", "#2", "#3")


PLAIN = text("a,b,c", "1,2,3", "4,5,6.5")


@pytest.mark.parametrize(
    "raw",
    [
        PLAIN,
        b"\xef\xbb\xbf" + PLAIN,
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.replace(b"\n", b"\r"),
        PLAIN.decode().encode("utf-16"),
        PLAIN + b"\n\n\n",
        b"\n\n" + PLAIN + b",,\n,,\n",
        PLAIN.replace(b",", b"\t"),
        PLAIN.replace(b",", b"|"),
        PLAIN.replace(b",", b"  "),
        PLAIN.replace(b",", b";").replace(b".", b","),
        PLAIN.replace(b",", b"\t").replace(b".", b","),
        text('"a","b","c"', '"1","2","3"', '"4",5,"6.5"'),
        gzip.compress(PLAIN),
    ],
    ids=[
        "plain",
        "bom",
        "crlf",
        "cr",
        "utf16",
        "trailing",
        "outer",
        "tab",
        "bar",
        "blanks",
        "semicolon",
        "tab comma",
        "quoted",
        "gzip",
    ],
)
def test_the_same_table_in_every_dress(raw):
    data = read(raw)
    assert data.X.tolist() == [[1, 2, 3], [4, 5, 6.5]]
    assert data.feature_names == ("a", "b", "c")
    assert data.sample_names == ("sample 1", "sample 2")
    assert data.X.dtype == np.float64
    assert data.source == "user"


def test_header_of_numbers_is_taken_when_said_so():
    raw = text("7.5,8.5", "1,2", "3,4")
    assert read(raw).X.shape == (3, 2)
    data = read(raw, header=True)
    assert data.X.tolist() == [[1, 2], [3, 4]]
    assert data.feature_names == ("7.5", "8.5")


def test_names_are_trimmed_and_repeated_ones_told_apart():
    data = read(text('" a","b, ""c""",x,x,', "1,2,3,4,5", "6,7,8,9,0"))
    assert data.feature_names == ("a", 'b, "c"', "x", "x (2)", "column 5")
    assert any("repeated" in note for note in data.notes)


def test_a_repeated_name_never_takes_a_name_that_is_there():
    data = read(text("x,x (2),x,x", "1,2,3,4", "6,7,8,9"))
    assert data.feature_names == ("x", "x (2)", "x (3)", "x (4)")


@pytest.mark.parametrize("first", [",a,b", "a,b"], ids=["corner", "as R writes it"])
def test_row_numbers_without_a_name_are_not_a_feature(first):
    data = read(text(first, "1,10,20", "2,30,40"))
    assert data.X.tolist() == [[10, 20], [30, 40]]
    assert data.sample_names == ("1", "2")


def test_id_and_label_columns_by_name_and_by_position():
    raw = text("a,who,b,group", "1,ann,2,x", "3,bob,4,y", "5,cid,6,x", "7,dan,8,y")
    for ids, labels in (("who", "group"), (1, 3)):
        data = read(raw, id_column=ids, label_column=labels)
        assert data.X.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
        assert data.sample_names == ("ann", "bob", "cid", "dan")
        assert data.labels.tolist() == ["x", "y", "x", "y"]
    with pytest.raises(InvalidData, match=r'no column "nobody".*"who"'):
        read(raw, id_column="nobody")
    with pytest.raises(InvalidData, match="between 0 and 3, got 9"):
        read(raw, label_column=9)


def test_labels_that_are_integers_stay_integers():
    assert read(text("a,b,y", "1,2,0", "3,4,1"), label_column="y").labels.dtype == np.int64


def test_values_of_a_possible_label_are_counted_over_the_whole_column():
    rare = [f"{i},{i * i},{'xyz'[max(i - 98, 0)]}" for i in range(101)]
    data = read(text("a,b,diagnosis", *rare))
    assert "diagnosis" in data.label_columns
    assert data.feature_names == ("a", "b")
    assert any(
        '"diagnosis" holds 3 different texts' in note and "label column" in note for note in data.notes
    )


@pytest.mark.parametrize("missing", ["samples", "mean"])
def test_a_candidate_taken_later_is_the_label_column_read_at_once(missing):
    upright = text(
        "who,a,b,kind,place",
        *(f"p{i},{i},{i * i if i != 3 else ''},{'xy'[i % 2]},{'uvw'[i % 3]}" for i in range(12)),
    )
    turned = text("gene,s1,s2,s3,s4,s5,s6", "class,A,B,A,B,A,B", "g1,1,,3,4,5,6", "g2,5,6,7,8,9,7")
    for raw, name, options in ((upright, "kind", {}), (turned, "class", {"features_in_rows": True})):
        later, at_once = (
            read(raw, missing=missing, **options).labelled(name),
            read(raw, missing=missing, label_column=name, **options),
        )
        assert later.labels.tolist() == at_once.labels.tolist() and later.X.tolist() == at_once.X.tolist()
        assert (later.notes, later.sample_names) == (at_once.notes, at_once.sample_names)
    assert read(upright, missing=missing).labelled("a") is None


def test_few_long_lines_do_not_decide_what_is_a_label(monkeypatch):
    monkeypatch.setattr(dialect, "_ENOUGH_CHARACTERS", 1000)
    wide = [",".join([f"p{i}", *["7"] * 200, "abcdef"[min(i, 5)]]) for i in range(60)]
    data = read(text(",".join(["who", *(f"g{j}" for j in range(200)), "kind"]), *wide))
    assert any('"kind" holds 6 different texts' in note for note in data.notes)


def test_long_and_empty_labels():
    data = read(
        text("a,b,kind", *(f"{i},{i * i},{['x' * 10_000, ''][i % 2]}" for i in range(10))),
        label_column="kind",
    )
    assert set(data.labels.tolist()) == {"x" * 80, "(none)"}


@given(
    st.lists(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3),
        min_size=2,
        max_size=5,
    )
)
def test_every_float_comes_back(rows):
    raw = text("a,b,c", *(",".join(map(repr, row)) for row in rows))
    assert read(raw).X.tolist() == rows


# A byte order mark is the one character that cannot begin a file and stay.
PRINTABLE = st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufeff"), min_size=1
).filter(str.strip)


@given(st.lists(PRINTABLE, min_size=2, max_size=5, unique_by=str.strip))
def test_every_printable_name_comes_back(names):
    names = [f"{name.strip()}q" for name in names]
    stream = io.StringIO()
    csv.writer(stream).writerows([names, range(len(names)), range(1, len(names) + 1)])
    data = read(
        stream.getvalue().encode(), header=True, delimiter=",", id_column="(none)"
    )  # INDEX0 names samples
    assert data.feature_names == tuple(names)


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (text("a,b,c", "1,,3", "4,5,6"), 'row 1, column "b" holds none'),
        (text("a,b,c", "1,2,3", "4,oops,6", "7,8,9"), 'row 2, column "b" holds the text "oops"'),
        (text("a,b,c", "1,2,3", "4,NA,6", "7,8,9"), 'row 2, column "b" holds none'),
        (text("a,b,c", "1,2,3", "4,5,-inf"), 'row 2, column "c" holds "-inf"'),
        (text("a,b,c", "1,2,3", "4,5"), "row 2 has 2"),
        (text("a,b,c", "1,2,3", "4,5,6,7", "1,2,3"), "row 2 has 4"),
        (text("1,2", "3,x", "4,5"), "row 2, column 2 holds the text"),
        (text("a,b", "1,0x10", "3,4"), 'holds the text "0x10"'),
        (text("a,b", *(f"{i},{i}" for i in range(500)), "1,?", "2,3"), 'row 501, column "b" holds none'),
        (text("a,b", "1,2", "# later", "3,4"), 'Row 2 is a comment \\("# later"\\), not a row of the table'),
        (text("a,b", "1," + 200_000 * "x", "3,4"), "at most 131072 characters, and one has more: leave its"),
        (
            text("from,to", *(f"2024-01-{day},2024-02-{day}" for day in range(10, 20))),
            r'no column of numbers \(not counted: column "from" as sample names',
        ),
        (text("a,b,c", "1,2,1-a", "3,4,2-b", "5,6,3-c"), 'column "c" holds text .*"1-a" in row 1'),
        (b"P2\n# made by hand\n2 2\n255\n....", "one image, which is one sample"),
        (webp(), "one image, which is one sample"),
        (b"RIFF\0\n\0\0WEBPVP8 ", "is not an image that can be read, or it is damaged"),
        (b'[{"a": 1}, {"a": 2}]', "^One key of this JSON file holds numbers or texts"),
    ],
)
def test_one_sentence_for_what_cannot_be_read(raw, sentence):
    with pytest.raises(InvalidData, match=sentence) as caught:
        read(raw)
    message = str(caught.value)
    assert "\n" not in message
    assert message.endswith(".")


@pytest.mark.parametrize(
    "dates",
    [
        ["2024-01-31", "2024-02-01", "2024-2-2"],
        ["31.01.2024", "1.2.2024", ""],
        ["1/31/24", "2/1/24", "NA"],
        ["2024-01-31 00:00:00", "2024-01-31T23:59:59.5Z", "2024-02-01 07:30+01:00"],
        ["2024-01-31", "NaT", "2024-2-2"],
        ["2024-01", "12/2024", "2024Q3"],
        ["31 Jan 2024", "Feb. 1 2024", "1-March-24"],
        ["1/31/2024 12:05 AM", "1. 2. 2024", "8:30:05"],
    ],
)
def test_a_column_of_dates_is_left_out_and_a_note_says_so(dates):
    data = read(text("id,day,a,b", *(f"s{i},{day},{i}.5,{i * i}" for i, day in enumerate(dates))))
    assert data.feature_names == ("a", "b") and data.sample_names == ("s0", "s1", "s2")
    assert 'Column "day" holds dates and was left out.' in data.notes


@pytest.mark.parametrize("other", ["10.0.0.1", "2024-13", "12 kg", "soon"])
def test_a_column_of_dates_and_something_else_is_refused(other):
    days = ["2024-01-31", "2024-02-01", other]
    with pytest.raises(InvalidData, match='column "day" holds text'):
        read(text("day,a,b", *(f"{day},{i}.5,{i * i}" for i, day in enumerate(days))), id_column="a")


@pytest.mark.parametrize("first", ["P1", "P2RX7", "P5", "RIFF", "MATLAB", "BZ"])
def test_a_column_that_is_called_like_a_format_is_one(first):
    assert read(text(f"{first},P2", "1,2", "3,5", "4,4")).feature_names == (first, "P2")


def test_a_first_column_of_rising_years_names_the_rows_and_can_be_a_feature():
    table = text("year,a,b", *(f"{1998 + i},{i}.5,{i * i}" for i in range(4)))
    data = read(table)
    assert data.feature_names == ("a", "b") and data.sample_names[0] == "1998"
    (way,) = data.findings[0].ways
    assert read(table, **{way.option: way.value}).feature_names == ("year", "a", "b")
    mixed = text("year,a,b", "1998,1.5,2", "1996,2.5,3", "1999,0.5,7")
    assert read(mixed).feature_names == ("year", "a", "b"), "years in no order may be a measurement"


def test_a_word_document_is_called_by_its_name():
    with pytest.raises(InvalidData, match=r"^This is a Word document: save it"):
        read(archive(dict.fromkeys(("[Content_Types].xml", "word/document.xml"), "<x/>")))


def test_missing_path_and_wrong_delimiter(tmp_path):
    with pytest.raises(InvalidData, match="no file"):
        read(tmp_path / "nothing.csv")
    with pytest.raises(InvalidOption, match="one character"):
        read(PLAIN, delimiter=",,")


def test_the_name_comes_from_the_file_and_is_only_ever_a_title(tmp_path):
    path = tmp_path / "my table.csv.gz"
    path.write_bytes(gzip.compress(PLAIN))
    assert read(path).name == "my table"
    stream = io.BytesIO(PLAIN)
    stream.name = "../../etc/pass\x00wd.csv"
    assert read(stream).name == "passwd"
    assert read(PLAIN, name="mine").name == "mine"


def gene_table(rng, samples=24, genes=2000):
    X = np.round(rng.normal(0, 1000, (samples, genes)), 1)
    names, people = [f"{1000 + i}_at" for i in range(genes)], [f"patient {i}" for i in range(samples)]
    return X, names, people


def as_csv(corner, columns, rows, X):
    lines = [",".join([corner, *columns])] + [
        row + "," + ",".join(map(repr, values)) for row, values in zip(rows, X.tolist(), strict=True)
    ]
    return text(*lines)


def test_a_gene_table_and_its_transpose_are_the_same_dataset():
    X, genes, people = gene_table(np.random.default_rng(0))
    wide = read(as_csv("patient", genes, people, X))
    tall = read(as_csv("probe", people, genes, X.T), features_in_rows=True)
    for data in (wide, tall):
        assert np.array_equal(data.X, X)
        assert data.X.flags.c_contiguous
        assert data.feature_names == tuple(genes)
        assert data.sample_names == tuple(people)


def test_label_row_of_a_table_with_features_in_rows():
    raw = text("gene,s1,s2,s3,s4", "class,A,B,A,B", "g1,1,2,3,4", "g2,5,6,7,8", "g2,9,8,7,6")
    data = read(raw, features_in_rows=True, label_column="class")
    assert data.X.tolist() == [[1, 5, 9], [2, 6, 8], [3, 7, 7], [4, 8, 6]]
    assert data.labels.tolist() == ["A", "B", "A", "B"]
    assert data.feature_names == ("g1", "g2", "g2 (2)")
    found = read(raw)
    assert found.labels.tolist() == ["A", "B", "A", "B"] and found.X.shape == (4, 3)
    assert any('"class" holds the labels' in note for note in found.notes)
    (turned,) = [one for one in found.findings if one.option == "features_in_rows"]
    assert read(raw, features_in_rows=turned.value).X.shape == (3, 4)
    with pytest.raises(InvalidData, match="no row 'kind'"):
        read(raw, features_in_rows=True, label_column="kind")


def test_annotation_column_of_a_table_with_features_in_rows_is_left_out():
    data = read(
        text("gene,about,s1,s2", "g1,kinase,1,2", "g2,receptor,3,4", "g3,ligand,5,6"), features_in_rows=True
    )
    assert data.X.shape == (2, 3)
    assert any('"about"' in note for note in data.notes)


def test_a_table_of_genes_is_turned_by_itself():
    X, genes, people = gene_table(np.random.default_rng(1), samples=10, genes=300)
    turned = read(as_csv("probe", people, genes, X.T))
    assert turned.X.shape == (10, 300) and turned.sample_names == tuple(people)
    assert any(one.option == "features_in_rows" and one.value is False for one in turned.findings)
    upright = read(as_csv("probe", people, genes, X.T), features_in_rows=False)
    assert upright.X.shape == (300, 10)
    symbols = ["TP53", "BRCA1", "EGFR", "MYC", "KRAS", "PTEN", "RB1", "CDK4", "MDM2", "ALK"]
    assert genes_in_rows(10, 4, symbols, list("abcd"))[0]
    sure, why = genes_in_rows(9000, 30, [f"x{i}y" for i in range(9000)], [f"s{i}" for i in range(30)])
    assert not sure and "far more rows" in why
    # Digits: 28 times more samples than features, without names.
    digits = [f"sample {i}" for i in range(1, 1798)], [f"p{i}" for i in range(64)]
    assert genes_in_rows(1797, 64, *digits) == (False, "")


def test_suggestion_of_a_covariance():
    X = np.random.default_rng(2).normal(size=(50, 6))
    assert covariance_suggestion(np.cov(X.T)) == (
        True,
        "This table is square and symmetric, 6 × 6: it looks like a covariance matrix rather than samples.",
    )
    assert "a correlation matrix" in covariance_suggestion(np.corrcoef(X.T).round(3))[1]
    distances = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    skewed = np.cov(X.T) + np.triu(np.ones((6, 6)), 1)
    for other in (
        X,
        X[:6],
        distances,
        skewed,
        np.zeros((4, 4)),
        -np.eye(3),
        2.0 * np.ones((3, 3)) - np.eye(3),
    ):
        assert covariance_suggestion(other) == (False, "")


@pytest.mark.parametrize("decimal", ".,")
@given(row=st.lists(st.text("0123456789" * 3 + ".,eE+-_ naif", max_size=17), min_size=1, max_size=3))
def test_a_row_of_plain_numbers_is_what_its_cells_are_one_by_one(decimal, row):
    found = replace(find_layout(b"a;b\n1;2\n3;4\n"), columns=["a"] * len(row), numerals=Numerals(decimal))
    plain = cells._plain_numbers(row, decimal)
    if plain is not None:
        assert plain == [cells._parse_number(found, "row 1", i, cell) for i, cell in enumerate(row)]


def test_a_late_text_is_found_without_a_look_at_every_cell(monkeypatch):
    """120 MB with one word in the last row took minutes, and were refused for that."""
    looked, inside = [], cells._parse_number
    monkeypatch.setattr(cells, "_parse_number", lambda *given: looked.append(given) or inside(*given))
    with pytest.raises(InvalidData, match=r'row 1001, column "b" holds the text "x"'):
        read(b"a,b,c\n" + b"1,-2.5,3e2\n" * 1000 + b"1,x,3\n", name="late")
    assert len(looked) < 10


def test_standardising_is_suggested_where_features_have_different_scales():
    rng = np.random.default_rng(0)
    alike = rng.uniform(1, 3, 50)
    assert scaling_suggestion(alike) == "" and scaling_suggestion(np.array([1.0])) == ""
    assert scaling_suggestion(np.append(alike, [7.0, 0.0])) == "", "one feature of many is a little larger"
    survey = scaling_suggestion(np.array([15.0, *[1.3] * 12]))
    assert "one has 92 % of the variance of all 13" in survey and "this feature decides." in survey
    apart = scaling_suggestion(10.0 ** rng.uniform(-3, 3, 50))
    low, high = (
        float(text.replace(",", "")) for text in re.search(r"between (\S+) and (\S+)\. As", apart).groups()
    )
    assert high > 5 * low and "every feature counts alike" in apart
    assert "between 103 and 2,180." in scaling_suggestion(np.repeat([103.4, 2184.0], 9))


def test_a_total_above_the_samples_is_said():
    """Tables of countries have the row World above the others."""
    X = np.random.default_rng(0).uniform(1, 9, (12, 5)).round(2)
    rows = [["World", *X.sum(axis=0)], *([f"R{i}", *row] for i, row in enumerate(X))]
    text = "name,a,b,c,d,e\n" + "\n".join(",".join(map(str, row)) for row in rows)
    data = read(text.encode())
    said = next(finding for finding in data.findings if "first row" in finding.what)
    assert said.is_suspicion
    assert read(text.encode(), **{said.option: said.value}).X.shape == (12, 5)


@pytest.mark.parametrize("below", ["", "Source: a survey\n", ",,\n,,\n"])
def test_a_large_file_of_plain_text_is_read_from_the_disk_as_from_memory(tmp_path, monkeypatch, below):
    rows = "".join(f"s{i},{i}.5,{i * i % 7}\n" for i in range(5000))
    path = tmp_path / "t.csv"
    path.write_text(f"id,a,b\n{rows},,\n{rows.replace('s', 'z')}{below}")
    kept = read(path)
    monkeypatch.setattr("nspca.data.formats.delimited.STREAMED", 0)
    monkeypatch.setattr("nspca.data.limits.bounded_bytes", lambda _: pytest.fail("read into memory"))
    streamed = read(path)
    assert np.array_equal(streamed.X, kept.X) and len(kept.X) == 10_000
    assert (streamed.sample_names, streamed.notes) == (kept.sample_names, kept.notes)
    assert "1 row was left out for having no filled cell." in kept.notes


def test_names_in_gb18030_are_read_from_memory_and_from_the_disk(tmp_path):
    """One name alone would not tell this encoding from others; the names of all rows do."""
    lines = [",".join(["", *(f"变量名称{j}" for j in range(4))])]
    lines += [f"样品编号{i},{i}.5,{i * i},{7 - i},{i % 3}" for i in range(12)]
    raw, path = "\n".join(lines).encode("gb18030"), tmp_path / "table.csv"
    path.write_bytes(raw)
    for source in (raw, path):
        data = read(source)
        assert (data.feature_names[0], data.sample_names[0]) == ("变量名称0", "样品编号0")
