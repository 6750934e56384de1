"""A column of weights: read, said, taken from features, kept in files, specs and runs."""

import json

import numpy as np
import pytest

import nspca
from nspca.__main__ import main
from nspca.errors import InvalidData, InvalidProblem
from nspca.specs import CheckSpec, ComponentsSpec, DataSpec, StabilitySpec
from nspca.specs.job import run

RNG = np.random.default_rng(0)
X = np.round(RNG.random((12, 5)), 3)
W = np.array([1, 2, 0, 3, 1, 1, 4, 0, 2, 1, 1, 2.5])


def table(weights=W) -> bytes:
    rows = [f"s{i},{w}," + ",".join(map(str, row)) for i, (w, row) in enumerate(zip(weights, X, strict=True))]
    return "\n".join(["name,freq,a,b,c,d,e", *rows]).encode()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(table())
    return path


def expected() -> nspca.Problem:
    return nspca.Problem.from_data(X, 2, sample_weight=W)


def test_the_column_is_no_feature_and_rows_of_weight_zero_are_left_out(file):
    data = nspca.read(file, weight_column="freq")
    assert list(data.feature_names) == list("abcde") and data.X.shape == (10, 5)
    assert data.weights.tolist() == W[W > 0].tolist() and data.sample_names[2] == "s3"
    assert any('"freq" holds the weights' in one and "2 samples were left out" in one for one in data.notes)
    result = nspca.solve(nspca.Problem.from_data(data, 2))
    assert result.value == nspca.solve(expected()).value
    assert nspca.verify(data, result.certificate) == nspca.verify(X, result.certificate, sample_weight=W)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (W - 1, "holds -1 for s2: name another column, or leave the weights out"),
        (0 * W, "holds nothing but 0"),
        (np.where(W == 4, np.nan, W), '"freq" holds none'),
    ],
)
def test_a_column_that_holds_no_weights_is_refused(weights, said):
    with pytest.raises(InvalidData, match=said):
        nspca.read(table(weights), weight_column="freq")


def test_a_column_that_is_not_there_is_refused(file):
    with pytest.raises(
        InvalidData, match='no column "mass" to take as the weight column: the columns are "freq"'
    ):
        nspca.read(file, weight_column="mass")


def test_weights_stay_with_their_samples(file):
    data = nspca.read(file, weight_column="freq")
    assert data.rows([3, 0]).weights.tolist() == [1, 1] and data.without(["a"]).weights is data.weights
    assert nspca.prepare(data, "log2").weights is data.weights and data.transposed().weights is None


def test_an_npz_keeps_the_weights(file, tmp_path):
    from nspca.data.arrays import to_npz

    data = nspca.read(file, weight_column="freq")
    for again in (nspca.read(to_npz(data)), nspca.read(to_npz(data), weight_column="freq")):
        assert again.weights.tolist() == data.weights.tolist()
        assert "The samples have the weights that are in the file." in again.notes
    np.savez(tmp_path / "x.npz", X=X, sample_weight=np.arange(3))
    wrong = nspca.read(tmp_path / "x.npz")
    assert wrong.weights is None and any('left out: "sample_weight"' in one for one in wrong.notes)


def test_a_spec_asks_about_weighted_samples(file):
    """JSON, exported Python, and runs in a worker have the weights."""
    data = DataSpec(path=str(file), weight_column="freq")
    spec = ComponentsSpec(data=data, sizes=(2, 2))
    again = nspca.Spec.from_json(spec.to_json())
    assert (
        again == spec
        and "weight_column='freq'" in spec.to_python()
        and "X, names = data," in spec.to_python()
    )
    opened = data.open()
    sent = {"X": opened.X, "sample_weight": opened.weights}
    packed = run(spec=spec.to_plain(), **sent)
    result = max(spec.unpack(packed).results.values(), key=lambda one: one.certificate is not None)
    assert result.certificate.weights == nspca.solve(expected(), certify="fast").certificate.weights
    check = CheckSpec(data=data, k=(2, 2))
    said = json.loads(run(spec=check.to_plain(), **sent, certificate=result.certificate.to_bytes()))
    assert said["refusal"] == "" and said["upper"] >= sum(result.values) * (1 - 1e-12)
    said = json.loads(run(spec=check.to_plain(), X=opened.X, certificate=result.certificate.to_bytes()))
    assert "with weights" in said["refusal"]


def test_the_content_of_weighted_data_is_its_own(file):
    from nspca.specs.data import content_of

    data = nspca.read(file, weight_column="freq")
    plain = nspca.read(file, drop_columns="freq", drop_rows=("s2", "s7"))
    assert np.array_equal(data.X, plain.X) and content_of(data) != content_of(plain)


def test_exported_python_gives_the_same_answer(file):
    code = ComponentsSpec(data=DataSpec(path=str(file), weight_column="freq"), sizes=(2,)).to_python()
    made: dict = {}
    exec(code, made)
    assert made["problem"].covariance.weights == expected().covariance.weights


def test_questions_that_draw_samples_refuse_weights(file):
    with pytest.raises(InvalidData, match="read the table without its column of weights"):
        StabilitySpec(data=DataSpec(path=str(file), weight_column="freq"), k=2).run()


def test_a_covariance_has_no_column_of_weights():
    A = np.cov(RNG.random((9, 3)).T)
    text = "a,b,c\n" + "\n".join(",".join(map(repr, map(float, row))) for row in A)
    with pytest.raises(InvalidData, match="covariance"):
        DataSpec(path="x", covariance=True, weight_column="a").changed(
            nspca.read(text.replace("-", "").encode(), weight_column="a")
        )


def test_the_commands_solve_and_verify_weighted_samples(file, tmp_path, capsys):
    proof = str(tmp_path / "c.npz")
    assert main(["solve", str(file), "--k", "2", "--weights", "freq", "--certificate", proof]) == 0
    assert "weights of the samples" in capsys.readouterr().err
    assert main(["verify", str(file), proof, "--weights", "freq"]) == 0
    assert "weighted data" in capsys.readouterr().out
    assert main(["verify", str(file), proof, "--drop-columns", "freq", "--drop-rows", "s2,s7"]) == 1
    assert "with weights: give them" in capsys.readouterr().err
    assert main(["read", str(file), "--weights", "freq", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["samples"] == 10 and said["options"]["weight_column"] == "freq"
    assert main(["solve", "pitprops", "--k", "2", "--weights", "freq"]) == 2


def test_weights_are_those_of_the_data_set_unless_others_are_given(file):
    data = nspca.read(file, weight_column="freq")
    other = np.arange(1.0, 11)
    given = nspca.Problem.from_data(data, 2, sample_weight=other)
    assert (
        given.covariance.weights == nspca.Problem.from_data(data.X, 2, sample_weight=other).covariance.weights
    )
    with pytest.raises(InvalidProblem, match="one number for each"):
        nspca.Problem.from_data(data, 2, sample_weight=W)
