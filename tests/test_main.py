"""The command line: printed text, written files and exit status."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import nspca
from nspca.__main__ import main
from nspca.cli.arguments import sizes
from nspca.cli.completion import subparsers
from nspca.cli.entry import parser
from nspca.data.arrays import to_npz
from nspca.errors import CertificateError


def test_help_names_the_commands(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    printed = capsys.readouterr().out
    assert all(f"\n    {command}" in printed for command in subparsers(parser()))
    run = subprocess.run([sys.executable, "-m", "nspca", "--help"], capture_output=True, text=True)
    assert run.returncode == 0 and run.stdout.startswith("usage: python -m nspca ")


def test_a_certificate_and_a_file_that_is_turned_name_the_option(tmp_path, capsys):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(4, 6)), columns=list("abcdef"))
    X.T.to_csv(tmp_path / "turned.csv")
    file, proof = str(tmp_path / "turned.csv"), str(tmp_path / "proof.npz")
    rows = ["--features-in-rows"]
    assert main(["solve", file, "--k", "2", *rows, "--certificate", proof]) == 0
    assert main(["verify", file, proof, *rows]) == 0
    capsys.readouterr()
    assert main(["verify", file, proof]) == 1
    error = capsys.readouterr().err
    assert "the certificate is about 4 samples of 6 features, got 6 rows and 4 columns" in error
    assert "add --features-in-rows" in error


@pytest.mark.visit
def test_data_are_prepared_first_and_a_certificate_is_about_the_prepared_ones(tmp_path, capsys):
    file, steps = str(tmp_path / "c.npz"), "equalised,off-first"
    assert main(["solve", "digits", "--k", "5", "--prepare", steps, "--certificate", file, "--json"]) == 0
    data = nspca.prepare(nspca.load_sample("digits"), *steps.split(","))
    printed = json.loads(capsys.readouterr().out)
    assert np.isclose(printed["value"], nspca.solve(nspca.Problem.from_data(data.X, 5), certify=None).value)
    assert printed["prepared"] == steps.split(",")
    for more in (["--prepare", steps], []):  # the certificate names what is to be done
        assert main(["verify", "digits", file, *more]) == 0
        assert "of the centred data (prepared: equalised, off-first) with" in capsys.readouterr().out
    assert main(["verify", "digits", file, "--prepare", "equalised"]) == 1
    ready = tmp_path / "ready.npz"
    ready.write_bytes(to_npz(data))
    assert main(["verify", str(ready), file]) == 0, "what is prepared is not prepared again"
    capsys.readouterr()


def test_what_a_certificate_says_of_the_data_is_a_label_and_no_proof(tmp_path, capsys):
    proof = nspca.solve(nspca.Problem.from_data(nspca.load_sample("digits").X, 3)).certificate
    assert proof.of_prepared([]).statement == proof.statement and proof.prepared == ()
    for steps, code, said in ((["equalised"], 1, "refused: "), (["whiten"], 2, "A preparation is one of")):
        file = str(tmp_path / "c.npz")
        proof.of_prepared(steps).save(file)
        assert main(["verify", "digits", file]) == code
        assert capsys.readouterr().err.startswith(("refused: ", "nspca: ", said))
    proof.of_prepared(["log2"]).save(file)
    assert nspca.Certificate.load(file).prepared == ("log2",)
    for wrong in ([1], "log2", None):
        with pytest.raises(CertificateError, match="prepared"):
            replace(proof, prepared=wrong)


def test_a_certificate_about_other_forced_features_is_refused(tmp_path, capsys):
    file = str(tmp_path / "c.npz")
    assert main(["solve", "pitprops", "--k", "4", "--forced", "knots,2", "--certificate", file]) == 0
    capsys.readouterr()
    assert main(["verify", "pitprops", file, "--forced", "9" * 5000]) == 2
    assert "Features are given by name or by a number from 0 to 12" in capsys.readouterr().err
    for asked, code in ((None, 0), ("2,knots", 0), ("knots", 1), ("", 1)):
        more = [] if asked is None else ["--forced", asked]
        assert main(["verify", "pitprops", file, "--k", "4", *more]) == code
        said = capsys.readouterr()
        words = 'that may use "moist" and "knots" and at most 2 more' if code == 0 else "forced is (2, 11)"
        assert words in (said.out if code == 0 else said.err)


def test_which_features_are_in_every_good_answer(tmp_path, capsys):
    file = str(tmp_path / "c.npz")
    assert main(["solve", "pitprops", "--k", "5", "--within", "95", "--certificate", file]) == 0
    said = capsys.readouterr().out
    assert "length   in every" in said and "ringbut  exchangeable" in said and "in none (7 features)" in said
    assert main(["verify", "pitprops", file]) == 0
    assert "for every feature" in capsys.readouterr().out

    with pytest.raises(SystemExit):
        main(["solve", "pitprops", "--k", "5", "--within", "101"])
    assert "at most 100" in capsys.readouterr().err


@pytest.mark.visit
def test_a_bound_that_was_worked_for_is_kept_beside_what_is_known_of_features(tmp_path, capsys):
    file, ask = tmp_path / "c.npz", ["solve", "digits", "--k", "16", "--signed", "--within", "99"]
    assert main([*ask, "--certificate", str(file), "--effort", "standard"]) == 0
    said = capsys.readouterr().out
    assert "of all answers that explain at least 99 % of the optimum" in said
    proof, features = (nspca.Certificate.load(tmp_path / name) for name in ("c.npz", "c-features.npz"))
    assert f"certificate: {file}\nwhat is proved of each feature: {tmp_path}" in said
    assert proof.upper < features.upper and features.of_features and not proof.of_features
    assert f"explains more than {proof.rounded(6).upper!r}" in said
    for name in ("c.npz", "c-features.npz"):
        assert main(["verify", "digits", str(tmp_path / name)]) == 0
    assert capsys.readouterr().out.count("for every feature") == 1
    assert (
        main([*ask, "--certificate", str(tmp_path / "one.npz")]) == 0
    )  # at the least effort one proves both
    assert nspca.Certificate.load(tmp_path / "one.npz").of_features
    assert not (tmp_path / "one-features.npz").exists()


def test_what_was_proved_is_said_with_its_recipe(tmp_path, capsys):
    file = str(tmp_path / "proof.npz")
    assert main(["solve", "pitprops", "--k", "4", "--signed", "--certificate", file]) == 0
    assert (
        "no component of the covariance with at most 4 nonzero weights explains more than "
        in capsys.readouterr().out
    )
    assert main(["verify", "pitprops", file]) == 0
    assert capsys.readouterr().out.startswith(
        "pitprops: proved: no component of the covariance with at most 4 nonzero weights explains more than "
    )
    assert main(["solve", "digits", "--k", "4", "--no-center", "--certificate", file, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert (printed["center"], printed["scale"], printed["of"]) == (False, False, "data")
    assert printed["proved"].startswith(
        "no nonnegative component of the data as they are, not centred with at most 4 "
    )
    for agreed in ([], ["--k", "4"], ["--nonneg", "--no-center", "--no-scale"]):
        assert main(["verify", "digits", file, *agreed]) == 0
    capsys.readouterr()
    for other in (["--k", "5"], ["--signed"], ["--center"], ["--scale"]):
        assert main(["verify", "digits", file, *other]) == 1
        assert "refused: the certificate is about another problem: " in capsys.readouterr().err


def test_a_certificate_of_several_components_is_asked_about_as_such(tmp_path, capsys):
    file = str(tmp_path / "joint.npz")
    assert main(["solve", "pitprops", "--k", "3", "--components", "2", "--certificate", file]) == 0
    for asked, code in (("--k 3 --components 2", 0), ("--k 3,3", 0), ("--k 3", 1), ("--k 3,2", 1)):
        assert main(["verify", "pitprops", file, *asked.split()]) == code, asked
    capsys.readouterr()
    for asked in ("--components 2", "--k 3,3 --components 2"):
        assert main(["verify", "pitprops", file, *asked.split()]) == 2
        assert "--components needs one --k" in capsys.readouterr().err


def test_a_relative_has_its_own_name_in_every_table_and_proof(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("NSPCA_DATA", raising=False)
    proof, table = str(tmp_path / "c.npz"), str(tmp_path / "t.csv")
    of = {"name": "coffee", "source": "relative"}
    assert main(["solve", "lrs", "--k", "2", "--certificate", proof, "--csv", table]) == 0
    assert set(pd.read_csv(table)["data"]) == {of["name"]}
    for asked in (["verify", "lrs", proof], ["sweep", "lrs", "--k", "2"]):
        capsys.readouterr()
        assert main(asked) == 0
        assert capsys.readouterr().out.startswith("coffee: ")
        assert main([*asked, "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        assert of.items() <= (said[0] if asked[0] == "sweep" else said).items()
    assert main(["sweep", "lrs", "--k", "2", "--csv", table]) == 0
    assert set(pd.read_csv(table)["data"]) == {of["name"]}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["solve", "no-such-thing", "--k", "3"], "no-such-thing"),
        (["solve", "pitprops", "--k", "99"], "99"),
        (["solve", "pitprops", "--k", "0"], "0"),
        (["solve", "pitprops", "--k", "3", "--method", "magic"], "magic"),
        (["sweep", "pitprops", "--k", "3", "--csv", "no/such/folder/x.csv"], "no/such/folder"),
        (["verify", "pitprops", "no-such-file.npz"], "no-such-file.npz"),
    ],
)
def test_a_request_that_cannot_be_met_is_one_sentence(arguments, words, capsys):
    assert main(arguments) in (1, 2)
    captured = capsys.readouterr()
    assert words in captured.err and captured.err.count("\n") == 1
    assert captured.out == ""


@pytest.mark.parametrize(
    ("text", "ks"),
    [
        ("5", [5]),
        ("5,10,20", [5, 10, 20]),
        ("5:8", [5, 6, 7, 8]),
        ("5:19:5", [5, 10, 15]),
        ("9:1:-4", [9, 5, 1]),
    ],
)
def test_sizes(text, ks):
    assert sizes(text) == ks


@pytest.mark.parametrize(
    "text",
    ["", "x", "5:", "1:13:-1", "0:3", "9:5", "5:9:0", "1:2:3:4", "1,,2", "1:10001", f"1:{10**30}"],
)
def test_sizes_that_are_none(text, capsys):
    with pytest.raises(SystemExit):
        main(["sweep", "pitprops", f"--k={text}"])
    assert "sizes like 5:50:5" in capsys.readouterr().err
