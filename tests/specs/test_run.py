"""`python -m nspca run`: a spec of a file answered, saved, stopped and refused."""

import hashlib
import json
import os
import re
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest

import nspca
from nspca.cli.entry import main
from nspca.errors import Cancelled, InvalidData, InvalidOption
from nspca.progress import Event, silent
from nspca.shards.sources import shard
from nspca.specs import (
    ComponentsSpec,
    DataSpec,
    NoiseSpec,
    OptimumSpec,
    PaperSpec,
    Spec,
    StabilitySpec,
    SweepSpec,
    proof,
)
from nspca.specs.optimum import Standing

KINDS = {"ks": SweepSpec, "sizes": ComponentsSpec, "seconds": OptimumSpec}


@pytest.fixture
def table(tmp_path, monkeypatch):
    """The folder of a CSV file, which is the current one."""
    rng = np.random.default_rng(0)
    rows = "\n".join(",".join(f"{x:.3f}" for x in row) for row in rng.standard_normal((30, 6)))
    (tmp_path / "a.csv").write_text("a,b,c,d,e,f\n" + rows)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder, spec: Spec) -> str:
    path = folder / "spec.json"
    path.write_text(spec.to_json())
    return str(path)


def test_a_sweep_is_printed_and_saved(table, capsys):
    spec = SweepSpec(data=DataSpec(path="a.csv"), ks=(2, 3))
    assert main(["run", written(table, spec)]) == 0
    said = capsys.readouterr()
    assert (
        said.out.splitlines()[0].split()[:3] == ["method", "k", "value"] and "a, sweep k = 2, 3" in said.err
    )
    assert main(["run", written(table, spec), "--output", "out.zip"]) == 0
    found = nspca.Sweep.from_bytes((table / "out.zip").read_bytes())
    assert [k for _, k in found] == [2, 3]
    again = nspca.sweep(nspca.Problem.from_data(nspca.read("a.csv"), 2), (2, 3))
    assert np.array_equal(found["auto", 3].components, again["auto", 3].components)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        (NoiseSpec(data=DataSpec(path="a.csv"), k=2, tables=3), "p = "),
        (
            OptimumSpec(data=DataSpec(path="a.csv"), k=2, effort="standard", seconds=0),
            "proved optimal up to rounding",
        ),
        (OptimumSpec(data=DataSpec(path="a.csv"), k=2), "proved optimal up to rounding"),
        (OptimumSpec(data=DataSpec(path="a.csv"), k=(2, 2)), "proved optimal up to rounding"),
    ],
)
def test_other_answers_are_printed_too(table, capsys, spec, said):
    assert main(["run", written(table, spec)]) == 0
    assert said in capsys.readouterr().out


def test_an_upload_is_found_beside_the_spec_by_its_content(table, capsys):
    digest = hashlib.sha256((table / "a.csv").read_bytes()).hexdigest()
    spec = SweepSpec(data=DataSpec(upload=digest, file="a.csv", id_column=None), ks=(2,))
    (table / "deep").mkdir()
    (table / "a.csv").rename(table / "deep" / "a.csv")
    assert main(["run", written(table / "deep", spec)]) == 0
    (table / "deep" / "a.csv").write_text("a,b\n1,2\n2,3\n4,4")
    assert main(["run", written(table / "deep", spec)]) == 2
    assert "the uploaded file 'a.csv' must be in this folder or beside the spec" in capsys.readouterr().err


def test_other_numbers_than_the_spec_was_written_about_are_refused(table, capsys):
    spec = SweepSpec(data=DataSpec(path="a.csv", content="0" * 64), ks=(2,))
    assert main(["run", written(table, spec)]) == 2
    assert "have changed" in capsys.readouterr().err


def test_workers_read_a_folder_and_nothing_else(table, capsys):
    shard(table / "a.csv", table / "rows", rows=10)
    spec = SweepSpec(data=DataSpec(folder="rows"), ks=(2,), methods=("auto",))
    assert main(["run", written(table, spec), "--output", "one.zip"]) == 0
    assert main(["run", written(table, spec), "--workers", "1", "--output", "two.zip"]) == 0
    one, two = (nspca.Sweep.from_bytes((table / name).read_bytes()) for name in ("one.zip", "two.zip"))
    assert np.array_equal(one["auto", 2].components, two["auto", 2].components)
    spec = SweepSpec(data=DataSpec(path="a.csv"), ks=(2,))
    assert main(["run", written(table, spec), "--workers", "1"]) == 2
    assert "leave --workers out" in capsys.readouterr().err


@pytest.mark.parametrize(
    "kind", [{"ks": [2, 3]}, {"sizes": [2, 2], "methods": ["joint"]}, {"k": 2, "seconds": 0}]
)
def test_every_block_of_a_folder_is_reported_and_may_be_the_last(table, kind):
    data = DataSpec(path=str(shard("a.csv", "rows", rows=7).folder))
    spec = next(one for name, one in KINDS.items() if name in kind)(data=data, **kind)
    seen: list[Event] = []
    problem = spec.problem(None, seen.append)
    spec.run(seen.append, X=problem)
    read = [event for event in seen if event.stage == "reading"]
    assert {event.total for event in read} == {5} and len(read) == 5 * problem.covariance.passes
    for last in (1, len(read) // 2, len(read)):
        left = [last]

        def report(event: Event, left=left) -> None:
            left[0] -= event.stage == "reading"
            if not left[0]:
                raise Cancelled("enough")

        with pytest.raises(Cancelled):
            spec.run(report)
        assert left == [0]


def test_ctrl_c_keeps_what_is_ready(table, capsys, monkeypatch):
    spec = SweepSpec(data=DataSpec(path="a.csv"), ks=(1, 2, 3, 4, 5, 6))

    class Bar:
        def __call__(self, event):
            if event.stage == "sweep" and event.done == 2:
                os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("nspca.cli.run.progress", Bar)
    before = signal.getsignal(signal.SIGINT)
    assert threading.current_thread() is threading.main_thread()
    assert main(["run", written(table, spec), "--output", "out.zip"]) == 130
    assert signal.getsignal(signal.SIGINT) is before
    assert 1 <= len(nspca.Sweep.from_bytes((table / "out.zip").read_bytes())) < 6
    assert "what was ready" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no JSON", "must be JSON"),
        ("[1]", "must be a JSON object"),
        ("{}", "kind of a spec must be"),
        ('{"kind": ["sweep"]}', "kind of a spec must be"),
        ('{"kind": "sweep", "ks": [1], "data": 3}', "data of a SweepSpec must be"),
        ('{"kind": "comparison", "ks": [1], "options": {"em": 3}}', "options of a ComparisonSpec must be"),
        (
            '{"kind": "sweep"}',
            "a SweepSpec needs 'ks', a list of 1 to 10,000 whole numbers of at least 1, got none",
        ),
        ('{"kind": "sweep", "ks": [1], "schema": 2}', "must be of schema 1, got 2"),
        ('{"kind": "sweep", "ks": [1]}', "name a sample or a path"),
        ('{"kind": "sweep", "ks": [1], "data": {"path": "none.csv"}}', "'none.csv' must be in this folder"),
        ('{"kind": "sweep", "ks": [1], "data": {"sample": "none"}}', "sample must be one of"),
        (
            '{"kind": "sweep", "ks": [0]}',
            "must be a list of 1 to 10,000 whole numbers of at least 1, got 0 in [0]; write [5]",
        ),
        (
            '{"kind": "sweep", "ks": []}',
            "must be a list of 1 to 10,000 whole numbers of at least 1, got []; write [5]",
        ),
        ('{"kind": "sweep", "ks": [2, 1]}', "ks must increase"),
        ('{"kind": "sweep", "ks": [2, 2]}', "ks must increase"),
        ('{"kind": "sweep", "ks": [true]}', "whole numbers of at least 1, got True in [True]"),
        ('{"kind": "sweep", "ks": [1], "effort": "slow"}', "effort of a SweepSpec must be 'fast'"),
        ('{"kind": "sweep", "ks": [1], "methods": ["none"]}', "method must be 'auto' or one of"),
        ('{"kind": "sweep", "ks": [1], "surprise": 1}', "has no 'surprise'; leave it out"),
        (
            '{"kind": "sweep", "ks": [1], "seed": -1}',
            "seed of a SweepSpec must be a whole number, 0 or more, got -1",
        ),
        ('{"kind": "comparison", "ks": [1], "options": {"em": {"none": 1}}}', "em has no option 'none'"),
        ('{"kind": "noise", "k": 3, "data": {"sample": "pitprops"}}', "needs rows in memory"),
    ],
)
def test_what_is_no_spec_is_refused_in_one_sentence(table, capsys, text, said):
    (table / "spec.json").write_text(text)
    assert main(["run", "spec.json"]) == 2
    error = capsys.readouterr().err
    assert said in error and error.rstrip().splitlines()[-1].startswith("nspca: ") and "\n  " not in error


def test_a_file_that_is_none_or_too_long_is_refused(table, capsys):
    assert main(["run", "none.json"]) == 2
    (table / "long.json").write_bytes(b" " * 10_000_001)
    assert main(["run", "long.json"]) == 2
    assert "at most" in capsys.readouterr().err


def test_data_of_one_place_only():
    for bad in ({"sample": "digits", "path": "a"}, {"only": (1,), "without": (2,)}, {"prepared": ("none",)}):
        with pytest.raises(InvalidOption):
            DataSpec(**bad)
    with pytest.raises(InvalidOption, match="a figure or table is one of"):
        PaperSpec(item="none")
    with pytest.raises(InvalidData, match="no folder of shards of this name on the server"):
        DataSpec(folder="rows", digest="abc").shards()


def test_a_square_table_and_the_covariance_of_equal_numbers_are_two_problems():
    table = DataSpec(content="a digest")
    taken = (table, table.but(covariance=True), table.but(covariance=True, repair=True))
    assert len({SweepSpec(data=data, ks=(2,)).same_problem for data in taken}) == 3


def test_an_estimate_says_what_a_question_takes():
    few = SweepSpec(data=DataSpec(sample="digits"), ks=(3,)).estimate()
    many = SweepSpec(data=DataSpec(sample="digits"), ks=tuple(range(1, 30))).estimate()
    assert few.bytes > 0 and 0 < few.seconds < many.seconds
    assert json.loads(SweepSpec(ks=(3,)).to_json()) == {"kind": "sweep", "schema": 1, "ks": [3]}


def test_every_effort_of_the_package_can_be_asked_for():
    spec = SweepSpec(data=DataSpec(sample="pitprops"), ks=(3,), effort="exhaustive")
    assert spec.run()["auto", 3].ratio > 1 - 1e-6 and spec.estimate().bytes > 0
    assert "effort=exhaustive" in "&".join("=".join(pair) for pair in spec.to_query().items())
    for effort in nspca.proving.EFFORTS:
        assert SweepSpec(ks=(3,), effort=effort).effort == effort
    with pytest.raises(InvalidOption, match="effort of a ComponentsSpec must be"):
        ComponentsSpec(sizes=(3, 3), effort="exhaustive")


def test_a_search_for_the_optimum_begins_with_the_method_that_it_names(monkeypatch):
    asked = []
    real = proof.solve
    monkeypatch.setattr(
        proof, "solve", lambda problem, method, **how: asked.append(method) or real(problem, method, **how)
    )
    spec = OptimumSpec(data=DataSpec(sample="pitprops"), k=2, method="em")
    assert spec.run().method == "em" and asked == ["em"]


def test_a_search_for_several_components_begins_with_any_method_and_goes_on():
    spec = OptimumSpec(data=DataSpec(sample="pitprops"), k=(3, 3), method="em")
    problem, X = spec.problem(), np.eye(13)[:, [0, 1]]
    poor = sum(problem.value(x) for x in X.T)
    events = []
    found = spec.run(events.append, component=X)
    said = [one for event in events if (one := Standing.of(event, 13, 2)) is not None]
    assert said[0].open > 0 and said[0].possible.any()
    assert said[-1].open == 0 and not said[-1].possible.any()
    assert found.method == "em" and found.status is nspca.Status.OPTIMAL and found.value > poor
    assert nspca.verify(spec.open(), found.certificate, problem) >= found.value
    again = spec.run(certificate=found.certificate.to_bytes())
    assert again.value == pytest.approx(found.value) and again.status is nspca.Status.OPTIMAL
    assert spec.describe().question == "is it the best? 2 components of 3"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (
            {"k": (3, 0)},
            "k of an OptimumSpec must be a whole number of at least 1, or a list of such sizes, one for each "
            "of several components, got 0 in (3, 0); write 3 for one component of 3 features, and [3, 3] for "
            "two",
        ),
        ({"k": ()}, "one for each of several components, got (); write 3"),
        ({"k": 0}, "one for each of several components, got 0; write 3"),
        ({"k": "many"}, "one for each of several components, got 'many'; write 3"),
        ({}, "an OptimumSpec needs 'k', a whole number of at least 1, or a list of such sizes"),
        ({"k": (3, 3), "seconds": -1}, "seconds of an OptimumSpec must be at least 0, got -1"),
        ({"k": (3, 3), "method": "best"}, "best"),
    ],
)
def test_a_search_for_several_components_that_cannot_be_is_refused(given, says):
    with pytest.raises(InvalidOption, match=re.escape(says)) as refused:
        OptimumSpec(data=DataSpec(sample="pitprops"), **given)
    assert "\n" not in str(refused.value)


def test_a_search_goes_on_from_a_certificate_of_its_own_problem_alone():
    data = DataSpec(sample="pitprops")
    foreign = nspca.certify(OptimumSpec(data=data, k=(2, 2)).problem(), effort="fast").to_bytes()
    with pytest.raises(nspca.NSPCAError) as refused:
        OptimumSpec(data=data, k=(3, 3), method="joint").run(component=np.eye(13)[:, :2], certificate=foreign)
    assert "certificate" in str(refused.value) and "\n" not in str(refused.value)
    with pytest.raises(nspca.InvalidProblem, match="add up to at most n = 13"):
        OptimumSpec(data=data, k=(9, 9), method="joint").run()


def test_features_that_are_kept_are_in_every_draw_of_a_bootstrap():
    asked = {
        "data": DataSpec(sample="digits"),
        "k": 4,
        "nonneg": False,
        "methods": ("tpower",),
        "resamples": 3,
    }
    spec = StabilitySpec(forced=(10, 53), **asked)
    usual = StabilitySpec(**asked).run()["tpower"]
    assert not any({10, 53} <= set(row["supports"][0]) for row in usual)
    assert all({10, 53} <= set(row["supports"][0]) for row in spec.run()["tpower"])
    assert "forced=(10, 53)" in spec.to_python()


@pytest.fixture
def several():
    """Return the question for three parts of the digits with a fast proof, whose gap stays open."""
    X = nspca.load_sample("digits").X
    problem = nspca.Problem.from_data(X, (8, 8, 6))
    return X, problem, nspca.solve(problem, "joint", certify="fast")


def searched(several, report=silent, certificate=None, **how):
    """Return the result of a search for three better parts that begins with a standard proof."""
    X, _, known = several
    spec = OptimumSpec(k=(8, 8, 6), method="joint", effort="standard", **how)
    given = (certificate or known.certificate).to_bytes()
    return spec.run(report, X=X, component=known.components, certificate=given)


def test_a_search_for_several_components_begins_with_a_proof_of_its_effort(several, monkeypatch):
    X, problem, known = several
    efforts, proof = [], nspca.certify(problem, known, effort="standard")

    def certify(*given, effort, report):
        efforts.append(effort)
        return proof

    monkeypatch.setattr("nspca.specs.optimum.certify", certify)
    found = searched(several, seconds=1)
    assert found.certificate.upper <= proof.upper < known.certificate.upper and efforts == ["standard"]
    assert (
        found.certificate.tree is not None and nspca.verify(X, found.certificate) <= found.certificate.upper
    )
    again = searched(several, certificate=found.certificate, seconds=1)
    assert efforts == ["standard"], "a search that goes on does not prove it again"
    assert again.certificate.upper <= found.certificate.upper


def test_the_proof_before_a_search_keeps_to_the_time_and_is_kept_when_cancelled(several, monkeypatch):
    _, _, known = several
    better = replace(known.certificate, upper=0.999 * known.certificate.upper)

    def certify(*given, effort, report):
        try:
            report(Event("packing", upper=better.upper))
        except Cancelled as stop:
            stop.best = better
            raise
        raise AssertionError("it goes on although it was told to stop")

    def cancel(event):
        raise Cancelled("stop")

    monkeypatch.setattr("nspca.specs.optimum.certify", certify)
    with pytest.raises(Cancelled) as stopped:
        searched(several, cancel)
    assert stopped.value.result.certificate.upper == better.upper
    monkeypatch.setattr("nspca.specs.optimum.Watch.seconds", property(lambda self: 9.0))
    given = []
    monkeypatch.setattr("nspca.specs.optimum.prove_optimum", lambda *all, **how: given.append(how) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        searched(several, seconds=1)
    assert given[0]["seconds"] == 0 and given[0]["resume"].upper == better.upper


def test_a_better_answer_of_the_proof_before_a_search_is_kept(monkeypatch):
    """When the run is cancelled in the proof, and when the time ends in it."""
    X = nspca.load_sample("digits").X
    best = nspca.solve(nspca.Problem.from_data(X, 3))

    def certify(*given, effort, report):
        stop = Cancelled("stop")
        stop.best, stop.point = best.certificate, best.components[:, 0]
        raise stop

    monkeypatch.setattr("nspca.specs.optimum.certify", certify)
    spec, poor = OptimumSpec(k=3, effort="fast", seconds=1), np.eye(X.shape[1])[30]
    with pytest.raises(Cancelled) as stopped:
        spec.run(X=X, component=poor)
    kept = stopped.value.result
    assert kept.value == pytest.approx(best.value) and kept.certificate.upper == best.certificate.upper
    monkeypatch.setattr("nspca.specs.optimum.Watch.seconds", property(lambda self: 9.0))
    kept = spec.run(X=X, component=poor)
    assert kept.value == pytest.approx(best.value) and kept.certificate.upper <= best.certificate.upper


def test_python_prints_components_in_the_order_of_the_page_as_plain_numbers(capsys):
    spec = ComponentsSpec(data=DataSpec(sample="pitprops"), sizes=(3, 3, 3), methods=("joint",), effort=None)
    exec(spec.to_python(), {})
    printed = [eval(line) for line in capsys.readouterr().out.splitlines() if line.startswith("[(")]
    result = spec.run()["joint", 3]
    X = result.components[:, np.argsort(-result.values, kind="stable")]
    assert [len(one) for one in printed] == [3, 3, 3]
    assert [one[0][1] for one in printed] == [round(float(abs(x).max()), 4) for x in X.T]


def test_a_sweep_goes_on_at_the_first_k_that_lacks_a_method():
    X = np.random.default_rng(0).standard_normal((20, 5))
    spec = SweepSpec(ks=(1, 2), methods=("auto", "tpower"))
    whole = spec.run(X=X)
    begun = nspca.Sweep({key: one for key, one in whole.results.items() if key != ("tpower", 2)})
    assert {*spec.run(X=X, begun=begun)} == {*whole}
