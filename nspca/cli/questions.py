"""Questions that commands ask, as specs: the spec is run, and ``--spec FILE`` saves it for `nspca run FILE`.

The commands `solve`, `sweep` and `certify` each have a function here that turns their arguments into a spec.
Specs need pydantic, so this module is imported only when a question is asked.
"""

import argparse
from typing import TYPE_CHECKING, Any

from nspca.cli.sources import forced_features, reading_options
from nspca.data import SAMPLES
from nspca.errors import InvalidOption, Refused
from nspca.problem import Problem
from nspca.progress import Event, Report
from nspca.proving import certified
from nspca.result import Result
from nspca.specs import ComponentsSpec, DataSpec, ProofSpec, SweepSpec
from nspca.validation.options import known_seed

if TYPE_CHECKING:
    from nspca.cli.sources import Source

NOT_IN_A_SPEC = ("within", "seconds", "nodes", "resume")
"""Options of `solve` that a spec does not hold."""


def refuse_other_options(args: argparse.Namespace) -> None:
    """Refuse options of ``solve`` that a saved spec would not hold."""
    for name in NOT_IN_A_SPEC:
        if getattr(args, name) is not None:
            raise InvalidOption(f"a spec does not hold --{name}, got it with --spec: leave one of them out")


def solve_spec(args: argparse.Namespace, dataset: "Source") -> SweepSpec | ComponentsSpec:
    """Return the question of ``solve``: a sweep of one k, or several components found together.

    Raises
    ------
    InvalidOption
        For a value that a spec does not take.
    """
    if args.components is None:
        return sweep_spec(args, dataset, [args.k], [args.method])
    method = "joint" if args.method == "auto" else args.method
    sizes, how = (args.k,) * args.components, _effort_and_seed(args)
    return ComponentsSpec(sizes=sizes, methods=(method,), **_about_problem(args, dataset), **how)


def sweep_spec(
    args: argparse.Namespace, dataset: "Source", ks: list[int], methods: list[str] | None
) -> SweepSpec:
    """Return the question of ``sweep``, which leaves the bounds of papers out."""
    ordered, names = tuple(sorted({*ks})), tuple(methods or ["auto"])
    about, how = _about_problem(args, dataset), _effort_and_seed(args)
    return SweepSpec(ks=ordered, methods=names, published=False, **about, **how)


def proof_spec(args: argparse.Namespace, dataset: "Source", problem: Problem) -> ProofSpec:
    """Return the question of ``certify``: a proof about known components of a problem."""
    return ProofSpec(k=problem.k, efforts=(args.effort,), **_about_problem(args, dataset))


def answer(question: SweepSpec | ComponentsSpec, problem: Problem, report: Report) -> Result:
    """Return the one result of a question about `problem`, with its certificate.

    Raises
    ------
    Refused
        When several components have no bound.
    """
    said: list[str] = []

    def hear(event: Event) -> None:
        row = event.payload.get("row", {})
        if row.get("row") == "refused":
            said.append(row["error"])
        report(event)

    (result,) = question.run(hear, problem).results.values()
    if result.certificate is None:
        raise Refused(said[-1])
    return certified(problem, result, result.certificate)


def _about_problem(args: argparse.Namespace, dataset: "Source") -> dict[str, Any]:
    """Return the fields that all questions about a problem have."""
    return {
        "data": data_spec(args, dataset),
        "nonneg": not args.signed,
        "forced": forced_features(dataset, args.forced),
        "center": args.center,
        "scale": args.scale,
    }


def _effort_and_seed(args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of questions that search for components and prove them."""
    return {"effort": args.effort, "seed": known_seed(args.seed)}


def data_spec(args: argparse.Namespace, dataset: "Source") -> DataSpec:
    """Return the spec of SOURCE, as the options say how it is read and prepared.

    A file or a folder of shards is named by the path that was given, so a relative path stays relative.
    """
    return DataSpec(
        **{"sample" if args.source in SAMPLES else "path": args.source},
        **reading_options(args),
        words=args.text,
        covariance=dataset.is_covariance,
        repair=args.repair is not None,
        prepared=tuple(name for name in args.prepare.split(",") if name),
    )
