"""The commands `certify` and `fetch`, tables and JSON out, progress, and what is said of a misspelt word."""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import nspca
from nspca.__main__ import main
from nspca.cli import screen
from nspca.cli.completion import subparsers
from nspca.cli.entry import parser
from nspca.cli.loadings import read_loadings
from nspca.data import SAMPLES
from nspca.data.arrays import to_npz
from nspca.errors import InvalidData
from nspca.progress import Event

NAMES = ("pine", "=oak", "elm", "ash")


# a covariance of one's own


@pytest.fixture
def correlations(tmp_path):
    """A CSV file with the correlations of the pitprops, as a person has them."""
    data = nspca.load_sample("pitprops")
    file = tmp_path / "mine.csv"
    pd.DataFrame(data.X, data.feature_names, data.feature_names).to_csv(file)
    return str(file)


def test_other_sets_are_listed_with_a_certificate(tmp_path, capsys):
    file = tmp_path / "a.npz"
    asked = ["solve", "pitprops", "--k", "8", "--signed", "--certificate", str(file)]
    assert main([*asked, "--others", "1"]) == 0
    said = capsys.readouterr().out
    assert "contains one of these 4 sets" in said and "4.05422  without testsg, instead knots" in said
    assert main(["verify", "pitprops", str(tmp_path / "a-others.npz")]) == 0
    assert "unless it uses all features of one of 4 listed sets" in capsys.readouterr().out
    assert main([*asked, "--others", "1", "--json"]) == 0
    others = json.loads(capsys.readouterr().out)["others"]
    assert len(others["sets"]) == 4 and others["sets"][1]["without"] == ["testsg"]
    asked = ["solve", "pitprops", "--k", "5", "--effort", "exhaustive", "--certificate", str(file)]
    assert main(asked) == 0
    assert "Unique: every other set of at most 5 features" in capsys.readouterr().out
    assert main(["verify", "pitprops", str(tmp_path / "a-others.npz")]) == 0
    capsys.readouterr()
    assert main([*asked, "--json"]) == 0
    assert "explains at least 2.77 % less" in json.loads(capsys.readouterr().out)["others"]["proved"]
    for wrong in (["--others", "100"], ["--others", "1", "--components", "2"]):
        assert main(["solve", "pitprops", "--k", "5", *wrong]) == 2


def test_a_covariance_of_ones_own_is_solved_and_verified_as_one(correlations, tmp_path, capsys):
    proof, found = str(tmp_path / "proof.npz"), {}
    for source, more in (("pitprops", []), (correlations, ["--covariance", "--certificate", proof])):
        assert main(["solve", source, "--k", "4", "--json", *more]) == 0
        printed = capsys.readouterr()
        found[source] = json.loads(printed.out)
        assert "looks like" not in printed.err and found[source]["of"] == "covariance"
    assert found[correlations]["value"] == found["pitprops"]["value"]
    for more, code in (([], 0), (["--covariance"], 0), (["--no-covariance"], 1)):
        assert main(["verify", correlations, proof, *more]) == code
        said = capsys.readouterr()
        assert ("of the covariance with" if code == 0 else "asked for was 'data'") in said.out + said.err
    own = tmp_path / "own.npz"
    own.write_bytes(to_npz(replace(nspca.load_sample("pitprops"), name="own")))
    assert main(["verify", str(own), proof]) == 0  # the file says what it is
    assert main(["sweep", str(own), "--k", "4", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out.partition("\n")[2])
    assert row["value"] == found["pitprops"]["value"]


def test_what_looks_like_a_covariance_is_said_to(correlations, capsys):
    assert main(["solve", correlations, "--k", "4", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["of"] == "data"
    names, matrix = printed.err.splitlines()
    assert "taken as sample names" in names
    assert "looks like a correlation matrix" in matrix and "--covariance" in matrix


@pytest.mark.parametrize("how", ["--scale", "--no-center"])
def test_a_covariance_is_taken_as_it_is(how, correlations, capsys):
    for source in (["pitprops"], [correlations, "--covariance"]):
        assert main(["solve", *source, "--k", "4", how]) == 2
        assert "leave --scale and --no-center out" in capsys.readouterr().err


def test_a_certificate_that_is_none_is_one_sentence(tmp_path, capsys):
    (tmp_path / "none.csv").write_text("a,b\n1,2\n")
    assert main(["verify", "digits", str(tmp_path / "lost.npz")]) == 2
    assert capsys.readouterr().err == f"nspca: There is no file {tmp_path / 'lost.npz'}: check the path.\n"
    assert main(["verify", "digits", str(tmp_path / "none.csv")]) == 1
    assert "one that cannot be read (The ZIP file is damaged" in (said := capsys.readouterr().err)
    assert said.endswith("pack it again); save it again\n")


def test_names_cannot_move_the_cursor(tmp_path, capsys):
    file = tmp_path / "odd.npz"
    names = np.array(["a\n\x1b[2Jb", "c\x9bd\u202e", "e"])
    np.savez(file, X=np.random.default_rng(0).random((9, 3)), feature_names=names)
    assert main(["solve", str(file), "--k", "3", "--signed"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.isprintable() for line in lines)
    assert {line[9:].strip() for line in lines[2:]} == {"a [2Jb", "c d", "e"}


def test_a_covariance_in_single_precision_is_repaired_on_request(tmp_path, capsys):
    X = np.random.default_rng(0).standard_normal((3, 8))
    A = np.corrcoef(X.T).astype(np.float32).astype(np.float64)
    file, proof = tmp_path / "single.csv", str(tmp_path / "proof.npz")
    pd.DataFrame(A, columns=list("abcdefgh")).to_csv(file, index=False)
    asked = ["solve", str(file), "--k", "3", "--covariance", "--json"]
    assert main(asked) == 2
    assert 'repair="shift"' in capsys.readouterr().err
    assert main([*asked, "--repair", "shift", "--certificate", proof]) == 0
    assert json.loads(capsys.readouterr().out)["of"] == "covariance"
    assert main(["verify", str(file), proof]) == 0
    capsys.readouterr()
    assert main(["solve", "digits", "--k", "3", "--repair", "shift"]) == 2
    assert "add --covariance" in capsys.readouterr().err


# what reading changed

MARKET = b"name\tsales\tvisits\tregion\n" + b"".join(
    f"s{i}\t{i * i % 7}.5\t{i * 3 % 11}\tr{i % 3}\n".encode() for i in range(12)
)


def test_what_reading_changed_is_said_beside_every_answer(tmp_path, capsys):
    file, proof, folder = str(tmp_path / "m.tsv"), str(tmp_path / "m.npz"), str(tmp_path / "m")
    weights = tmp_path / "w.csv"
    weights.write_text("sales,1\n")
    (tmp_path / "m.tsv").write_bytes(MARKET)
    data = nspca.read(MARKET)
    sentences = [one.sentence for one in data.findings if not one.is_suspicion]
    assert len(sentences) == 3 and any('"region" holds 3 different texts' in one for one in sentences)
    assert main(["shard", file, folder]) == 0
    assert sorted(capsys.readouterr().err.splitlines()) == sorted(f"nspca: {one}" for one in sentences)
    for source in (file, folder):
        for command in (
            ["solve", source, "--k", "1", "--certificate", proof],
            ["sweep", source, "--k", "1"],
            ["certify", source, str(weights)],
            ["verify", source, proof],
        ):
            assert main([*command, "--json"]) == 0
            printed = capsys.readouterr()
            told = json.loads(printed.out)
            notes = {*sentences} if source == folder else {*data.notes}
            assert {*(told[0] if command[0] == "sweep" else told)["notes"]} == notes, command
            assert all(f"nspca: {one}" in printed.err for one in sentences)
            assert len(printed.err.splitlines()) == len(notes), "each finding is one line"
    assert main(["verify", "pitprops", proof]) == 1
    assert main(["solve", "pitprops", "--k", "3"]) == 0
    assert "nspca:" not in capsys.readouterr().err, "a sample is what it is known to be"


def test_columns_that_do_not_count_are_named_where_too_few_do(tmp_path, capsys):
    file = tmp_path / "money.csv"
    for text, sentence in {
        "a,b\nx1,2\nx2,3\nx5,9\n": r'3 samples and 1 feature \(not counted: column "a" as sample names\)',
        "a,b,c\n1,x,\n2,x,\n5,x,\n": r'\(not counted: column "b" as text, column "c" as empty\)',
        "a,b\nu,x\nv,x\nw,x\n": r'no column of numbers \(not counted: column "a" as sample names, column "b"',
    }.items():
        file.write_text(text)
        assert main(["solve", str(file), "--k", "1"]) == 2
        assert re.search(sentence, capsys.readouterr().err)
        assert main(["shard", str(file), str(tmp_path / "shards")]) == 2
        assert sentence.partition("not counted")[2].replace("\\", "") in capsys.readouterr().err


def test_what_a_file_holds_is_printed_with_the_flags_that_turn_it(tmp_path, capsys):
    file = tmp_path / "spectra.csv"
    rng = np.random.default_rng(0)
    rows = [f"leaf_{i}," + ",".join(f"{value:.3f}" for value in rng.random(6)) for i in range(9)]
    file.write_text(
        "\n".join(["sample,400,405,410,415,420,425", *rows, rows[-1].replace("leaf_8", "leaf_9")])
    )
    assert main(["read", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "10 samples x 6 features" in printed and "features: 400, 405, 410" in printed
    assert "--header no (it is a sample)" in printed and "delimiter=','" in printed
    assert main(["read", str(file), "--json", "--header", "no"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["samples"], told["options"]["header"]) == (11, False)
    assert "different scales" not in printed
    file.write_text("a,b,c,d\n1,2,4000,3\n2,1,9000,4\n1,4,7000,1\n")
    assert main(["read", str(file)]) == 0 and "solve --scale" in capsys.readouterr().out


def test_a_suspicion_ends_a_strict_command(tmp_path, capsys):
    file = tmp_path / "codes.csv"
    rng = np.random.default_rng(0)
    cells = [[f"{value:.2f}" for value in row] for row in rng.random((12, 4))]
    cells[3][1] = cells[5][2] = "-9999"
    file.write_text("\n".join(["a,b,c,d", *map(",".join, cells)]))
    assert main(["solve", str(file), "--k", "2"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert "-9999 stands 2 times" in line and "--missing-codes -9999 (-9999 means a missing value)" in line
    assert main(["solve", str(file), "--k", "2", "--strict"]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and "nothing may be suspected" in printed.err
    how = ["--missing-codes=-9999", "--missing", "mean"]
    assert main(["solve", str(file), "--k", "2", "--strict", *how]) == 0


# the ways out that sentences name


def test_a_file_is_read_as_the_options_say(tmp_path, capsys):
    file, proof = str(tmp_path / "m.csv"), str(tmp_path / "m.npz")
    rows = [f"t{i},{i % 4},{i * i % 7},{i * 3 % 11},{i % 2}" for i in range(12)]
    (tmp_path / "m.csv").write_text("\n".join(["a,who,b,c,class", "x,0,,1,1", *rows]))
    how = ["--id", "who", "--labels", "0", "--missing", "samples"]
    for given, sentence in (
        ([], "--missing samples (leave out 1 sample of 13)"),
        (how[:4], "--missing mean (put in means"),
        (["--id", "nobody"], 'no column "nobody" to take as the id column'),
        (["--labels", "5"], "between 0 and 4, got 5"),
    ):
        assert main(["solve", file, "--k", "1", *given]) == 2
        assert sentence in capsys.readouterr().err
    assert main(["solve", file, "--k", "1", *how[:2], *how[4:]]) == 0
    assert 'Column "a" holds texts beside the names and was left out' in capsys.readouterr().err
    assert main(["solve", file, "--k", "2", *how, "--certificate", proof, "--json"]) == 0
    assert {one["name"] for one in json.loads(capsys.readouterr().out)["features"]} <= {"b", "c", "class"}
    assert main(["verify", file, proof, *how]) == 0
    assert main(["verify", file, proof, *how[:4], "--missing", "mean"]) == 1
    assert main(["sweep", file, "--k", "2", *how]) == 0
    capsys.readouterr()
    for source in ("digits", str(tmp_path)):
        assert main(["solve", source, "--k", "2", "--id", "0"]) == 2
        sentence = "--id is about a file and how it is read"
        assert sentence in capsys.readouterr().err


def test_the_decimal_sign_is_named_where_nothing_shows_it(tmp_path, capsys):
    file, folder = tmp_path / "sales.tsv", tmp_path / "shards"
    file.write_text("a\tb\tc\n1,243\t98\t1\n960\t62\t2\n2,080\t89\t3\n")
    for command in (["solve", str(file), "--k", "2"], ["shard", str(file), str(folder)]):
        assert main(command) == 2
        assert "--thousands comma (1,243 is 1243)" in capsys.readouterr().err
        assert main([*command, "--decimal", ","]) == 0
    assert nspca.Shards(folder).block(0).toarray()[:, 0].tolist() == [1.243, 960, 2.08]


def test_shards_are_made_without_the_columns_that_are_named(tmp_path, capsys):
    file, folder, proof = str(tmp_path / "m.csv"), str(tmp_path / "m"), str(tmp_path / "m.npz")
    rows = [f"t{i},{i},{i * i % 7},{i * 3 % 11}" for i in range(40)]
    (tmp_path / "m.csv").write_text("\n".join(["a,who,b,c", *rows]))
    assert main(["shard", file, str(tmp_path / "other"), "--id", "who"]) == 0
    assert 'Column "a" holds texts beside the names and was left out' in capsys.readouterr().err
    how = ["--id", "who", "--labels", "a"]
    assert main(["shard", file, folder, *how]) == 0
    assert main(["solve", folder, "--k", "1", "--certificate", proof]) == 0
    assert main(["verify", file, proof, *how]) == 0


# certify


def test_a_component_that_one_has_gets_its_certificate(tmp_path, capsys):
    mine, proof = str(tmp_path / "mine.csv"), str(tmp_path / "mine.npz")
    problem = nspca.Problem.from_covariance(nspca.load_sample("pitprops").X, 3)
    x = nspca.solve(problem).components[:, 0]
    names = nspca.load_sample("pitprops").feature_names
    pd.DataFrame({"what": names, "PC1": -7 * x}).to_csv(mine, index=False)  # of any length and sign
    assert main(["certify", "pitprops", mine, "--certificate", proof, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["k"] == 3 and said["method"] == "given" and said["value"] == pytest.approx(problem.value(x))
    assert said["ratio"] <= said["value"] / said["upper"] <= 1
    assert main(["verify", "pitprops", proof, "--k", "3", "--nonneg", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["upper"] == pytest.approx(said["upper"], rel=1e-9)
    assert main(["verify", "pitprops", proof, "--k", "4", "--json"]) == 1
    refused = json.loads(capsys.readouterr().out)
    assert refused["proved"] is False and "another problem" in refused["reason"]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_what_solve_writes_certify_reads(form, tmp_path, capsys):
    file = tmp_path / f"found.{form}"
    asked = ["solve", "pitprops", "--k", "3", "--components", "2", "--signed", "--json"]
    assert main([*asked, "--csv", str(file)] if form == "csv" else asked) == 0
    printed = capsys.readouterr().out
    if form == "json":
        file.write_text(printed)
    else:
        table = list(csv.DictReader(file.read_text(encoding="utf-8-sig").splitlines()))
        assert [row["component"] for row in table] == ["1"] * 3 + ["2"] * 3
    assert main(["certify", "pitprops", str(file), "--signed", "--json"]) == 0
    said, found = json.loads(capsys.readouterr().out), json.loads(printed)
    assert said["k"] == [3, 3] and said["value"] == pytest.approx(found["value"])
    weights = [
        [{f["name"]: f["weight"] for f in one} for one in told["components"]] for told in (said, found)
    ]
    assert weights[0] == [pytest.approx(one) for one in weights[1]]


def test_weights_of_both_signs_have_to_be_asked_for(tmp_path, capsys):
    file = tmp_path / "mine.json"
    file.write_text('{"knots": 1, "clear": -0.5}')
    assert main(["certify", "pitprops", str(file)]) == 2
    said = capsys.readouterr().err
    assert "got -0.447 for clear: add --signed" in said and said.count("\n") == 1
    assert main(["certify", "pitprops", str(file), "--signed", "--k", "4", "--forced", "knots"]) == 0
    assert 'may use "knots" and at most 3 more' in capsys.readouterr().out


def test_a_feature_is_called_by_its_name(tmp_path, capsys):
    file = tmp_path / "mine.json"
    file.write_text('[{"row 5 column 4": 1, "row 1 column 2": 1}, {"row 5 column 4": 1}]')
    assert main(["certify", "digits", str(file)]) == 2
    assert "share no feature are required, got row 5 column 4 in several" in capsys.readouterr().err
    assert main(["solve", "digits", "--k", "5", "--forced", "row 1 column 1,9"]) == 0
    assert 'may use "row 1 column 1" and "row 2 column 2" and at most 3 more' in capsys.readouterr().out
    assert main(["solve", "digits", "--k", "5", "--scale"]) == 2
    assert "row 1 column 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "pine,3\n'=oak,4\n",
        "name,PC1\nash,0\n=oak,-4e300\npine,-3e300\nelm,\n",
        "Weight,Feature\n3e-300,pine\n4e-300,=oak\n",
        "feature;weight\npine;0,3\n=oak;0,4\n",
        "pine;0,3\n'=oak;0,4\n",
        "feature\tweight\npine\t3\n=oak\t4\n",
        'pine,"0,3"\n=oak,"0,4"\n',
        '{"pine": 3, "=oak": 4}',
        '[{"name": "pine", "weight": 3}, {"name": "=oak", "weight": 4}]',
        '{"features": [{"name": "pine", "weight": 3}, {"name": "=oak", "weight": 4}]}',
        '[{"pine": 0.6, "=oak": 0.8}]',
    ],
)
def test_weights_by_name_in_every_form(text, tmp_path):
    (tmp_path / "w").write_text(text, encoding="utf-8-sig")
    X = read_loadings(str(tmp_path / "w"), NAMES)
    assert X.shape == (4, 1) and np.allclose(np.abs(X[:, 0]), [0.6, 0.8, 0, 0])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('pine,"1', "weights by name as CSV or JSON are required"),
        ("elms;1\nelm;2\n", r"got 'elms' \(did"),
        ("", "a column with the names of features and one with weights are required"),
        ("pine,1\nelm,2,3\n", "rows of 2 columns"),
        ("pine,1\npine,2\n", "got two for pine"),
        ("name,w\npine,inf\n", "a weight must be a finite number, got 'inf' for pine"),
        ("name,w\nelms,1\n", r"by the names of features, got 'elms' \(did you mean elm\?\)"),
        ("name,w\nelm,0\n", "a weight that is not 0"),
        ('{"elm": true}', "a weight must be a finite number, got 'True'"),
        ('{"elm": ', "weights by name as JSON are required"),
        ("[" * 100_000, "weights by name as JSON are required"),
        ("[]", "a weight that is not 0"),
        ("[[1, 2]]", "a component in JSON is weights by name"),
        ('{"features": 3}', "by the names of features, got 'features'"),
    ],
)
def test_what_is_no_weights_by_name_is_one_sentence(text, said, tmp_path):
    (tmp_path / "w").write_text(text)
    with pytest.raises(InvalidData, match=said):
        read_loadings(str(tmp_path / "w"), NAMES)


def test_a_picture_is_no_weights(tmp_path):
    (tmp_path / "w").write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(InvalidData, match="as UTF-8 text"):
        read_loadings(str(tmp_path / "w"), NAMES)


# fetch


def test_a_copy_is_kept_in_a_folder_that_the_data_are_then_read_from(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("NSPCA_DATA", raising=False)
    copy, folder = tmp_path / "copy.npz", tmp_path / "new" / "folder"
    np.savez(copy, X=np.random.default_rng(0).integers(0, 256, SAMPLES["cbcl"].shape, dtype=np.uint8))
    assert main(["fetch", "cbcl", "--copy", str(copy), "--to", str(folder)]) == 0
    said = capsys.readouterr().out
    assert f"cbcl: 2429 x 361, kept in {folder / 'cbcl.npz'}" in said and f"NSPCA_DATA={folder}" in said
    assert "add up to" in said  # other values than those of the original
    assert main(["samples"]) == 0
    before = [line for line in capsys.readouterr().out.splitlines() if "until it is fetched" in line]
    assert nspca.load_sample("cbcl").source == "relative"
    monkeypatch.setenv("NSPCA_DATA", str(folder))
    assert nspca.load_sample("cbcl").source == "copy"
    assert main(["samples"]) == 0
    after = [line for line in capsys.readouterr().out.splitlines() if "until it is fetched" in line]
    assert [line.split()[0] for line in before] == ["cbcl", *(line.split()[0] for line in after)]


def test_what_cannot_be_fetched_is_a_sentence_each_and_the_others_are(tmp_path, monkeypatch, capsys):
    from nspca import data
    from nspca.errors import DownloadError

    def fetched(name, report, folder):
        if name == "lrs":
            raise DownloadError("no connection.")
        return data.load_sample("digits")

    monkeypatch.setattr(data, "fetch_sample", fetched)
    assert main(["fetch"]) == 2
    said = capsys.readouterr()
    assert said.err == "nspca: no connection. `fetch lrs --copy FILE` takes it.\n"
    assert said.out.startswith("bow-kos: 1797 x 64, kept in ")
    assert main(["fetch", "lsr"]) == 2 and "(did you mean lrs?)" in capsys.readouterr().err
    assert main(["fetch", "--copy", "x"]) == 2 and "name the one it is of" in capsys.readouterr().err


# what is printed


def test_tables_and_json_come_out(tmp_path, capsys):
    file = tmp_path / "sweep.csv"
    assert main(["sweep", "pitprops", "--k", "2,3", "--json", "--csv", str(file)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["k"] for row in rows] == pd.read_csv(file)["k"].tolist() == [2, 3]
    assert main(["plan", "pitprops", "--k", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["size"]["columns"] == 13
    assert main(["samples", "--json"]) == 0
    assert {one["name"] for one in json.loads(capsys.readouterr().out)} == set(SAMPLES)
    assert main(["papers", "asteris2014-figure-4", "--stored", "--json"]) == 0
    (item,) = json.loads(capsys.readouterr().out)
    assert item["lines"] and {"printed", "found", "verdict"} <= set(item["lines"][0])
    csv_file = tmp_path / "solve.csv"
    assert main(["solve", "pitprops", "--k", "2", "--within", "95", "--csv", str(csv_file), "--json"]) == 0
    (first, second) = json.loads(capsys.readouterr().out)["features"]
    assert {first["place"], second["place"]} <= {"in every", "undecided"} and first["costs_at_least"] >= 0
    assert list(pd.read_csv(csv_file).columns) == [
        "component", "feature", "weight", "place", "costs_at_least", "costs_at_most", "data",
    ]  # fmt: skip
    capsys.readouterr()
    assert main(["solve", "pitprops", "--k", "2", "--within", "99.9999996"]) == 0
    assert "at least 99.9999996 % of the optimum" in capsys.readouterr().out, "and not 100 %"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["solve", "pitprops", "--k", "2", "--certificate", "{0}"], "got the folder"),
        (["solve", "pitprops", "--k", "2", "--csv", "{0}/no/x.csv"], "a folder that exists is required"),
        (["solve", "pitprops", "--k", "2", "--csv", "{0}/x", "--certificate", "{0}/../{1}/x"], "written al"),
        (["solve", "pitprops", "--k", "2", "--within", "9", "--csv", "{0}/x-features",
          "--certificate", "{0}/x"], "written already"),
        (["solve", "{0}/mine.csv", "--k", "2", "--csv", "{0}/mine.csv"], "which is read"),
        (["certify", "pitprops", "{0}/mine.csv", "--csv", "{0}/mine.csv"], "which is read"),
        (["sweep", "pitprops", "--k", "2", "--csv", "{0}"], "got the folder"),
        (["papers", "asteris2014-figure-4", "--stored", "--html", "{0}"], "got the folder"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_written_is_refused_before_the_work(asked, said, tmp_path, capsys):
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n3,5\n4,4\n")
    assert main([part.format(tmp_path, tmp_path.name) for part in asked]) == 2
    printed = capsys.readouterr()
    assert said in printed.err and printed.err.count("\n") == 1 and printed.out == ""
    assert [file.name for file in tmp_path.iterdir()] == ["mine.csv"]


def test_a_file_that_may_not_be_written_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(screen.os, "access", lambda path, mode: path != tmp_path)
    assert main(["sweep", "pitprops", "--k", "2", "--csv", str(tmp_path / "x.csv")]) == 2
    assert "a file that may be written is required" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["solve", "sweep"])
def test_an_answer_is_printed_though_no_file_can_be_written(command, tmp_path, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"nspca.cli.{'answers' if command == 'solve' else command}.write_csv", full)
    assert main([command, "pitprops", "--k", "2", "--csv", str(tmp_path / "x.csv")]) == 2
    printed = capsys.readouterr()
    assert "No space left" in printed.err and "1.95" in printed.out


def test_an_answer_is_saved_though_nobody_reads_it(tmp_path, monkeypatch):
    def closed(line=""):
        raise BrokenPipeError

    monkeypatch.setattr("nspca.cli.answers.say", closed)
    monkeypatch.setattr("os.dup2", lambda *_: None)
    file = tmp_path / "c.npz"
    assert main(["solve", "pitprops", "--k", "2", "--certificate", str(file)]) == 0
    assert nspca.Certificate.load(file).k == 2


@pytest.mark.parametrize("form", ["--json", "--csv"])
def test_a_sweep_that_is_stopped_hands_over_what_is_ready(form, tmp_path, monkeypatch, capsys):
    from nspca import api

    def certificate(problem, *rest, of=api.best_certificate):
        if problem.k == 4:
            raise nspca.Cancelled("stopped")
        return of(problem, *rest)

    monkeypatch.setattr(api, "best_certificate", certificate)
    file = tmp_path / "part.csv"
    asked = ["sweep", "pitprops", "--k", "2:5", form]
    assert main(asked + [str(file)] * (form == "--csv")) == 130
    printed = capsys.readouterr()
    assert printed.err == "nspca: stopped; this is what was ready\n"
    if form == "--csv":
        assert pd.read_csv(file)["k"].tolist() == [2, 3] and printed.out == f"pitprops: 2 rows: {file}\n"
    else:
        assert [row["k"] for row in json.loads(printed.out)] == [2, 3]
    assert main(["sweep", "pitprops", "--k", "4:5"]) == 130
    assert capsys.readouterr().err == "nspca: stopped\n"


def test_the_bar_says_how_far_it_is_and_what_is_proved():
    event = Event("sweep", 12, 24, lower=93.19, upper=100.0, k=7, message="cone")
    assert screen.event_line(event) == f"sweep  [{'#' * 12}{'.' * 12}] 12/24  k = 7  93.1 % proved  cone"
    assert screen.event_line(Event("fetching", 3)) == "fetching  3"
    assert "proved" not in screen.event_line(Event("search", lower=2.0, upper=1.0))


def test_the_bar_is_for_those_who_watch(monkeypatch, capsys):
    assert screen.progress() is screen.silent
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "50")
    report = screen.progress()
    for done in (1, 2, 3):
        report(Event("a long search of cones", done, 3))
    report(Event("sweep", 2, 2))
    report(Event("cones", 5, 5))
    screen.clear()
    pictures = capsys.readouterr().err.split("\r\x1b[K")[1:]
    bar = f"[{'#' * 24}] 2/2"
    assert [len(picture) for picture in pictures[:2]] == [49, 49]  # the first and the last, cut
    assert pictures[2:] == [f"sweep  {bar}", f"sweep  {bar}  cones", ""]  # the whole in front of its parts


# words


def test_a_misspelt_word_is_one_sentence_with_the_word_that_was_meant(capsys):
    for asked, said in (
        (["slove", "digits"], "there is no command 'slove' (did you mean solve?)"),
        (["solve", "digits", "--k", "3", "--sgned"], "does not know '--sgned' (did you mean --signed?)"),
        (["solve", "digits", "--k", "3", "more"], "`solve` does not know 'more'"),
        (["solve", "digits"], "the following arguments are required: --k"),
        (["solve", "digits", "--k", "x"], "argument --k: invalid int value: 'x'"),
    ):
        with pytest.raises(SystemExit) as end:
            main(asked)
        printed = capsys.readouterr().err
        assert end.value.code == 2 and said in printed and printed.count("\n") == 1
        assert printed.startswith("nspca: ") and "--help` says what there is" in printed
    assert main([]) == 2 and "exit status:" in capsys.readouterr().out


def test_a_name_that_the_terminal_has_no_letters_for_is_printed_all_the_same(monkeypatch):
    printed = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(printed, encoding="ascii"))
    assert main(["samples"]) == 0
    assert b"22.9 \\xb5m" in printed.getvalue()


def test_who_stops_it_gets_a_word_and_a_status_of_its_own(monkeypatch, capsys):
    def stopped(line=""):
        raise KeyboardInterrupt

    monkeypatch.setattr("nspca.cli.samples.say", stopped)
    assert main(["samples"]) == 130 and capsys.readouterr().err == "nspca: stopped\n"


def test_a_reader_that_has_enough_is_no_error():
    code = "import sys; from nspca.cli.entry import main; sys.exit(main(['completion', 'fish']))"
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as out:
        run = subprocess.run([sys.executable, "-c", code], stdout=out, stderr=subprocess.PIPE)
    assert (run.returncode, run.stderr) == (0, b"")


def test_every_help_has_an_example_that_the_parser_takes():
    top = parser()
    for name, command in subparsers(top).items():
        examples = re.findall(r"^  nspca (.+)$", command.format_help(), re.MULTILINE)
        assert examples, name
        for example in examples:
            args = top.parse_args(shlex.split(example))
            assert args.command == name and callable(args.run), example


# texts, and a table about the samples


def test_words_of_texts_are_counted_and_solved(tmp_path, capsys):
    folder = tmp_path / "letters"
    folder.mkdir()
    for i in range(12):
        text = ("the river and the bridge {}", "bread with wine and cheese {}")[i % 2]
        (folder / f"letter {i}.txt").write_text(text.format("abcdefghijkl"[i] * 3))
    assert main(["solve", str(folder), "--text", "--k", "2", "--signed", "--json"]) == 0
    said = capsys.readouterr()
    weights = json.dumps(json.loads(said.out))
    assert any(f'"{word}"' in weights for word in ("bread", "river")) and '"the"' not in weights
    assert "Stop words of English are left out" in said.err
    options = ["--stop-words", "none", "--pairs", "--tfidf", "--most-words", "9", "--highest-share", "100"]
    assert main(["sweep", str(folder), "--text", "--k", "1:2", *options]) == 0
    capsys.readouterr()
    for wrong, sentence in (
        (["--pairs"], "--pairs is about counting the words of texts: add --text"),
        (["--text", "--missing", "mean"], "--missing is about tables of numbers"),
        (["--text", "--id", "name"], "column"),
    ):
        source = str(folder) if wrong != ["--pairs"] else str(folder / "letter 0.txt")
        if "--id" in wrong:
            source = str(folder / "letter 1.txt")
        assert main(["solve", source, "--k", "2", *wrong]) == 2
        assert sentence in capsys.readouterr().err
    assert main(["solve", "digits", "--text", "--k", "2"]) == 2
    assert "which is none: leave it out" in capsys.readouterr().err


def test_a_table_about_the_samples_is_joined(tmp_path, capsys):
    table, about = tmp_path / "genes.csv", tmp_path / "about.csv"
    table.write_text(
        "gene,s1,s2,s3,s4\n" + "".join(f"g{i},{i},{i * i % 7},{i % 3},{i % 5}\n" for i in range(6))
    )
    about.write_text("sample,kind\ns2,a\ns1,b\ns4,b\ns9,a\n")
    how, listed = ["--features-in-rows", "--annotation", str(about), "--k", "2"], str(tmp_path / "list.csv")
    assert main(["solve", str(table), *how, "--csv", listed]) == 0
    assert 'The annotation has 3 of the 4 samples, and not "s3"; 1 of its rows' in capsys.readouterr().err
    assert main(["certify", str(table), listed, *how]) == 0, "the exported list is read back"
    genes = nspca.read(table, features_in_rows=True)
    assert np.count_nonzero(read_loadings(listed, genes.feature_names)) == 2


def test_a_table_of_genes_is_turned_and_said_to_be(tmp_path, capsys):
    genes = ["TP53", "BRCA1", "EGFR", "MYC", "KRAS", "PTEN", "CDK4", "RB1", "VEGFA", "AKT1"]
    table = pd.DataFrame(np.random.default_rng(0).random((10, 4)), index=genes, columns=list("wxyz"))
    file, turned = str(tmp_path / "genes.csv"), str(tmp_path / "turned.csv")
    table.to_csv(file)
    table.T.to_csv(turned)
    for source, more, said in ((file, [], True), (file, ["--features-in-rows"], False), (turned, [], False)):
        assert main(["solve", source, "--k", "2", *more]) == 0
        printed = capsys.readouterr()
        assert (
            "4 samples and 10 features. To turn this: --no-features-in-rows (the rows" in printed.err
        ) is said
        assert any(gene in printed.out for gene in genes)
    assert main(["solve", file, "--k", "2", "--no-features-in-rows"]) == 0
    assert not any(gene in capsys.readouterr().out for gene in genes)
