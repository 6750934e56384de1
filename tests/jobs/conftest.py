import functools

import pytest

from nspca.jobs import Engine, Limits, Store
from tests import patience


@pytest.fixture(scope="session")
def wait_for():
    """Wait for a condition; the engine answers within milliseconds."""
    return functools.partial(patience.wait_for, pause=0.005)


@pytest.fixture(scope="session")
def ended(wait_for):
    def wait(engine, job_id):
        wait_for(lambda: engine.status(job_id).ended, state=lambda: engine.status(job_id))
        return engine.status(job_id)

    return wait


@pytest.fixture(scope="session")
def begun(wait_for):
    """Return the process id of the worker that runs a job of `hold` or `stubborn`."""

    def wait(engine, job_id):
        return wait_for(lambda: engine.status(job_id).rows, state=lambda: engine.status(job_id))[0]["pid"]

    return wait


@pytest.fixture(scope="session")
def engine(tmp_path_factory, ended):
    """Yield an engine with two workers and hardly any limits."""
    engine = Engine(Store(tmp_path_factory.mktemp("engine")), Limits(per_person=50), workers=2)
    engine.early = engine.submit("tests.jobs.background_tasks:add", {"a": 1, "b": 2}, workspace="early")
    engine.early_state = engine.status(engine.early)
    ended(engine, engine.early)  # the start of workers has a wait of its own
    yield engine
    engine.shutdown()


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    """Yield an engine with one worker, little memory and tight limits."""
    engine = Engine(
        Store(tmp_path_factory.mktemp("narrow")), Limits(per_person=3, total=4), workers=1, memory=700_000_000
    )
    engine.start()
    assert engine.wait_ready(patience.STUCK)
    yield engine
    engine.shutdown()
