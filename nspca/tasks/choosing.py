"""What other rows would say of a sweep, and what noise would give: estimates, for a page. No Streamlit."""

import json
from dataclasses import replace

import nspca
from nspca.progress import Event, Report, silent
from nspca.tasks.rows import Shuffled, Weighed, pack


def run_choice(*, X, request: dict, report: Report = silent) -> bytes:
    """`nspca.choose_k` as JSON, the attributes of a `Weighed`; the same, as far as it is known, as rows.

    Parameters
    ----------
    X : (m, n) array or sparse matrix
    request : dict
        ``ks, methods`` (one), ``folds, draws, nonneg, center, scale, forced, seed``
    """
    told: list[Weighed] = []

    def say(event: Event) -> None:
        if "row" in event.payload:
            told.append(Weighed(**event.payload["row"]))
            event = replace(event, payload=pack(told[-1]))
        report(event)

    nspca.choose_k(
        X, request["ks"], **_how(request), folds=request["folds"], draws=request["draws"], report=say
    )
    return json.dumps(vars(told[-1])).encode()


def run_noise(*, X, request: dict, report: Report = silent) -> bytes:
    """`nspca.noise_test` as JSON, ``value, noise``; every shuffled table as a row.

    Parameters
    ----------
    X : (m, n) array or sparse matrix
    request : dict
        ``k, methods`` (one), ``tables, nonneg, center, scale, forced, seed``
    """

    def say(event: Event) -> None:
        row = event.payload.get("row")
        report(event if row is None else replace(event, payload=pack(Shuffled(**row))))

    test = nspca.noise_test(X, request["k"], **_how(request), tables=request["tables"], report=say)
    return json.dumps({"value": test.value, "noise": test.noise.tolist()}).encode()


def _how(request: dict) -> dict:
    words = {name: request[name] for name in ("nonneg", "center", "scale", "forced", "seed")}
    return words | {"method": request["methods"][0]}
