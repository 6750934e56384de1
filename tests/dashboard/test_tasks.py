"""The kinds of questions: a worker has one function for all, and a stored run is found by its kind."""

import json

import numpy as np
import pytest

import nspca
from nspca.covariance import tables
from nspca.dashboard.app import wording
from nspca.dashboard.runs.tasks import TASKS, engine
from nspca.errors import Cancelled, InvalidOption
from nspca.jobs import engine as the_engine
from nspca.specs import (
    ChoiceSpec,
    ComparisonSpec,
    ComponentsSpec,
    NoiseSpec,
    Spec,
    StabilitySpec,
    SweepSpec,
    job,
)
from tests.cancelling import cancelled

X = np.random.default_rng(0).standard_normal((20, 5))


def test_the_engine_knows_every_kind():
    assert set(TASKS) >= {"sweep", "components", "comparison", "paper"} and set(TASKS) <= set(Spec.KINDS)
    assert engine() is the_engine() and engine().tasks.items() >= TASKS.items()
    assert set(TASKS.values()) == {job.RUN}


def test_a_worker_runs_the_json_of_a_question():
    spec = SweepSpec(ks=(2, 3))
    plain = json.loads(json.dumps(spec.to_plain()))
    found = nspca.Sweep.from_bytes(job.run(spec=plain, X=X))
    assert np.array_equal(found["auto", 3].components, spec.run(X=X)["auto", 3].components)
    with pytest.raises(InvalidOption, match="kind of a spec"):
        job.run(spec={"kind": "none"}, X=X)


def test_the_first_pass_over_a_long_table_tells_its_progress(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "LEAST_SIZE", 1)
    np.save(tmp_path / "X.npy", X)
    seen, table = [], np.load(tmp_path / "X.npy", mmap_mode="r")
    job.run(spec=SweepSpec(ks=(2,)).to_plain(), X=table, report=seen.append)
    before = [event for event in seen if event.stage == "covariance"]
    assert seen[0] is before[0] and before[0].total == 20 and len(before) > 3
    assert wording.stage(before[1]) == f"reading the table, {5 * before[1].done} %"


def test_a_cancelled_run_hands_in_the_bytes_of_what_was_ready():
    def stop(event):
        if event.stage == "sweep" and event.done == 2:
            raise Cancelled("stopped")

    with pytest.raises(Cancelled) as stopped:
        job.run(spec=SweepSpec(ks=(1, 2, 3)).to_plain(), X=X, report=stop)
    assert len(nspca.Sweep.from_bytes(stopped.value.result)) == 2

    def say(event):
        seen.append((event.done, event.total, event.k)) if event.stage == "sweep" else None

    seen = []
    begun, spec = stopped.value.result, SweepSpec(ks=(1, 2, 3)).to_plain()
    found = nspca.Sweep.from_bytes(job.run(spec=spec, X=X, report=say, begun=begun))
    assert seen == [(1, 3, 1), (2, 3, 2), (3, 3, 3)], "rows that were ready are there again"
    before = nspca.Sweep.from_bytes(begun)
    assert all(found[key].seconds == before[key].seconds for key in before), "nothing was computed twice"
    whole = nspca.Sweep.from_bytes(job.run(spec=spec, X=X))
    assert [*found] == [*whole] and np.allclose(found.frame["value"], whole.frame["value"])
    assert {name: set(found["auto", k].info) for name, k in found} == {
        name: set(whole["auto", k].info) for name, k in whole
    }


@pytest.mark.parametrize(
    ("spec", "more"),
    [
        (SweepSpec(ks=(2,)), {}),
        (ComparisonSpec(ks=(2,)), {}),
        (ComponentsSpec(sizes=(2, 2), methods=("em",), effort=None), {}),
        (StabilitySpec(k=2, resamples=3), {}),
        (StabilitySpec(k=(2, 2), methods=("joint",), resamples=3), {"components": np.eye(5)[:, :2]}),
        (ChoiceSpec(ks=(2, 3), method="tpower", forced=(0,), folds=2, draws=2), {}),
        (NoiseSpec(k=2, tables=3), {}),
    ],
    ids=lambda given: getattr(given, "kind", ""),
)
def test_a_run_stops_at_its_next_report(spec, more):
    stopped, seen = cancelled(job.run, spec=spec.to_plain(), X=X, **more)
    assert stopped.result is None and len(seen) == 1
