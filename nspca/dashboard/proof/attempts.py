"""All that is known about a problem besides its run: searches for the optimum, other sweeps, and checks.

Here `of` is the data and `asked` the question of a page, and `tried` has the attempts at its problem.
"""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

import nspca
from nspca.dashboard.app import state
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs import defaults, first_answer, lookup, start
from nspca.dashboard.runs.answer import AUTOMATIC, Answer, Attempt
from nspca.dashboard.views.membership import hash_claims
from nspca.jobs import engine
from nspca.presentation.numerals import OPTIMAL_GAP
from nspca.specs import CheckSpec, DataSpec, OptimumSpec, ProblemSpec, SweepSpec

QUICK = 3e9  # multiplications; a check that takes more is done in the background


def attempts(asked: ProblemSpec) -> list[Attempt]:
    """Return the attempts at the problem of a question, of this workspace and automatic, newest first."""
    tried = []
    for run, spec in [*lookup.find_all(OptimumSpec), *lookup.find_all(OptimumSpec, everybody=asked.content)]:
        if spec.same_problem == asked.same_problem:
            now = engine().status(run.id)
            name = run.id if now.state == "cancelled" else run.key  # what was ready is that run's alone
            ready = engine().store.has_result(name)
            answer = lookup.read_stored(name, now.finished, OptimumSpec.unpack) if ready else None
            proof = None if answer is None else answer.certificate
            tried.append(Attempt(run.id, spec.k, now, proof, spec, answer))
    return sorted(tried, key=lambda attempt: attempt.now.created or 0.0, reverse=True)


def everybodys(asked: ProblemSpec) -> dict[str, Any]:
    """Return the fields of the problem of a question, with data that are named by their content alone."""
    data = DataSpec(content=asked.content, covariance=asked.data.covariance, repair=asked.data.repair)
    return asked.about_problem() | {"data": data}


def gathered(sweep: nspca.Sweep, of: Chosen, asked: SweepSpec, tried: Sequence[Attempt]) -> nspca.Sweep:
    """Return a sweep with all that searches and other sweeps of the same problem have found and proved.

    The sweeps are those of this workspace, the answers to single k that anybody asked for, and the stored
    answer to a sample. At each k the best component and the least bound are kept, of the methods of the
    sweep; of an empty one, of all methods.
    """
    found = {key: replaced(result, *key, tried) for key, result in sweep.results.items()}
    methods = {method for method, _ in found}
    stored = first_answer.find_same_problem(of, asked)
    others = [] if stored is None else [stored.results]
    for run, other in [*lookup.find_all(SweepSpec), *lookup.find_all(SweepSpec, everybody=asked.content)]:
        if run.state == "done" and other.same_problem == asked.same_problem:
            others.append(lookup.read_result(run.id, run.finished, nspca.Sweep.from_bytes).results)
    for results in others:
        for key, result in results.items():
            if key[0] in methods or not methods:
                found[key] = _better(found.get(key, result), result)
    keys = sorted(found, key=lambda key: key[1])
    return nspca.Sweep({key: replaced(found[key], *key, tried) for key in keys})


def _better(one: nspca.Result, other: nspca.Result) -> nspca.Result:
    """Return the result with the larger value, with the smaller bound of both."""
    best, worse = (other, one) if other.value > one.value * (1 + OPTIMAL_GAP) else (one, other)
    return _with_least(best, [worse.certificate])


def _with_least(result: nspca.Result, others: Sequence[nspca.Certificate | None]) -> nspca.Result:
    """Return a result with the smallest bound among its own and others."""
    known = [proof for proof in (result.certificate, *others) if proof is not None]
    least = min(known, key=lambda proof: proof.upper, default=None)
    return result if least is result.certificate else result.with_certificate(least)


def replaced(
    result: nspca.Result, method: str, k: int | tuple[int, ...], tried: Sequence[Attempt]
) -> nspca.Result:
    """Return the result of a method at k, or a better one that a search found, with the least bound.

    The entry "before" in the `info` of a better one is the value of `result`.
    """
    here = [one for one in tried if one.k == k]
    answers = [one.answer for one in here if one.answer is not None and one.spec.method == method]
    best = max(answers, key=lambda answer: answer.value, default=result)
    if best.value > result.value * (1 + OPTIMAL_GAP):
        own = result.certificate
        info = result.info | best.info | {"before": result.value}
        certificate = best.certificate if own is not None and own.upper < best.value else own
        result = replace(best, info=info, seconds=result.seconds, certificate=certificate)
    return _with_least(result, [one.certificate for one in here])


def search(answer: Answer, proof: nspca.Certificate | None, effort: str | None = None) -> None:
    """Start a run that searches for the optimum of what an `Answer` shows, and goes on from a proof."""
    k, result = answer.k, answer.shown
    earlier = sum(attempt.k == k for attempt in attempts(answer.asked))
    fields = answer.asked.about_problem() | {"k": k, "method": result.method, "attempt": earlier}
    start.start(OptimumSpec(**fields, effort=effort), **answer.of.given, **_known(k, result, proof))


def search_shortly(answer: Answer) -> Attempt:
    """Return the search of `AUTOMATIC` seconds for the shown component of an `Answer`, begun if necessary."""
    k, result, tried = answer.k, answer.shown, len(answer.mine)
    fields = everybodys(answer.asked) | {"k": k, "method": result.method, "attempt": tried}
    spec = OptimumSpec(**fields, seconds=AUTOMATIC)
    given = lambda: answer.of.given | _known(k, result, answer.certificate)  # noqa: E731
    now = defaults.ask(spec, answer.of.content, given, automatic=True)
    return Attempt(now.id, k, now, None, spec)


def _known(k: int | tuple[int, ...], result: nspca.Result, proof: nspca.Certificate | None) -> dict[str, Any]:
    """Return what a search goes on from, as arguments of its run."""
    components = result.components[:, 0] if isinstance(k, int) else result.components
    return {"component": components} | ({} if proof is None else {"certificate": proof.to_bytes()})


def last_closed(tried: Sequence[Attempt], k: int | tuple[int, ...]) -> Attempt | None:
    """Return the newest ended search at k that reported bounds; None without one."""
    return next((one for one in tried if one.k == k and one.now.ended and one.now.rows), None)


# --- checks ---------------------------------------------------------------------------------------


def check(of: Chosen, problem: nspca.Problem, certificate: nspca.Certificate) -> None:
    """Check a certificate of `problem` by the independent checker, in the background if that is slow."""
    content, A = certificate.to_bytes(), problem.covariance
    spec = CheckSpec(
        data=of.spec,
        k=problem.k,
        nonneg=problem.nonneg,
        center=A.center,
        scale=A.scale,
        source="covariance" if A.source == "covariance" else "data",
        forced=problem.forced,
    )
    if of.table is None and _cost(of, certificate) <= QUICK:
        answer = spec.run(X=of.dataset.X, certificate=content)
    else:
        answer = {"run": start.start(spec, **of.given, certificate=content)}
    st.session_state.setdefault(state.CHECKS, {})[hash_claims(certificate)] = answer


def checked(certificate: nspca.Certificate) -> dict[str, Any] | None:
    """Return the outcome of a check with keys ``upper``, ``seconds`` and ``refusal``.

    Returns ``{"run": id}`` during the check, and None without one.
    """
    kept, name = st.session_state.get(state.CHECKS, {}), hash_claims(certificate)
    answer = kept.get(name)
    if answer is not None and "run" in answer and engine().status(answer["run"]).ended:
        del kept[name]  # a check that failed or was ended says so once, and can be asked for again
        answer = kept[name] = json.loads(engine().result(answer["run"]))
    return answer


def _cost(of: Chosen, certificate: nspca.Certificate) -> float:
    """Return about how many multiplications a check takes: for A on its rows, and some outside of them."""
    m, n = of.dataset.X.shape
    rows = len(certificate.witness.get("rows", range(n)))
    kept = min(m, rows) if "W" not in certificate.witness else rows
    return float(kept) ** 2 * max(m, rows) + (0.05 * n * n * m if rows < n else 0.0)
