"""`--spec FILE` of `solve` and `sweep` saves a question that `run FILE` answers with the same numbers."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import nspca
from nspca.__main__ import main
from nspca.shards.sources import shard
from nspca.specs import ComponentsSpec, Spec, SweepSpec


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Current folder: a table that misses a cell, a covariance in single precision, texts and shards."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((40, 7)) @ rng.standard_normal((7, 7))
    frame = pd.DataFrame(rows, columns=list("abcdefg"), index=[f"row {i}" for i in range(40)])
    np.save("plain.npy", rows)
    shard("plain.npy", "shards", rows=10)
    short = np.cov(rows[:5].T).astype(np.float32)
    pd.DataFrame(short, list("abcdefg"), list("abcdefg")).to_csv("cov.csv")
    frame.insert(0, "group", ["x", "y"] * 20)
    frame.iloc[3, 4] = None
    frame.to_csv("a.csv")
    words = ("the river and the bridge over water {}", "bread with wine and cheese and water {}")
    (tmp_path / "texts.txt").write_text("\n".join(words[i % 2].format("stone" * (i % 3)) for i in range(30)))
    return tmp_path


def answered(capsys, *command: str) -> list[dict]:
    """Rows of value and bound that a command printed as JSON."""
    assert main([*command, "--json", "--spec", "q.json"]) == 0
    told = json.loads(capsys.readouterr().out)
    return told if isinstance(told, list) else [told]


def again(spec: type[Spec]) -> dict[tuple[str, int], nspca.Result]:
    """Results of `run` for the saved question, by method and size."""
    assert isinstance(Spec.from_json(Path("q.json").read_bytes()), spec)
    assert main(["run", "q.json", "--output", "out.zip"]) == 0
    found = nspca.Sweep.from_bytes(Path("out.zip").read_bytes())
    return {key: found[key] for key in found}


@pytest.mark.parametrize(
    "command",
    [
        ["pitprops", "--k", "3", "--forced", "topdiam,4", "--effort", "standard"],
        ["a.csv", "--k", "2", "--id", "0", "--labels", "group", "--missing", "samples", "--scale"],
        ["cov.csv", "--k", "3", "--id", "0", "--covariance", "--repair", "shift"],
        ["shards", "--k", "3", "--method", "em", "--seed", "5"],
        ["texts.txt", "--k", "3", "--text", "--split", "lines", "--tfidf", "--highest-share", "90"],
        ["digits", "--k", "5", "--prepare", "log2"],
    ],
)
def test_one_component_is_answered_the_same(command, capsys):
    (told,) = answered(capsys, "solve", *command)
    (result,) = again(SweepSpec).values()
    assert (result.value, result.certificate.upper) == (told["value"], told["upper"])
    assert {feature["weight"] for feature in told["features"]} == set(
        result.components[result.components != 0].tolist()
    )


@pytest.mark.parametrize("more", [["--signed"], ["--method", "bipartite", "--effort", "standard"]])
def test_components_are_answered_the_same(more, capsys):
    (told,) = answered(capsys, "solve", "pitprops", "--k", "3", "--components", "2", *more)
    (result,) = again(ComponentsSpec).values()
    assert (result.value, result.certificate.upper) == (told["value"], told["upper"])


def test_a_sweep_is_answered_the_same_whatever_the_order_of_its_sizes(capsys):
    told = answered(
        capsys, "sweep", "pitprops", "--k", "6,2,4,2", "--method", "greedy", "--method", "em", "--seed", "3"
    )
    found = again(SweepSpec)
    assert [(row["method"], row["k"], row["value"], row["upper"]) for row in told] == [
        (method, k, result.value, result.certificate.upper) for (method, k), result in found.items()
    ]


def test_the_saved_file_is_named_after_the_answer(capsys):
    assert main(["sweep", "pitprops", "--k", "2", "--spec", "q.json"]) == 0
    assert capsys.readouterr().out.endswith("question: q.json\n")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--within", "90"], "does not hold --within"),
        (["--effort", "exhaustive", "--nodes", "5"], "does not hold --nodes"),
        (["--effort", "exhaustive", "--seconds", "5"], "does not hold --seconds"),
        (["--csv", "q.json"], "a file of its own"),
    ],
)
def test_a_question_that_a_spec_cannot_hold_is_one_sentence(more, said, folder, capsys):
    assert main(["solve", "pitprops", "--k", "2", "--spec", "q.json", *more]) == 2
    printed = capsys.readouterr()
    assert said in printed.err and printed.err.count("\n") == 1 and printed.out == ""
    assert not (folder / "q.json").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--seed", "-1"], "--seed: must be a whole number, 0 or more, got -1"),
        (["--most-words", "1"], "--most-words: must be at least 2, got 1"),
        (["--image-size", "big"], "--image-size: must be a whole number of pixels from 4 to 256, got 'big'"),
        (["--highest-share", "140"], "--highest-share: must be per cent from 0 to 100, got '140'"),
        (["--prepare", "whiten"], "--prepare: a preparation must be one of lee-seung"),
        (["--split", "pages"], "--split: invalid choice: 'pages'"),
    ],
)
def test_a_value_that_an_option_does_not_take_is_refused_under_its_name(more, said, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["solve", "pitprops", "--k", "2", *more])
    printed = capsys.readouterr()
    assert said in printed.err and printed.err.count("\n") == 1 and printed.out == ""
