"""Run the rounds of the comparison: all contenders in turn on a table, then all again."""

from collections import defaultdict
from collections.abc import Iterable
from statistics import median

from benchmarks.peers.contenders import CONTENDERS, Contender
from benchmarks.peers.measuring import Run
from benchmarks.peers.scoring import score
from benchmarks.peers.tables import Table, sizes
from nspca import Problem, verify

ONCE = 4.0
"""Seconds beyond which one run is enough: what is so slow is not slow by chance."""
BOTH = (True, False)


def raced(
    table: Table,
    rounds: int,
    limit: float,
    contenders: Iterable[Contender] = CONTENDERS,
) -> list[dict]:
    """Return the rows of a table: one for each k, sign and contender."""
    rows = []
    for k in sizes(table):
        runs = run_all(table, k, rounds, limit, contenders)
        problem = Problem.from_data(table.X, k, True)
        for nonneg in BOTH:
            asked = problem if nonneg else Problem.from_data(table.X, k, False)
            for contender in contenders:
                if nonneg or not contender.nonneg_only:
                    rows.append(row_of(contender, table, asked, runs))
    return rows


def run_all(table, k, rounds, limit, contenders) -> dict[tuple, list[Run]]:
    """Return the runs by name, sign and setting. A contender without a sign option runs once for both signs,
    as sign None.
    """
    runs = defaultdict(list)
    able = [one for one in contenders if not one.there() and not one.lacks(table)]
    settings = {one.name: one.settings(table, k) for one in able}
    for _ in range(rounds):
        for one in able:
            for sign in BOTH if one.by_sign else (None,):
                for setting in settings[one.name]:
                    if enough(runs, one.name, sign, setting):
                        continue
                    run = one.measured(table, k, bool(sign or sign is None), setting, limit)
                    runs[one.name, sign, setting].append(run)
    return runs


def enough(runs, name, sign, setting) -> bool:
    """Tell whether another run is useless: the last one failed, with any setting, or took long."""
    last = [done[-1] for (who, at, _), done in runs.items() if (who, at) == (name, sign) and done]
    own = runs[name, sign, setting]
    return any(run.failed for run in last) or bool(own and own[-1].cpu > ONCE)


def row_of(contender: Contender, table: Table, problem: Problem, runs) -> dict:
    """Return the row of a contender: the best of its settings, with its least time and memory."""
    row = {
        "table": table.name, "shape": list(table.shape), "source": table.source, "k": problem.size,
        "nonneg": problem.nonneg, "name": contender.name, "ours": contender.ours, "value": None,
    }  # fmt: skip
    said = contender.there() or contender.lacks(table)
    if said:
        return row | {"note": said}
    sign = problem.nonneg if contender.by_sign else None
    tried = {s: done for (name, at, s), done in runs.items() if (name, at) == (contender.name, sign) and done}
    answered = {s: done for s, done in tried.items() if done[0].loadings is not None}
    if not answered:
        return row | {"note": next(run.failed for done in tried.values() for run in done)}
    values = {s: score(problem, done[0].loadings) for s, done in answered.items()}
    setting = max(values, key=values.__getitem__)
    good = [run for run in answered[setting] if not run.failed]
    first = good[0]
    return row | {
        "value": values[setting],
        "setting": setting,
        "cpu": min(run.cpu for run in good),
        "cpu_median": median(run.cpu for run in good),
        "wall": min(run.wall for run in good),
        "memory": min(run.memory for run in good),
        "runs": len(good),
        "proved": proved(table, problem, values[setting], first.certificate),
        "kind": first.certificate.kind if first.certificate else None,
    }


def proved(table: Table, problem: Problem, value: float, certificate) -> float | None:
    """Return the proved share of the optimum, with the bound as the checker finds it from the raw data."""
    if certificate is None:
        return None
    return value / verify(table.X, certificate, problem)
