"""The kinds of questions: a worker has one function for all, and a stored run is found by its kind."""

import json

import numpy as np
import pytest

import nspca
from nspca.dashboard.runs.tasks import TASKS, engine, spec_of
from nspca.errors import Cancelled, InvalidOption
from nspca.jobs import engine as the_engine
from nspca.specs import NoiseSpec, Spec, SweepSpec, job

PAGE = "pages/sweep.py"
X = np.random.default_rng(0).standard_normal((20, 5))


def test_the_engine_knows_every_kind():
    assert set(TASKS) >= {"sweep", "components", "comparison", "paper", "speed"} and set(TASKS) <= set(
        Spec.KINDS
    )
    assert engine() is the_engine() and engine().tasks.items() >= TASKS.items()
    assert set(TASKS.values()) == {job.RUN}


def test_a_worker_runs_the_json_of_a_question():
    spec = SweepSpec(ks=(2, 3))
    plain = json.loads(json.dumps(spec.to_plain()))
    found = nspca.Sweep.from_bytes(job.run(spec=plain, X=X))
    assert np.array_equal(found["auto", 3].components, spec.run(X=X)["auto", 3].components)
    with pytest.raises(InvalidOption, match="kind of a spec"):
        job.run(spec={"kind": "none"}, X=X)


def test_a_cancelled_run_hands_in_the_bytes_of_what_was_ready():
    def stop(event):
        if event.stage == "sweep" and event.done == 2:
            raise Cancelled("stopped")

    with pytest.raises(Cancelled) as stopped:
        job.run(spec=SweepSpec(ks=(1, 2, 3)).to_plain(), X=X, report=stop)
    assert len(nspca.Sweep.from_bytes(stopped.value.result)) == 2

    def stop_at_once(event):
        raise Cancelled("stopped")

    with pytest.raises(Cancelled) as stopped:
        job.run(spec=NoiseSpec(k=2, tables=3).to_plain(), X=X, report=stop_at_once)
    assert stopped.value.result is None


@pytest.mark.visit
def test_a_run_is_found_by_its_kind(visit, finish, address, texts):
    page = visit(PAGE, sample="pitprops", from_=3, to=3, step=1)
    page.button(key="run").click().run()
    page = finish(page)
    run = engine().store.find_run(address(page)["run"])
    assert run.function == "sweep" and spec_of(run).ks == (3,)
    again = visit(PAGE, **address(page))
    assert not again.error and texts(again) == texts(page)


def test_equal_questions_about_equal_numbers_share_a_result(visit, finish, address):
    keys = []
    for _ in range(2):
        page = visit(PAGE, sample="pitprops", from_=2, to=4, step=1)
        page.button(key="run").click().run()
        keys.append(engine().store.find_run(address(finish(page))["run"]).key)
    assert keys[0] == keys[1]
