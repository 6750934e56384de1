"""How a worker runs a spec: its JSON and the data in, bytes out."""

from typing import Any

import nspca.specs as specs
from nspca.errors import Cancelled
from nspca.progress import Report, silent

RUN = "nspca.specs.job:run"
"""The function that a worker calls for every kind of question."""


def run(*, spec: dict[str, Any], report: Report = silent, **given: Any) -> bytes:
    """Return the packed result of a spec.

    Parameters
    ----------
    spec : dict
        What `Spec.to_plain` gave.
    **given
        Data that the page has opened already, by the names of the arguments of the spec's `run`.

    `Cancelled` carries the packed result of what was ready, or None.
    """
    question = specs.Spec.from_plain(spec)
    try:
        return question.pack(question.run(report, **given))
    except Cancelled as stop:
        stop.result = None if stop.result is None else question.pack(stop.result)
        raise
