"""Functions that a worker process calls for the dashboard; each returns bytes for the store.

`run` runs a spec from its JSON and the opened data. The others measure what a page would have to wait for.
"""

import json
from typing import Any

import nspca.specs as specs
from nspca.data import Dataset
from nspca.data.names import numbered
from nspca.errors import Cancelled
from nspca.problem import Problem
from nspca.progress import Report, silent, telling

RUN = "nspca.specs.job:run"
"""Name of the function that a worker calls for every kind of question."""
MEASURE = "nspca.specs.job:measure_folder"


def run(*, spec: dict[str, Any], report: Report = silent, begun: bytes | None = None, **given: Any) -> bytes:
    """Return the packed result of a spec, of which `Spec.to_plain` made the dict.

    `begun` is the packed partial result of a cancelled run, for a spec that goes on from it. Open data of a
    page are `given` as keyword arguments of the spec's `run`; weights of the samples of X, as
    `sample_weight`, become a part of X. `Cancelled` has the packed partial result as its `result`, or None.
    """
    question = specs.Spec.from_plain(spec)
    weights = given.pop("sample_weight", None)
    if weights is not None:
        m, n = given["X"].shape
        names = numbered("feature", n), numbered("sample", m)
        given["X"] = Dataset("", given["X"], *names, weights=weights)
    if begun is not None:
        given["begun"] = question.unpack(begun)
    try:
        with telling(report):  # the first pass over a long table comes before any search
            return question.pack(question.run(report, **given))
    except Cancelled as stop:
        stop.result = None if stop.result is None else question.pack(stop.result)
        raise


def measure_folder(
    *, data: dict[str, Any], center: bool, scale: bool, leading: bool, report: Report = silent
) -> bytes:
    """Return the ``total`` variance of all rows of a folder, and the ``leading`` eigenvalue or None.

    `data` are the fields of a `DataSpec`.
    """
    shards = specs.DataSpec(**data).shards()
    problem = Problem.from_shards(shards, 1, center=center, scale=scale, report=report)
    found = problem.leading_eigenvalue if leading else None
    return json.dumps({"total": problem.total_variance, "leading": found}).encode()
