"""Run a method on a problem, with its options, on all features or on some of those of large data.

`nspca.api` calls `runner`, `run_method` and `run_path`. `line_of` has the facts about a method.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from nspca.covariance.linalg import Array
from nspca.errors import InvalidOption, shown
from nspca.local_search import outside
from nspca.problem import Problem
from nspca.progress import Report, telling
from nspca.result import Result
from nspca.solvers import METHODS, Method, auto
from nspca.validation.options import made

ON_SOME = ("auto", "joint")
"""Methods that use only some features of large data in memory; others follow their papers and use all."""


def line_of(method: str) -> Method:
    """Return the description of a method: its line of `METHODS`, or that of "auto".

    Raises
    ------
    InvalidOption
        For another name.
    """
    if isinstance(method, str) and method == "auto":
        return auto.LINE
    if not isinstance(method, str) or method not in METHODS:
        raise InvalidOption(f"method must be 'auto' or one of {', '.join(METHODS)}, got {shown(method)}")
    return METHODS[method]


def options_class(method: str) -> Any:
    """Return the class of the options of a method."""
    return line_of(method).Options


def select_options(method: str, options: Mapping[str, Any], methods: Iterable[str]) -> dict[str, Any]:
    """Return the options of a sweep that this method has; refuse options that no method has."""
    known = {name for m in methods for name in options_class(m).__dataclass_fields__}
    unknown = sorted(set(options) - known)
    if unknown:
        raise InvalidOption(
            f"no method of this sweep has an option {unknown[0]!r}; theirs are {', '.join(sorted(known))}"
        )
    return {
        name: value for name, value in options.items() if name in options_class(method).__dataclass_fields__
    }


def in_memory(problem: Problem) -> bool:
    """Tell whether methods can work on the whole A; otherwise they work on some of the features of shards."""
    return problem.covariance.small or not problem.covariance.on_disk


def runner(method: str, given: dict[str, Any], seed: int, report: Report) -> Callable[[Problem], Result]:
    """Return a function that solves a problem by a method with its options."""
    options = made(options_class(method), method, given)
    return lambda problem: run_method(problem, method, options, seed, report)


def penalised(method: str, given: dict[str, Any], seed: int, report: Report) -> Any:
    """Return the function by which a method keeps an angle between components; None if it has none.

    See `Method.penalised`, and `nspca.components.at_an_angle`, which calls the function.
    """
    line = line_of(method)
    return line.penalised and line.penalised(made(line.Options, method, given), seed, report)


def run_method(
    problem: Problem, method: str, options: Any, seed: int, report: Report, warm: Sequence[Array] = ()
) -> Result:
    """Return the result of a method; large data are solved on some features, see `local_search.outside`.

    `warm` holds known components, each (n,), which only "auto" starts from.
    """
    started, line = time.perf_counter(), line_of(method)
    line.check(problem, options)

    def run(part: Problem, features: Any, report: Report) -> Result:
        more = {"warm": [x[features] for x in warm]} if method == "auto" else {}
        return line.solve(part, options, seed, report, **more)

    some = not in_memory(problem) or (
        method in ON_SOME and not problem.covariance.cheap_blocks and outside.fits(problem)
    )
    with telling(report):
        result = outside.solved(problem, run, report, warm) if some else run(problem, slice(None), report)
    return replace(result, method=method, seconds=time.perf_counter() - started)


def run_path(
    method: str, problem: Problem, problems: Mapping[int, Problem], options: Any, seed: int, report: Report
) -> dict[int, Result]:
    """Return the results by k of a method that solves all `problems` (by k) in one call of `Method.path`.

    Each result has an equal share of the seconds.
    """
    started, line = time.perf_counter(), line_of(method)
    line.check(next(iter(problems.values())), options)
    assert line.path is not None  # callers have checked that the method has a `path`
    with telling(report):
        results = line.path(problem, list(problems), options, seed, report)
    share = (time.perf_counter() - started) / len(problems)
    return {k: replace(result, seconds=share) for k, result in results.items()}
