"""Tables that reading suspects, tables that it does not, and samples whose names are numbers."""

import numpy as np
import pytest

from nspca import read
from nspca.errors import InvalidData


def table(header, first, rows=24, seed=0, whole=False):
    """Return CSV of 4 random columns after a first column; `first` are its cells."""
    rng = np.random.default_rng(seed)
    numbers = rng.poisson(3, (rows, 4)) if whole else rng.normal(20, 5, (rows, 4)).round(2)
    lines = [",".join([str(name), *map(str, row)]) for name, row in zip(first, numbers, strict=True)]
    return "\n".join([header, *lines]) + "\n"


def followed(raw, finding):
    """Return the data by each way of a finding."""
    return [read(raw, **{way.option: way.value}) for way in finding.ways]


@pytest.mark.parametrize(
    "last", ["Median", "SD", "Std", "Std.-Abw.", "Subtotal", "Mittelwert", "Total", "Mean"]
)
def test_a_row_that_is_called_like_a_summary_is_said_and_can_be_left_out(last):
    raw = (table("name,a,b,c,d", [f"R{i}" for i in range(24)]) + f"{last},1,2,3,4\n").encode()
    (said,) = [one for one in read(raw).findings if one.option == "drop_rows"]
    assert f'"{last}"' in said.what and said.is_suspicion
    assert [data.X.shape for data in followed(raw, said)] == [(24, 4)]


@pytest.mark.parametrize(
    ("code", "whole"), [("-9", True), ("-999.25", False), ("-99", False), ("999", True), ("-9999", False)]
)
def test_a_repeated_number_far_from_the_others_is_suspected_to_be_a_code(code, whole):
    raw = (
        table("name,a,b,c,d", [f"R{i}" for i in range(24)], whole=whole) + f"x,{code},1,2,{code}\n"
    ).encode()
    (said,) = [one for one in read(raw).findings if one.option == "missing_codes"]
    assert f"The value {code} " in said.what
    (way,) = said.ways
    assert read(raw, missing_codes=way.value, missing="samples").X.shape == (24, 4)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("patient", range(101, 125)),
        ("respondent", [7518 + 37 * i % 5000 for i in range(24)]),
        ("Barcode", [863_696_168_732 + 7919 * i for i in range(24)]),
        ("student_number", range(40_000, 40_024)),
        ("caseid", [f"{i}.0" for i in range(1, 25)]),
        ("Year", range(1990, 2014)),
        ("time", range(1_680_000_000, 1_680_014_400, 600)),
        ("wavelength", range(400, 520, 5)),
    ],
)
def test_numbers_that_name_the_samples_are_no_feature_and_can_be_one(name, first):
    raw = table(f"{name},a,b,c,d", first).encode()
    data = read(raw)
    assert data.feature_names == ("a", "b", "c", "d") and data.sample_names[0] == str(first[0])
    (said,) = [one for one in data.findings if one.option == "id_column"]
    turned = [(4, 24)] if name == "wavelength" else []
    assert [other.X.shape for other in followed(raw, said)] == [(24, 5), *turned]


def test_a_header_of_two_years_is_the_header():
    raw = b"region,2010,2020\n" + b"".join(
        b"T%d,%d,%d\n" % (i, 9000 + 7 * i, 8000 + 31 * i % 97) for i in range(9)
    )
    data = read(raw)
    assert data.feature_names == ("2010", "2020") and data.X.shape == (9, 2)
    (said,) = [one for one in data.findings if one.option == "header"]
    assert [other.X.shape for other in followed(raw, said)] == [(10, 2)]


@pytest.mark.parametrize(
    "rows",
    [
        [sorted(row) for row in np.random.default_rng(1).uniform(20, 80, (20, 6)).round(1).tolist()],
        np.random.default_rng(2).normal(size=(30, 5)).round(3).tolist(),
        np.random.default_rng(3).poisson(20, (30, 5)).tolist(),
        np.random.default_rng(4).integers(0, 2, (30, 5)).tolist(),
        [[*row, 4e9 + row[0]] for row in np.random.default_rng(5).normal(30, 9, (30, 4)).round(3).tolist()],
    ],
)
def test_ordinary_rows_without_a_header_are_all_samples_and_raise_no_suspicion(rows):
    raw = "\n".join(",".join(map(str, row)) for row in rows).encode()
    data = read(raw)
    assert len(data.X) == len(rows)
    assert not [one.what for one in data.findings if one.is_suspicion]


def test_a_first_row_of_sorted_ranks_stays_a_sample_and_is_said():
    rows = [range(1, 11), *(np.random.default_rng(i).permutation(10) + 1 for i in range(20))]
    raw = "\n".join(",".join(map(str, row)) for row in rows).encode()
    data = read(raw)
    assert data.X.shape == (21, 10)
    (said,) = [one for one in data.findings if one.is_suspicion]
    assert [other.X.shape for other in followed(raw, said)] == [(20, 10)]


@pytest.mark.parametrize("code", ["--", "k.A.", "#DIV/0!", "*", "missing", "< LOD", "<0.05"])
def test_words_in_several_columns_are_refused_with_ways_that_read(code):
    lines = table("name,a,b,c,d", [f"R{i}" for i in range(24)]).split("\n")
    lines[3] = f"R2,{code},1,2,3"
    lines[9] = f"R8,1,{code},2,3"
    raw = "\n".join(lines).encode()
    with pytest.raises(InvalidData) as refused:
        read(raw)
    ways = {way.option: way.value for way in refused.value.ways}
    assert read(raw, drop_columns=ways["drop_columns"]).feature_names == ("c", "d")
    assert read(raw, missing_codes=ways["missing_codes"], missing="samples").X.shape == (22, 4)


@pytest.mark.parametrize("at", [5, 24])
def test_a_comment_below_the_header_is_refused_with_a_way_that_reads(at):
    lines = table("name,a,b,c,d", [f"R{i}" for i in range(24)]).split("\n")
    raw = "\n".join([*lines[:at], "# batch 2", *lines[at:]]).encode()
    with pytest.raises(InvalidData, match="comment") as refused:
        read(raw)
    (way,) = refused.value.ways
    assert read(raw, **{way.option: way.value}).X.shape == (24, 4)


def test_numbers_name_the_samples_above_a_row_called_total():
    raw = (table("id,a,b,c,d", range(1, 25)) + "Total,1,2,3,4\n").encode()
    data = read(raw)
    assert data.X.shape == (25, 4) and data.sample_names[-1] == "Total"
    (said,) = [one for one in data.findings if one.option == "drop_rows"]
    assert [other.X.shape for other in followed(raw, said)] == [(24, 4)]


def test_further_columns_of_texts_beside_names_are_left_out_and_said():
    raw = table("Country Name,Country Code,a,b,c,d", [f"Land {i},L{i}" for i in range(24)]).encode()
    data = read(raw)
    assert data.sample_names[0] == "Land 0" and data.X.shape == (24, 4)
    (said,) = [one for one in data.findings if one.option == "id_column"]
    assert [other.sample_names[0] for other in followed(raw, said)] == ["L0"]


@pytest.mark.parametrize(
    ("header", "first", "aside"),
    [
        ("Gene", [f"TP{chr(65 + i)}" for i in range(24)], ()),
        (
            "Hugo_Symbol,Entrez_Gene_Id",
            [f"TP{chr(65 + i)},{7157 + 13 * i}" for i in range(24)],
            ("Entrez_Gene_Id",),
        ),
        ("Probeset,Length", [f"q{i},{900 + i}" for i in range(24)], ("Length",)),
    ],
)
def test_a_first_column_of_genes_turns_the_table_and_lengths_are_no_samples(header, first, aside):
    raw = table(f"{header},a,b,c,d", first).encode()
    data = read(raw)
    assert data.X.shape == (4, 24) and [*data.sample_names] == ["a", "b", "c", "d"]
    assert all(any(name in one.what for one in data.findings) for name in aside)
    assert len(read(raw, features_in_rows=False).X) == 24


def answers(codes, kinds=range(1, 6), rows=40):
    rng = np.random.default_rng(0)
    X = rng.choice([*kinds], (rows, 5))
    X[[3, 9, 21], [0, 2, 0]], X[[4, 8], [1, 1]] = codes[0], codes[-1]
    lines = [",".join([f"R{i}", *map(str, row)]) for i, row in enumerate(X)]
    return "\n".join(["name,a,b,c,d,e", *lines]).encode()


@pytest.mark.parametrize(
    ("codes", "kinds"),
    [
        ((9,), range(1, 6)),
        ((88, 99), range(1, 6)),
        ((777, 999), range(100)),
        ((-1,), range(12)),
        ((0,), range(50, 80)),
    ],
)
def test_codes_among_answers_and_measurements_are_said(codes, kinds):
    raw = answers(codes, kinds)
    (said,) = [one for one in read(raw).findings if one.option == "missing_codes"]
    assert said.value == codes
    assert read(raw, missing_codes=codes, missing="samples").X.shape == (35, 5)


@pytest.mark.parametrize(
    "kinds", [range(12), range(-2, 3), (0, 1), (1, 2, 3, 4, 5, 6, 7, 8, 9), (0, 20, 50, 90)]
)
def test_ordinary_answers_hold_no_code(kinds):
    raw = answers((kinds[0], kinds[-1]), kinds)
    assert not [one for one in read(raw).findings if one.option == "missing_codes"]


def test_a_number_among_counts_is_no_code_where_it_is_the_largest_of_two_columns():
    counts = np.random.default_rng(3).integers(0, 1000, (40, 6))
    counts[:, 4:] %= 99
    counts[:4, 2:4], counts[7, 4:] = [[66, 77], [77, 66], [88, 99], [99, 88]], 99
    raw = "\n".join(["a,b,c,d,e,f", *(",".join(map(str, row)) for row in counts)]).encode()
    assert not [one for one in read(raw).findings if one.option == "missing_codes"]


@pytest.mark.parametrize(
    ("called", "said"), [("batch", "class codes"), ("year", "holds years"), ("rep", "class codes")]
)
def test_codes_between_measurements_are_said_by_their_names(called, said):
    rng = np.random.default_rng(1)
    code = rng.integers(1960, 1999, 24) if called == "year" else rng.integers(1, 4, 24)
    numbers = rng.normal(20, 5, (24, 3)).round(2)
    lines = [f"s{i},{a},{c},{b},{d}" for i, ((a, b, d), c) in enumerate(zip(numbers, code, strict=True))]
    data = read("\n".join([f"name,x,{called},y,z", *lines]).encode())
    (found,) = [one for one in data.findings if one.is_suspicion and called in one.what]
    assert said in found.what


def test_totals_of_groups_and_a_few_genes_in_rows_are_said():
    sums = b"region,a,b,c\nN1,1,5,9\nN2,2,6,7\nTotal North,3,11,16\nS1,4,4,2\nS2,5,3,8\nTotal South,9,7,10\n"
    (said,) = [one for one in read(sums).findings if one.option == "drop_rows"]
    assert said.value == ("Total North", "Total South")
    genes = b"gene,A,B,C,D,E,F\n" + b"".join(
        b"%s,1,2,3,4,5,%d\n" % (g, i) for i, g in enumerate([b"TP53", b"CD4", b"IL6"])
    )
    assert read(genes.replace(b"gene,", b",")).findings[0].option == "features_in_rows"


def test_quoted_decimal_commas_between_commas_and_years_above_groups_are_read():
    data = read(b"n,a,b\n" + b"".join(b'x%d,"%d,5","0,2%d"\n' % (i, i, i) for i in range(8)))
    assert data.X[3].tolist() == [3.5, 0.23]
    data = read(
        b",2019,2019,2020,2020\nregion,m,f,m,f\n" + b"".join(b"R%d,1.%d,2,3,4\n" % (i, i) for i in range(8))
    )
    assert data.feature_names == ("2019 m", "2019 f", "2020 m", "2020 f")


GENES = ("TP53", "BRCA1", "EGFR", "MYC", "KRAS2", "CD4", "CD8A", "IL6", "IL2RA", "STAT3")


def test_numbers_of_rows_before_names_of_genes_are_no_sample_and_results_of_tests_none():
    lines = [f"{i},{i + 1},{gene},{i}.5,{9 - i}.25,{i * i}.75" for i, gene in enumerate(GENES)]
    data = read("\n".join([",rank,gene,S1,S2,S3", *lines]).encode())
    assert data.sample_names == ("S1", "S2", "S3") and data.feature_names == GENES
    results = "\n".join(
        ["gene,logFC,t,P.Value,B", *(f"{gene},1.{i},2.{i},0.0{i},3.{i}" for i, gene in enumerate(GENES))]
    )
    with pytest.raises(InvalidData, match="none is a sample"):
        read(results.encode())


def test_decimal_commas_above_an_empty_column_are_no_lines_above_the_table():
    lines = [f"x{i};0,{i}5;1,{i};" for i in range(9)]
    data = read("\n".join(["n;a;b;", *lines]).encode())
    assert data.X.shape == (9, 2) and data.feature_names == ("a", "b")


def test_a_plain_zero_among_shares_is_a_share():
    lines = [f"x{i},{'0' if i == 3 else f'{i}.5%'},{i}" for i in range(9)]
    assert read("\n".join(["n,a,b", *lines]).encode()).X[2:4, 0].tolist() == [2.5, 0]
