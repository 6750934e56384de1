"""Tables of kinds that people have: each is read right, and what was decided is said."""

import json

import numpy as np
import pytest

from nspca.data import read
from nspca.data.numerals import find_decimal, find_flags, flag
from nspca.errors import InvalidData
from tests.files import archive, xlsx

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


def named(name, cell):
    """Return the table with another first column, `cell(i)` in row i."""
    return table([name, *HEAD[1:]], *([cell(i), *row[1:]] for i, row in enumerate(ROWS)))


def european(value):
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def lakhs(value):
    """Return a number as India writes it, such as -12,34,567.00."""
    whole, sign, rest = f"{abs(value):.2f}".partition(".")
    pairs = whole[:-3]
    head = ",".join(filter(None, [pairs[:-4], pairs[-4:-2], pairs[-2:]]))
    return "-" * (value < 0) + f"{head},{whole[-3:]}{sign}{rest}"


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
        named("sample_id", lambda i: max(i, 1)),
        X,
        "1 a repeated",
    ),
    "brackets": (table(HEAD, *[[row[0], *map(in_brackets, row[1:])] for row in ROWS]), X, "s0 a negative"),
    "units": (table(HEAD, ["", "mg/l", "°C", "%", ""], *ROWS), X, "s0 a mg/l"),
    "keys and values": (table(*KEYS, HEAD, *ROWS), X, "s0 a Instrument"),
    "keys in columns": (table(*[[*row, "", "", ""] for row in KEYS], HEAD, *ROWS), X, "s0 a Instrument"),
    "empty cells below": (table(HEAD, *ROWS, [""] * 5, ["Total", *X.sum(axis=0)]), X, "s0 a Total"),
    "time": (named("time (s)", lambda i: 0.5 * i), X, "0.0 a names of the samples"),
    "names last": (table([*HEAD[1:], "id"], *BELOW), X, "s0 a sample names"),
    "numbers last": (
        table([*HEAD[1:], "sample_id"], *([*row[:-1], 100 + i] for i, row in enumerate(BELOW))),
        X,
        "100 a names of the samples",
    ),
    "a header twice": (table(HEAD, *ROWS[:5], HEAD, *ROWS[5:]), X, "s0 a repeating the header"),
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
    "bare commas": (table(HEAD, *ROWS[:5], [""] * 5, *ROWS[5:]), X, "s0 a no filled cell"),
    "a list of lists": (f"{X.tolist()}", X, "sample~1 feature~1 Each list"),
    "double brackets": (table([f"[[{name}]]" for name in HEAD], *ROWS), X, "s0 [[a]] sample names"),
    "points between thousands": (
        table(HEAD, *[[row[0], *(european(100 * x) for x in row[1:])] for row in ROWS], sep=";"),
        X * 100,
        "s0 a point stands between thousands",
    ),
    "three decimals": (
        table(HEAD, *[[row[0], *(f"{abs(x) + 1:.3f}" for x in row[1:])] for row in ROWS], sep=";"),
        np.abs(X) + 1,
        "s0 a read as the decimal sign",
    ),
    "dates": (named("date", lambda i: f"2024-01-{i + 1:02}"), X, "2024-01-01 a sample names"),
    "dates of Excel": (named("Datum", lambda i: 45000 + i), X, "45000 a names of the samples"),
    "merged cells above": (
        table(["id", "before", "before", "after", "after"], ["", "x", "y", "x", "y"], *ROWS),
        X,
        "s0 before~x above the table",
    ),
    "units in brackets": (table(HEAD, ["(unit)", "(mg/l)", "(-)", "(%)", "(kg)"], *ROWS), X, "s0 a mg/l"),
    "few units": (table(HEAD, ["-", "mg/l", "-", "-", "-"], *ROWS), X, "s0 a mg/l"),
    "a total column": (
        table([*HEAD, "all"], *([*row, sum(row[1:])] for row in ROWS)),
        None,
        "s0 a sum of all",
    ),
    "quoted cells and a last comma": (
        table(*([*(f'"{cell}"' for cell in row), ""] for row in [HEAD, *ROWS])),
        X,
        "s0 a empty",
    ),
    "a mark of order": ("\ufeffsep=;\n" + table(HEAD, *ROWS, sep=";"), X, "s0 a semicolon"),
    "notes with numbers": (
        table(HEAD, *ROWS, ["Note: 12 samples", "", "", "", ""], ["Updated 2021", "", "", "", ""]),
        X,
        "s0 a below the table",
    ),
    "a plate": (
        table(
            ["Instrument", "SpectraMax"],
            [],
            ["", 1, 2, 3, 4],
            *(["ABCDEFGHIJKL"[i], *row[1:]] for i, row in enumerate(ROWS)),
        ),
        X,
        "A 1 above the table",
    ),
    "falling wavenumbers": (
        table([4000 - 2 * j for j in range(4)], *X),
        X,
        "sample~1 4000 taken as the names",
    ),
    "clinical lines above names": (
        table(["#Patient", "A", "B", "C", "D"], ["#STRING", *["NUMBER"] * 4], HEAD, *ROWS, sep="\t"),
        X,
        "s0 a above the table",
    ),
    "replicates": (
        table(
            ["sample", "replicate", *HEAD[1:]], *([row[0], i % 3 + 1, *row[1:]] for i, row in enumerate(ROWS))
        ),
        None,
        "s0 replicate class codes",
    ),
    "R without a name": (
        table(HEAD[1:], *([f'"{i + 1}"', *row[1:]] for i, row in enumerate(ROWS)), sep=" "),
        X,
        "1 a blank",
    ),
    "an index of pandas": (named("Unnamed: 0", lambda i: i), X, "0 a Unnamed"),
    "leading zeros": (named("plot", lambda i: f"{i:03}"), X, "000 a plot"),
    "a column for each class": (
        table([*HEAD, "class_A", "class_B"], *([*row, i % 2, 1 - i % 2] for i, row in enumerate(ROWS))),
        None,
        "s0 a class codes",
    ),
    "a class in the last column": (
        table([*HEAD[1:], "species"], *([*row[1:], "xyz"[i % 3]] for i, row in enumerate(ROWS))),
        X,
        "sample~1 a species",
    ),
    "variables in rows": (
        table(["variable", *IDS], *([f"v{j}", *X[:, j]] for j in range(4))),
        X.T,
        "v0 s0 rows may be features",
    ),
    "an age among genes": (
        table(
            ["name", *PEOPLE],
            ["age", *range(40, 52)],
            *([f"ENSG{j:011}", *row[1:]] for j, row in enumerate(GENES)),
        ),
        None,
        'P0 age "age" is called unlike',
    ),
    "R without a corner above genes": (
        table(PEOPLE, *([f"FBgn{j:07}", *row[1:]] for j, row in enumerate(GENES)), sep="\t"),
        np.array([row[1:] for row in GENES]).T,
        "P0 FBgn0000000 rows were taken as the features",
    ),
    "R without a corner above names of its own": (
        table([f"S{i}" for i in range(12)], *GENES, sep="\t"),
        np.array([row[1:] for row in GENES]),
        "f0 S0 rows may be features",
    ),
    "codes of missing values": (
        table(HEAD, *ROWS[:10], *([name, -9999, *row] for name, _, *row in ROWS[10:])),
        None,
        "s0 a answer will be about these numbers",
    ),
    "a mean": (
        table(HEAD, *ROWS, ["Mean", *X.mean(axis=0)]),
        np.vstack([X, X.mean(axis=0)]),
        "s0 a “Mean”, is the mean of the others.",
    ),
    "a total by its name": (
        table(HEAD, *ROWS, ["Total", 1, 2, 3, 4]),
        np.vstack([X, [1, 2, 3, 4]]),
        's0 a "Total" are those of totals or means',
    ),
    "mothur": (
        table(
            ["label", "Group", "numOtus", *(f"Otu{j}" for j in range(4))],
            *([0.03, name, 4, *row] for name, *row in ROWS),
            sep="\t",
        ),
        X,
        's0 Otu0 "numOtus"',
    ),
    "JSON of rows by their names": (
        json.dumps(
            {
                name: dict(zip([*"abcd", "kind"], [*row, "xy"[len(name) % 2]], strict=True))
                for name, *row in ROWS
            }
        ),
        X,
        "s0 a Each object of the JSON file is a row",
    ),
    "a source with a year below": (
        table(HEAD, *ROWS, [], ["Source: a bank", " 2023"]),
        X,
        "s0 a below the table",
    ),
    "an index of pandas before names": (
        table(["", *HEAD], *([i, *row] for i, row in enumerate(ROWS))),
        X,
        "s0 a only numbers the rows",
    ),
    "identifiers before comments": (
        table(
            ["Respondent ID", "Collector", "Start", "End", "How was it?", *[""] * 3, "Comments"],
            [*[""] * 4, *"abcd", "Open"],
            *(
                [11800 + 7 * i, "web", *["01/02/2024 10:00"] * 2, *row[1:], f"Well {row[0]}"]
                for i, row in enumerate(ROWS)
            ),
        ),
        X,
        "11800 How~was~it? A row below the header",
    ),
    "lengths of genes": (
        table(["gene", "length", *PEOPLE], *([f"ENSG{j:011}", 9, *row[1:]] for j, row in enumerate(GENES))),
        np.array([row[1:] for row in GENES]).T,
        "P0 ENSG00000000000 this gives 12 samples",
    ),
    "record numbers": (
        table(
            ["MRN", *HEAD[1:]],
            *([8812345 + 17 * i, *np.round(row[1:])] for i, row in enumerate(ROWS)),
        ),
        None,
        "sample~1 MRN holds distinct whole numbers",
    ),
    "a time among channels": (
        table([*HEAD, "Time"], *([*row, 10 * i] for i, row in enumerate(ROWS))),
        None,
        "s0 a as times do",
    ),
    "serial dates": (
        table(["When", *HEAD[1:]], *([45000.5 + i, *row[1:]] for i, row in enumerate(ROWS))),
        None,
        "sample~1 When as times do",
    ),
    "a tab before names alone": (
        "".join(f'{row[1]:8}   {row[2]:8} {row[3]:8}\t"car {row[0]}"\n' for row in ROWS),
        X[:, :3],
        "car~s0 feature~1 sample names",
    ),
    "species with their numbers": (
        table(
            ["clade_name", "NCBI_tax_id", *PEOPLE],
            *([f"k__B|p__P{j}", 9 + j, *row[1:]] for j, row in enumerate(GENES)),
        ),
        np.array([row[1:] for row in GENES]).T,
        "P0 k__B|p__P0 set aside",
    ),
    "signals below the names": (
        table(
            ["Scan REF", *PEOPLE],
            ["Composite REF", *["signal"] * 12],
            *([f"ENSG{j:011}", *row[1:]] for j, row in enumerate(GENES)),
        ),
        np.array([row[1:] for row in GENES]).T,
        "P0 ENSG00000000000 gives 12 samples and 30 features",
    ),
    "types of QIIME": (
        table(HEAD, ["#q2:types", *["numeric"] * 4], *ROWS, sep="\t"),
        X,
        "s0 a A row below the header",
    ),
    "genotypes with phenotypes": (
        table(["IID", "SEX", *SNPS], *([row[1], row[4], *row[6:]] for row in PLINK), sep=" "),
        None,
        "s0 SEX class codes",
    ),
    "genes that became dates": (
        table(
            ["id", "2-Mar", "TP53", "BRCA1", "EGFR", "GATA3", "FOXA1", "CDH1", "AKT1"],
            *([*row, *row[1:]] for row in ROWS),
        ),
        None,
        "s0 2-Mar a gene such as SEPT1",
    ),
    "genes that a workbook stores as dates": (
        table(
            ["id", *(f"{a}{b}1" for a in "ABCDEFGHIJKLMNO" for b in "PQRSTUVWXYZABCDE"), "2024-09-01"],
            *([*row[:2], *row[1:] * 60] for row in ROWS),
        ),
        None,
        "s0 AP1 a gene such as SEPT1",
    ),
    "sizes and classes of scikit-learn": (
        table([12, 4, "setosa", "virginica"], *([*row[1:], i % 2] for i, row in enumerate(ROWS))),
        None,
        "sample~1 feature~1 class codes",
    ),
    "a first row that begins as sizes do": (
        table([12, 6, *X[0], "red", "blue"], *([i, i * i, *row, "red", "green"] for i, row in enumerate(X))),
        None,
        "sample~1 feature~1 label column",
    ),
    "zeros before decimal commas": (
        table(HEAD, *([row[0], f'"{i:02d},5"', *row[2:]] for i, row in enumerate(ROWS))),
        np.column_stack([np.arange(12) + 0.5, X[:, 1:]]),
        "s0 a Some decimals have a comma",
    ),
    "deviations behind means": (
        table(HEAD, *([row[0], row[1], *(f"{x} ({abs(x) / 9:.1f})" for x in row[2:])] for row in ROWS)),
        X,
        "s0 a the first was read",
    ),
    "lakhs and crores": (
        table(HEAD, *([row[0], *(f'"{lakhs(1e6 * x)}"' for x in row[1:])] for row in ROWS)),
        X * 1e6,
        "s0 a comma stands between thousands",
    ),
    "a minus behind": (
        table(HEAD, *([row[0], *(f"{abs(x)}{'-' * (x < 0)}" for x in row[1:])] for row in ROWS)),
        X,
        "s0 a before a minus",
    ),
    "a comment of as many words as columns": (
        "% by MATLAB\n" + table(*X, sep=" "),
        X,
        "sample~1 feature~1 % by MATLAB",
    ),
    "codes below larger numbers": (
        table(
            ["id", "year", *"abc"],
            *(
                [name, 1950 + i, *(999.9 if i % 5 == j else x for j, x in enumerate(row[:3]))]
                for i, (name, *row) in enumerate(ROWS)
            ),
        ),
        None,
        "s0 year value 999.9 stands",
    ),
    "digits with their classes": (
        table(*([i % 4, *(50 * row).astype(int)] for i, row in enumerate(BITS + 1))),
        None,
        "sample~1 feature~1 class codes",
    ),
    "peaks of xcms": (
        table(
            ["", "mzmed", "mzmin", "rtmed", *PEOPLE],
            *([f"FT{j}", 9, 9, 8, *row[1:]] for j, row in enumerate(GENES)),
        ),
        np.array([row[1:] for row in GENES]).T,
        "P0 FT0 set aside",
    ),
    "months in the last column": (
        table([*HEAD[1:], "month"], *([*row[1:], f"Jan {2000 + i}"] for i, row in enumerate(ROWS))),
        X,
        "sample~1 a holds~dates",
    ),
    "lines about the samples": (
        table(
            ["", "", "batch", "x", "y", "x", "y"],
            ["", "", "day", *range(4)],
            ["who", "mass", "note", *"abcd"],
            *([name, 1.5, "C6", *row] for name, *row in ROWS),
        ),
        np.column_stack([np.full(12, 1.5), X]),
        "s0 mass 2 lines were left out above the table",
    ),
    "subtotals beside names of cities": (
        table(
            ["country", "city", *HEAD[1:]],
            *(["CH", *row] for row in ROWS),
            ["CH Total", "", *X.sum(axis=0)],
        ),
        X,
        "s0 a “CH Total”, is the sum of the others and was left out",
    ),
    "answers with words": (
        table(HEAD, *([row[0], f"{1 + i % 5} - Agree", *row[2:]] for i, row in enumerate(ROWS))),
        X[:, 1:],
        "s0 b write the numbers alone",
    ),
    "three rows of names of pandas": (
        table(["", *"xxyy"], ["", *"aabb"], ["", "mean", "std", "mean", "std"], ["id", *[""] * 4], *ROWS),
        X,
        "s0 x~a~mean above the table",
    ),
    "different rows of names of pandas": (
        table(["", *"xyzw"], ["", *"abcd"], ["id", *[""] * 4], *ROWS),
        X,
        "s0 x~a above the table",
    ),
    "rows of names above two columns of names": (
        table(
            ["", "", *"xxyy"],
            ["", "", "mean", "std", "mean", "std"],
            ["arm", "who", *[""] * 4],
            *(["uv"[i % 2], *row] for i, row in enumerate(ROWS)),
        ),
        X,
        "s0 x~mean different texts",
    ),
    "numbers of the samples above their names": (
        table(
            ["Class", *["x"] * 6, *["y"] * 6],
            ["Order", *range(1, 13)],
            ["Name", *PEOPLE],
            *GENES,
        ),
        np.array([row[1:] for row in GENES]),
        "f0 P0 2 lines were left out above the table",
    ),
    "years above numbers in brackets": (
        table(
            ["sample", 1970, 1971, 1972, 1973],
            ["s0", "(16.8)", "(43.4)", "(27.1)", "(34.1)"],
            *([row[0], *map(abs, row[1:])] for row in ROWS[1:]),
        ),
        np.vstack([[-16.8, -43.4, -27.1, -34.1], np.abs(X[1:])]),
        "s0 1970 in brackets",
    ),
    "an age that rises": (
        table(["Age (years)", *HEAD[1:]], *([20 + 2 * i, *row[1:]] for i, row in enumerate(ROWS))),
        None,
        "sample~1 Age~(years) distinct whole numbers",
    ),
    "row numbers of an excerpt": (
        table(["n", *HEAD[1:]], *([101 + i, *(10 * row).astype(int)] for i, row in enumerate(X))),
        None,
        "sample~1 n distinct whole numbers",
    ),
    "doses from one": (
        table(["Dose (mg)", *HEAD[1:]], *([1 + i, *row[1:]] for i, row in enumerate(ROWS))),
        None,
        "sample~1 Dose~(mg) distinct whole numbers",
    ),
    "barcodes over fewer genes": (
        table(
            ["", *(f"TCGA-A{i % 7}-{1037 * (i + 1):04}-01A" for i in range(12))],
            *([name, *GENES[j][1:]] for j, name in enumerate(["KIT", "MYC", "RET", "ALK", "SRC", "LCK"])),
            sep="\t",
        ),
        np.array([row[1:] for row in GENES[:6]]).T,
        "TCGA-A0-1037-01A KIT those of samples in public archives",
    ),
    "Campbell": (
        table(
            ["TOA5", "CR1000", "CR1000", 12345, "Table1"],
            ["TIMESTAMP", *HEAD[1:]],
            ["TS", "Volts", "Deg C", "Deg C", "%"],
            ["", "Min", "Smp", "Avg", "Smp"],
            *([f"2012-05-03 14:{i:02}:00", *row[1:]] for i, row in enumerate(ROWS)),
        ),
        X,
        "2012-05-03~14:00:00 a above the table",
    ),
    "an alignment table of MS-DIAL": (
        table(
            ["", "", "Class", *["x"] * 6, *["y"] * 6, "NA"],
            ["", "", "Batch ID", *[1] * 12, "Average"],
            ["Alignment ID", "Average Mz", "Metabolite name", *PEOPLE, "x"],
            *([j, 100 + j, "Unknown", *row[1:], 7] for j, row in enumerate(GENES)),
            sep="\t",
        ),
        np.array([row[1:] for row in GENES]).T,
        "P0 0 its 12 samples the rows",
    ),
    "Perseus": (
        table(
            [*PEOPLE, "Score", "Protein IDs"],
            ["#!{Type}E", *["E"] * 11, "N", "T"],
            ["#!{C:Group}x", *["x"] * 5, *["y"] * 6, "", ""],
            *([*row[1:], 9, row[0]] for row in GENES),
            sep="\t",
        ),
        np.array([row[1:] for row in GENES]).T,
        'P0 f0 set aside: "Score"',
    ),
    "BIOM": (
        json.dumps(
            {
                "rows": [{"id": row[0], "metadata": None} for row in GENES],
                "columns": [{"id": name, "metadata": None} for name in PEOPLE],
                "matrix_type": "dense",
                "data": [row[1:] for row in GENES],
            }
        ),
        np.array([row[1:] for row in GENES]).T,
        "P0 f0 its rows are the features",
    ),
    "BIOM with entries": (
        json.dumps(
            {
                "rows": [{"id": name} for name in IDS],
                "columns": [{"id": name} for name in "abcd"],
                "matrix_type": "sparse",
                "data": [[i, j, X[i, j]] for i in range(12) for j in range(4)],
            }
        ),
        X.T,
        "a s0 its rows are the features",
    ),
}
"""The text, the numbers (None for others), and the first sample, the first feature and words of a finding."""


@pytest.mark.parametrize("name", CASES)
def test_a_table_is_read_right_and_what_was_decided_is_said(name):
    raw, numbers, expected = CASES[name]
    data = read(raw.encode())
    sample, feature, said = (part.replace("~", " ") for part in expected.split(" ", 2))
    assert numbers is None or np.allclose(data.X, numbers, rtol=0, atol=1e-9)
    assert (data.sample_names[0], data.feature_names[0]) == (sample, feature)
    assert said in " ".join(data.notes)
    for way in (way for one in data.findings for way in one.ways if way.option != "missing_codes"):
        assert len(read(raw.encode(), **{way.option: way.value}).X) > 1


@pytest.mark.parametrize("name", ["an alignment table of MS-DIAL", "Perseus"])
def test_lines_that_group_the_samples_are_labels(name):
    assert read(CASES[name][0].encode()).labels.tolist() == ["x"] * 6 + ["y"] * 6


def test_the_table_of_an_archive_of_uci_is_taken():
    iris = table(*([*row[1:], "abc"[i % 3]] for i, row in enumerate(ROWS)))
    names = "1. Title: Iris\n\nMin  Max\n4.3  7.9\n"
    data = read(archive({"Index": "4551 iris.data\n", "iris.data": iris, "iris.names": names}))
    assert np.allclose(data.X, X) and 'left aside: "Index", "iris.names"' in " ".join(data.notes)


def test_totals_of_one_name_are_left_out_together():
    raw = table(HEAD, *ROWS[:6], ["Total", 1, 2, 3, 4], *ROWS[6:], ["Total", 5, 6, 7, 8]).encode()
    (way,) = (one.ways[0] for one in read(raw).findings if one.option == "drop_rows")
    assert np.allclose(read(raw, drop_rows=way.value).X, X)


def test_tiny_numbers_are_no_times():
    assert read(table(HEAD[1:], *(X / 1e11).tolist()).encode()).notes == ()


def test_a_total_is_kept_on_request():
    raw = table(HEAD, *ROWS, ["Total", *X.sum(axis=0)]).encode()
    kept = read(raw, drop_rows=("(none)",))
    assert kept.sample_names[-1] == "Total" and "“Total”, is the sum of the others" in " ".join(kept.notes)
    assert len(read(raw, drop_rows=("s0",)).X) == 11 and len(read(raw, drop_rows=("Total",)).X) == 12


COUNTS = np.random.default_rng(3).integers(0, 99, (5, 30))
FILES = {
    "Salmon": ("{}/quant.sf", ["Name", "Length", "EffectiveLength", "TPM", "NumReads"], [9, 8.5, 0.1], []),
    "kallisto": ("{}/abundance.tsv", ["target_id", "length", "est_counts", "tpm"], [9], [0.1]),
    "RSEM": ("{}.genes.results", ["gene_id", "length", "expected_count", "TPM"], [9], [1]),
    "featureCounts": (
        "{}.featureCounts.txt", ["Geneid", "Chr", "Start", "End", "Strand", "Length", "/a/x.bam"],
        ["1", 1, 9, "+", 8], []
    ),
    "HTSeq": ("{}.counts", None, [], []),
}  # fmt: skip
"""Name of the file of a sample, header, and cells between names and counts and after them."""


@pytest.mark.parametrize("program", FILES)
def test_files_of_counts_one_for_each_sample_are_joined(program):
    name, header, before, after = FILES[program]
    head = [] if header is None else [header]
    files = {
        name.format(f"S{i}"): table(
            *head, *([f"T{j}", *before, count, *after] for j, count in enumerate(row)), sep="\t"
        ).encode()
        for i, row in enumerate(COUNTS)
    }
    data = read(archive(files))
    assert np.array_equal(data.X, COUNTS) and "files of 5 samples were joined" in " ".join(data.notes)
    assert (data.sample_names[4], data.feature_names[29]) == ("S4", "T29")
    first, *others = files
    with pytest.raises(InvalidData, match="same genes"):
        read(
            archive({first: files[first].replace(b"T0", b"T99"), **{other: files[other] for other in others}})
        )


def test_blank_rows_of_a_sheet_are_said():
    data = read(xlsx(one=[["A title"], [], HEAD, *ROWS[:5], [], *ROWS[5:]]))
    assert np.allclose(data.X, X) and "1 blank row inside the table was left out" in " ".join(data.notes)
    data = read(xlsx(one=[["A title", "", "its author"], [], HEAD, *ROWS]))
    assert np.allclose(data.X, X) and "blank row" not in " ".join(data.notes)


LETTERS = np.random.default_rng(2).choice([*"ACGT"], (12, 8))
REFUSED = {
    "letters of PLINK": (
        table(*([*row[:6], *LETTERS[i]] for i, row in enumerate(PLINK)), sep=" "),
        "recode A",
    ),
    "numbers of PLINK": (
        table(*([*row[:6], *np.where(LETTERS[i] > "C", 1, 2)] for i, row in enumerate(PLINK)), sep="\t"),
        "recode A",
    ),
    "one column": (table(*([x] for x in X[:, 0])), "one column"),
    "names and one column": (table(HEAD[:2], *(row[:2] for row in ROWS)), "two features"),
    "a last row that is cut": (
        table(HEAD, *([f"Patient: {row[0]}", *row[1:]] for row in ROWS), ["Patient: s12", 3.5]),
        "must have 5 cells",
    ),
    "NA": (table(HEAD, *ROWS[:5], ["s5", "NA", 1, 2, 3], *ROWS[6:]), "missing"),
    "n.d.": (table(HEAD, *ROWS[:5], ["s5", "n.d.", 1, 2, 3], *ROWS[6:]), "beyond a limit"),
    "<0.5": (table(HEAD, *ROWS[:5], ["s5", "<0.5", 1, 2, 3], *ROWS[6:]), "beyond a limit"),
    "results about genes": (
        table(["gene", "log2FoldChange", "pvalue"], *([f"ENSG{j:011}", 1 + j, j] for j in range(30))),
        "none is a sample",
    ),
    "numbers with words": (
        table(HEAD, *([row[0], *["1 - Strongly disagree", "2 - Agree"] * 2] for row in ROWS)),
        "no column of numbers",
    ),
    "many answers with words": (
        table(HEAD, *([row[0], f"{1 + i % 7}. Agree", *row[2:]] for i, row in enumerate(ROWS))),
        "answers with words behind their numbers",
    ),
    "Perseus without main columns": (
        table(["id", "a"], ["#!{Type}T", "N"], ["s", 1], ["t", 2], sep="\t"),
        "type E",
    ),
    "JCAMP": ("##TITLE=x\n##JCAMP-DX=4.24\n400 1 2\n404 2 3\n", "JCAMP"),
    "a name of two lines beside words": (
        table(
            HEAD,
            *([f'"{row[0]}\n"', *row[1:]] for row in ROWS[:5]),
            ["s5", "lost", "none", "no", "nil"],
            *ROWS,
        ),
        "row 6, column",
    ),
    "missing values below an empty row": (
        table(HEAD, *ROWS[:5], [], ["s5", "NA", "none", "null", "n/a"], *ROWS[6:]),
        "4 are missing",
    ),
    "a row of words": (
        table(HEAD, *ROWS[:5], ["s5", "lost", "none", "no", "nil"], *ROWS[6:]),
        "row 6, column",
    ),
    "Ocean Optics": ("User: x\n>>>>>Begin Spectral Data<<<<<\n340.1\t3.2\n340.4\t3.1\n", "one spectrum"),
    "two tables": (table(HEAD, *ROWS, [], ["id", "e", "f", "g", "h"], *ROWS), "Line 15 .* another table"),
    "two tables with numbers as names": (
        table(HEAD, *ROWS, [], ["id", 1, 2, 3, 4], *ROWS),
        "Line 15 .* another table",
    ),
    "two tables with titles": (
        table(["Plate 1"], HEAD, *ROWS, ["Plate 2"], HEAD, *ROWS),
        "Line 16 .* another table",
    ),
    "a wider table below": (
        table(HEAD, *ROWS, [], ["plot", *"efghij"], *([*row, 1, 2] for row in ROWS)),
        "Line 15 .* another table",
    ),
    "a table in long form": (
        table(
            ["person", "item", "score"],
            *([i, j, x] for i, row in zip(IDS, X, strict=True) for j, x in zip("abcd", row, strict=True)),
        ),
        "pivot",
    ),
    "estimates of one sample": (
        table(
            ["Name", "Length", "TPM", "NumReads"],
            *([f"ENST{j:011}", 9, j / 7, j] for j in range(30)),
            sep="\t",
        ),
        "one sample",
    ),
    "numbers in an unknown notation": (
        table(HEAD, *([row[0], *(f"DR {x}" for x in row[1:])] for row in ROWS)),
        'holds "DR',
    ),
}
"""The text, and words of the refusal."""


@pytest.mark.parametrize("name", REFUSED)
def test_a_table_that_cannot_be_read_is_refused_by_its_cause(name):
    raw, said = REFUSED[name]
    with pytest.raises(InvalidData, match=said):
        read(raw.encode())


@pytest.mark.parametrize("name", ["brackets", "a minus behind"])
def test_negative_numbers_of_accountants_are_missing_on_request(name):
    raw = CASES[name][0].encode()
    (finding,) = (one for one in read(raw).findings if "were read as negative" in one.what)
    data = read(raw, missing="mean", **{finding.ways[0].option: finding.ways[0].value})
    assert np.allclose(data.X, np.where(X < 0, np.nanmean(np.where(X < 0, np.nan, X), axis=0), X))


@pytest.mark.parametrize(
    "name", ["names last", "numbers last", "a name twice", "groups of columns", "brackets"]
)
def test_every_table_is_read_without_names(name):
    assert len(read(CASES[name][0].encode(), id_column="(none)").X) == 12


def test_sparse_counts_without_names_are_no_genotypes():
    counts = np.random.default_rng(5).binomial(2, 0.2, (40, 12))
    counts[:, 2:4] = 0
    assert read(table(*counts).encode()).X.tolist() == counts.tolist()


def test_yes_is_one_and_as_many_commas_as_points_are_no_decimal_commas():
    pair = find_flags(["no", "Yes", "no", "yes"])
    assert [flag(cell, pair) for cell in (" Yes", "no", "perhaps")] == [1.0, 0.0, None]
    assert (find_decimal(["1,5", "1.5"], ";"), find_decimal(["1,5", "2,5", "1.5"], ";")) == (".", ",")


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("latin-1", "Temp [°C]"),
        ("shift_jis", "長さ"),
        ("cp1251", "название признака"),
        ("cp1252", "Länge"),
        ("mac_roman", "Züge"),
        ("cp850", "Zürich"),
        ("cp1250", "Wrocław"),
        ("cp1252", "l’été"),
        ("cp1252", "µg"),
        ("cp1252", "länge–breite"),
        ("cp1251", "ИВАНОВ ПЕТРОВ СИДОРОВ"),
        ("koi8_r", "температура воздуха"),
        ("koi8_r", "ТЕМПЕРАТУРА ВОЗДУХА"),
        ("cp1251", "температура воздуха"),
        ("cp932", "ﾔﾏﾀﾞ ｻﾄｳ ｽｽﾞｷ"),
        ("utf-16-le", "Length"),
        ("cp1253", "Μήκος"),
    ],
)
def test_the_encoding_of_a_header_is_guessed(encoding, name):
    assert read(named("id", IDS.__getitem__).replace("a", name, 1).encode(encoding)).feature_names[0] == name


def test_an_encoding_without_a_mark_is_said():
    raw = table(HEAD, *ROWS).encode("utf-16-le")
    assert "read as utf-16-le" in read(raw).notes[0]
    assert "utf-16" not in " ".join(read(raw, encoding="utf-16-le").notes)


@pytest.mark.parametrize(
    "encoding",
    ["euc_kr", "euc_jp", "gb18030", "cp1253", "cp850", "cp1254", "cp1255", "iso8859_2", "koi8_r"],
)
def test_a_guess_is_said_with_the_right_encoding_among_the_ways(encoding):
    words = {"euc_kr": "길이", "euc_jp": "長さと幅", "gb18030": "长度", "cp1253": "μηκος", "cp850": "Zürich"}
    words |= {"cp1254": "ağaç şehir", "cp1255": "שלום עולם", "iso8859_2": "źródło żółw", "koi8_r": "дождь"}
    raw = table([words[encoding], *HEAD[1:]], *ROWS).encode(encoding)
    (said,) = (one for one in read(raw).findings if one.option == "encoding")
    values = {way.value for way in said.ways}
    assert encoding in values or f"as {encoding}." in said.what
    assert all(len(read(raw, encoding=value).X) == 12 for value in values)


def test_names_in_the_first_row_are_not_offered_as_missing_values():
    raw = table(["x", 7, 8, 9, 7], ["id", "q 1", "q 2", "q 3", 4], *ROWS).encode()
    with pytest.raises(InvalidData) as caught:
        read(raw)
    assert "missing_codes" not in {way.option for way in caught.value.ways}


def test_lines_below_the_table_are_rows_where_they_are_told_to_be():
    raw = table(HEAD, *ROWS, ["Source", "", "", "", ""])
    (said,) = (one for one in read(raw.encode()).findings if "below the table" in one.what)
    assert 'drop_rows="(none)"' in said.what
    data = read(raw.encode(), missing="mean", drop_rows=("(none)",))
    assert data.X.shape == (13, 4) and data.sample_names[-1] == "Source"


@pytest.mark.parametrize("name", ["age_years", "Age (years)", "follow_up_years"])
def test_rising_years_behind_another_word_are_a_feature(name):
    data = read(named(name, lambda i: 20 + 3 * i + i % 2).encode())
    assert data.X.shape == (12, 5) and data.feature_names[0] == name


@pytest.mark.parametrize("name", ["year", "Years", "birth_year", "years_ce", "date"])
def test_rising_years_are_names(name):
    data = read(named(name, lambda i: 1920 + 3 * i + i % 2).encode())
    assert data.X.shape == (12, 4) and data.sample_names[0] == "1920"
