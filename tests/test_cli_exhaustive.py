"""The command `solve` with ``--effort exhaustive``: its limits, going on from a file, and bad input."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import nspca
from nspca.__main__ import main
from tests.bounds.test_fixing import branching, lean  # noqa: F401  # fixtures


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of noise, whose supports are nearly equally good, and certificates to go on from."""
    folder = tmp_path_factory.mktemp("exhaustive")
    X = np.random.default_rng(3).standard_normal((200, 12))
    pd.DataFrame(X, columns=[f"f{j}" for j in range(12)]).to_csv(folder / "noise.csv", index=False)
    problem = nspca.Problem.from_data(pd.read_csv(folder / "noise.csv").to_numpy(), 3)
    nspca.certify(problem.with_k(2)).save(folder / "k2.npz")
    nspca.certify(nspca.Problem.from_data(X + 1, 3)).save(folder / "other.npz")
    nspca.certify(problem.with_k((3, 3)), effort="fast").save(folder / "pair.npz")
    whole = nspca.certify(problem, effort="exhaustive")
    torn = {name: array[:-1] if name == "use" else array for name, array in whole.tree.items()}
    replace(whole, witness=torn, upper=2 * whole.upper).save(folder / "torn.npz")
    return folder


@pytest.fixture
def table(folder):
    return str(folder / "noise.csv")


def solved(table, capsys, *more):
    """Return what the command prints as JSON."""
    asked = ["solve", table, "--k", "5", "--signed", "--effort", "exhaustive", "--json", *more]
    assert main(asked) == 0
    return json.loads(capsys.readouterr().out)


def test_exhaustive_effort_ends_with_the_optimum(table, tmp_path, capsys):
    proof = str(tmp_path / "proof.npz")
    found = solved(table, capsys, "--certificate", proof)
    assert found["status"] == "OPTIMAL"
    assert main(["verify", table, proof]) == 0


@pytest.mark.parametrize("searches", [1, pytest.param(2, marks=pytest.mark.visit)])
def test_a_search_that_was_ended_goes_on_from_its_file(searches, branching, table, tmp_path, capsys):  # noqa: F811
    """Each search begins where the one before ended, and without a limit it ends at the optimum.

    A tree of so few nodes proves less than was known before it began.
    """
    file = str(tmp_path / "proof.npz")
    first = solved(table, capsys, "--nodes", "2", "--certificate", file)
    assert first["status"] != "OPTIMAL"
    sizes, uppers = [len(nspca.Certificate.load(file).tree["branch"])], [first["upper"]]
    for _ in range(searches):
        found = solved(table, capsys, "--nodes", "1", "--resume", file, "--certificate", file)
        sizes.append(len(nspca.Certificate.load(file).tree["branch"]))
        uppers.append(found["upper"])
        assert main(["verify", table, file]) == 0
        capsys.readouterr()
    assert sizes == sorted(set(sizes)) and uppers == sorted(uppers, reverse=True)
    if searches > 1:
        last = solved(table, capsys, "--resume", file)
        assert last["status"] == "OPTIMAL" and last["upper"] <= uppers[-1]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--seconds", "-1"], "seconds must be a number of at least 0, or None, got -1.0"),
        (["--seconds", "nan"], "seconds must be a number of at least 0, or None, got nan"),
        (["--nodes", "0"], "nodes must be a whole number, 1 to 1000000000000, got 0"),
        (["--effort", "fast", "--seconds", "3"], "seconds is for effort 'exhaustive', got effort 'fast'"),
        (["--effort", "fast", "--nodes", "3"], "nodes is for effort 'exhaustive', got effort 'fast'"),
        (["--effort", "fast", "--resume", "{0}/k2.npz"], "--resume is for --effort exhaustive, got fast"),
        (["--resume", "{0}/k2.npz"], "about the same problem, got one whose k is 2 instead of 3"),
        (["--resume", "{0}/other.npz"], "about the same problem, got one whose digest is"),
        (["--resume", "{0}/none.npz"], "none.npz"),
        (["--resume", "{0}/noise.csv"], "a certificate file must be an unchanged .npz"),
        (["--resume", "{0}/torn.npz"], "a fixing certificate must have arrays that fit together"),
        (["--components", "3", "--resume", "{0}/pair.npz"], "got one whose k is (3, 3) instead of (3, 3, 3)"),
    ],
)
def test_bad_input_is_one_sentence(more, said, table, folder, capsys):
    asked = ["solve", table, "--k", "3", "--effort", "exhaustive", *more]
    assert main([part.format(folder) for part in asked]) == 2
    printed = capsys.readouterr()
    assert said in printed.err and printed.err.count("\n") == 1 and printed.out == ""


def test_exhaustive_effort_is_for_disjoint_components_together(table, tmp_path, capsys):
    file = str(tmp_path / "parts.npz")
    asked = ["solve", table, "--k", "2", "--components", "2", "--effort", "exhaustive", "--nodes", "20"]
    assert main([*asked, "--json", "--certificate", file]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["upper"] >= found["value"] and main(["verify", table, file]) == 0
    assert nspca.Certificate.load(file).k == (2, 2)
