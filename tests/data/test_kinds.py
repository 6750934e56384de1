"""Tables of kinds that people have: each is read right, and what was decided is said."""

import numpy as np
import pytest

from nspca.data import read
from nspca.data.numerals import find_decimal, find_flags, flag

X = np.random.default_rng(0).uniform(-50, 50, (12, 4)).round(2)
IDS = [f"s{i}" for i in range(12)]
ROWS = [[name, *row] for name, row in zip(IDS, X.tolist(), strict=True)]
HEAD = ["id", "a", "b", "c", "d"]
BITS = np.random.default_rng(1).integers(0, 2, (12, 4))
GENES = [[f"f{j}", *(X[:, j % 4] + j).round(2)] for j in range(30)]
PEOPLE = [f"P{i}" for i in range(12)]


def table(*rows, sep=","):
    return "".join(sep.join(map(str, row)) + "\n" for row in rows)


def in_brackets(value):
    return f"({-value})" if value < 0 else value


def words(yes, no):
    return [[name, *(yes if bit else no for bit in row)] for name, row in zip(IDS, BITS, strict=True)]


SNPS = ["rs1_A", "rs2_G", "rs3_T", "rs4_C"]
PLINK = [
    [f"F{i}", name, 0, 0, 1 + i % 2, 1 + i % 3 % 2, *row]
    for i, (name, row) in enumerate(zip(IDS, BITS, strict=True))
]
BELOW = [[*row[1:], row[0]] for row in ROWS]
COMMAS = [[name, f"{row[0]}".replace(".", ","), *row[1:]] for name, *row in ROWS]
KEYS = [["Instrument", "Spectro 7"], ["Gain", 3], ["Date", "2024-01-02"]]

CASES = {
    "yes and no": (table(HEAD, *words("yes", "no")), BITS, 's0 a "yes"'),
    "true and false": (table(HEAD, *words("TRUE", "FALSE")), BITS, 's0 a "true"'),
    "single quotes": (table(*[[f"'{cell}'" for cell in row] for row in [HEAD, *ROWS]]), X, "s0 a Single"),
    "a name twice": (table(HEAD, *ROWS[:-1], ["s0", *ROWS[-1][1:]]), X, "s0 a repeated"),
    "a number twice": (
        table(["sample_id", *HEAD[1:]], *([max(i, 1), *row[1:]] for i, row in enumerate(ROWS))),
        X,
        "1 a repeated",
    ),
    "brackets": (table(HEAD, *[[row[0], *map(in_brackets, row[1:])] for row in ROWS]), X, "s0 a negative"),
    "units": (table(HEAD, ["", "mg/l", "°C", "%", ""], *ROWS), X, "s0 a mg/l"),
    "keys and values": (table(*KEYS, HEAD, *ROWS), X, "s0 a Instrument"),
    "keys in columns": (table(*[[*row, "", "", ""] for row in KEYS], HEAD, *ROWS), X, "s0 a Instrument"),
    "empty cells below": (table(HEAD, *ROWS, [""] * 5, ["Total", *X.sum(axis=0)]), None, "s0 a Total"),
    "time": (table(["time (s)", *HEAD[1:]], *([0.5 * i, *row[1:]] for i, row in enumerate(ROWS))), X,
             "0.0 a names of the samples"),
    "names last": (table([*HEAD[1:], "id"], *BELOW), X, "s0 a sample names"),
    "numbers last": (
        table([*HEAD[1:], "sample_id"], *([*row[:-1], 100 + i] for i, row in enumerate(BELOW))),
        X,
        "100 a names of the samples",
    ),
    "a header twice": (table(HEAD, *ROWS[:5], HEAD, *ROWS[5:]), X, "s0 a repeats the header"),
    "two decimal signs": (table(HEAD, *COMMAS, sep=";"), X, "s0 a others a point"),
    "PLINK": (
        table(["FID", "IID", "PAT", "MAT", "SEX", "PHENOTYPE", *SNPS], *PLINK, sep=" "),
        BITS,
        "s0 rs1_A PHENOTYPE",
    ),
    "groups of columns": (
        table(["name", *PEOPLE], ["arm", *["x"] * 6, *["y"] * 6], *GENES),
        np.array([row[1:] for row in GENES]).T,
        "P0 f0 holds the labels",
    ),
    "groups above the names": (table(["", "VIS", "", "NIR", ""], HEAD, *ROWS), X, "s0 a above the table"),
    "a rule below the names": (table(HEAD, ["--"] * 5, *ROWS, sep="|"), X, "s0 a bar"),
    "footnotes": (table(HEAD, *ROWS, [""], ["Source: a survey"], ["(12 rows)"]), X, "s0 a below the table"),
    "footnotes in columns": (table(HEAD, *ROWS, ["Source", "", "", "", ""]), X, "s0 a below the table"),
    "questions below their names": (
        table(
            ["day", *HEAD],
            ["Day", "ID", *(f"How much {name}?" for name in "abcd")],
            *([1, *row] for row in ROWS),
        ),
        np.column_stack([np.ones(12), X]),
        "s0 day How much",
    ),
    "blanks between tabs": (table(["id", "a", "b c", "d e", "f g"], *ROWS, sep="\t"), X, "s0 a tab"),
    "numbers with a point": (
        table(["Nr.", "who", *HEAD[1:]], *([f"{i}.", *row] for i, row in enumerate(ROWS))),
        X,
        "s0 a only numbers the rows",
    ),
    "species in rows": (
        table(["#OTU ID", *PEOPLE, "taxonomy"], *([*row, "k__B; p__A"] for row in GENES)),
        np.array([row[1:] for row in GENES]).T,
        "P0 f0 The rows were taken",
    ),
    "masses in rows": (
        table(["mz", "rt", *PEOPLE], *([100 + j, j / 2, *row[1:]] for j, row in enumerate(GENES))),
        np.array([row[1:] for row in GENES]).T,
        "P0 100 set aside",
    ),
}  # fmt: skip
"""The text, the numbers (None for others), and the first sample, the first feature and words of a finding."""


@pytest.mark.parametrize("name", CASES)
def test_a_table_is_read_right_and_what_was_decided_is_said(name):
    raw, numbers, expected = CASES[name]
    data = read(raw.encode())
    sample, feature, said = expected.split(" ", 2)
    assert numbers is None or np.array_equal(data.X, numbers)
    assert (data.sample_names[0], data.feature_names[0]) == (sample, feature)
    assert said in " ".join(data.notes)
    for way in (way for one in data.findings for way in one.ways if way.option != "missing_codes"):
        assert len(read(raw.encode(), **{way.option: way.value}).X) > 1


@pytest.mark.parametrize(
    "name", ["names last", "numbers last", "a name twice", "groups of columns", "brackets"]
)
def test_every_table_is_read_without_names(name):
    assert len(read(CASES[name][0].encode(), id_column="(none)").X) == 12


def test_yes_is_one_and_as_many_commas_as_points_are_no_decimal_commas():
    pair = find_flags(["no", "Yes", "no", "yes"])
    assert [flag(cell, pair) for cell in (" Yes", "no", "perhaps")] == [1.0, 0.0, None]
    assert (find_decimal(["1,5", "1.5"], ";"), find_decimal(["1,5", "2,5", "1.5"], ";")) == (".", ",")
