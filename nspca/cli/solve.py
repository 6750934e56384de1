"""Command `solve`: one component, or several, and a certificate."""

import argparse
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nspca.cli.answers import beside, print_answer
from nspca.cli.arguments import argument, command, count, given_options, of_problem, one_of, output, percent
from nspca.cli.screen import check_files, complain, progress, saved
from nspca.cli.sources import about_problem, make_problem, read_dataset
from nspca.errors import InvalidOption, WorkersLost, needs

if TYPE_CHECKING:
    from nspca.problem import Problem
    from nspca.result import Result
    from nspca.specs import ComponentsSpec, ProblemSpec, SweepSpec


@command(
    *of_problem("nonneg", "center", "scale", "effort", "seed"),
    argument("--k", type=int, required=True, help="largest number of features in a component"),
    argument(
        "--components",
        type=count,
        metavar="R",
        help="number of components; they share no feature and are found together, with one certificate",
    ),
    argument("--method", default="auto", metavar="METHOD", help="a name of nspca.METHODS (default auto)"),
    argument(
        "--within",
        type=percent,
        metavar="PERCENT",
        help="say which features are proved to be in every answer that explains at least so many per cent of "
        "the optimum; the certificate then proves that too, or a second one beside it",
    ),
    argument(
        "--others",
        type=percent,
        metavar="PERCENT",
        help="list every set of features that explains less than the best by at most so many per cent, with "
        "the proof that there are no others; without it, --effort exhaustive says how much less every other "
        "set explains, if that takes no longer than the search",
    ),
    one_of(
        argument(
            "--workers",
            type=count,
            metavar="N",
            help="number of processes of this machine that read a folder of shards, or search together with "
            "--effort exhaustive; the result is the same",
        ),
        argument(
            "--scheduler",
            metavar="ADDRESS",
            help="as --workers, with the workers of this Dask scheduler, which see the folder at the same "
            "path",
        ),
    ),
    argument(
        "--seconds", type=float, metavar="S", help="with --effort exhaustive: end the search after so long"
    ),
    argument("--nodes", type=int, metavar="N", help="with --effort exhaustive: end it after so many nodes"),
    argument(
        "--resume",
        metavar="FILE.npz",
        help="with --effort exhaustive: go on from the certificate of a search that was ended",
    ),
    output("certificate", "csv", "spec", "json"),
    examples=[
        "solve digits --k 10 --certificate digits.npz",
        "solve docword.kos.txt.gz --k 15 --components 8 --csv topics.csv",
    ],
)
def solve(args: argparse.Namespace) -> int:
    """One component, or several, and a certificate.

    Prints what the component explains, how much of the best possible that is at least, and its weights.
    """
    for name in ("within", "others"):
        if args.components is not None and getattr(args, name) is not None:
            raise InvalidOption(f"--{name} is about one component: leave --components out")
    if args.others == 100:
        raise InvalidOption("every set is within 100 % of the best: give --others less")
    args.effort = args.effort or "fast"
    if args.resume is not None and args.effort != "exhaustive":
        raise InvalidOption(f"--resume is for --effort exhaustive, got {args.effort}: leave it out")
    asked = (args.workers, args.scheduler) != (None, None)
    is_exhaustive, is_folder = args.effort == "exhaustive", Path(args.source).is_dir()
    if asked and not is_folder and not is_exhaustive:
        raise InvalidOption(
            f"workers read a folder of shards or help with --effort exhaustive, got {args.source}: make a "
            "folder with `python -m nspca shard`, or leave --workers and --scheduler out"
        )
    for name in ("within", "others", "seconds", "nodes", "resume"):
        if args.spec and getattr(args, name) is not None:
            raise InvalidOption(f"a spec does not hold --{name}, got it with --spec: leave one of them out")
    second = beside(args.certificate, "features") if args.certificate and args.within else None
    third = (
        beside(args.certificate, "others") if args.certificate and (args.others or is_exhaustive) else None
    )
    check_files(args.certificate, second, third, args.csv, args.spec, read=[args.source])
    with client_of(args.workers, args.scheduler) as client:
        return _solve(args, client, is_folder)


def client_of(workers: int | None, scheduler: str | None) -> AbstractContextManager[Any]:
    """Return a context with a Dask client, of local `workers` or of a `scheduler`, or with None."""
    if workers is None and scheduler is None:
        return nullcontext()
    with needs("reading with several workers"):
        from nspca.jobs.command_workers import open_client
    return open_client(workers, scheduler, complain)


def _solve(args: argparse.Namespace, client: Any, is_folder: bool) -> int:
    """Solve the problem of the arguments, with a Dask client or None; print the answer and return 0."""
    import nspca
    from nspca.certificate import ROUNDING
    from nspca.proving import certified
    from nspca.result import Result

    dataset, data = read_dataset(args.source, args)
    about = about_problem(args, dataset, data)
    sizes = args.k if args.components is None else (args.k,) * args.components
    problem = make_problem(about, dataset, sizes, client if is_folder else None)
    question = _question(args, about) if args.spec else None
    lost, known, others = None, None, None
    try:
        result = _answer(args, problem, client)
    except WorkersLost as error:
        if not isinstance(error.result, Result) or error.result.certificate is None:
            raise
        lost, result = error, error.result
    if args.within is not None and lost is None:
        known = nspca.membership(problem, result, share=args.within / 100, report=progress())
        if result.certificate is None or known.certificate.upper <= result.certificate.upper * (1 + ROUNDING):
            # One certificate proves both, and what is proved of all other answers stays.
            result = replace(certified(problem, result, known.certificate), others=result.others)
    if args.others is not None and lost is None:
        others = nspca.answers(problem, result, args.others / 100, seconds=args.seconds, report=progress())
    with saved(args, question):
        status = print_answer(args, dataset, problem, result, known, others)
    if lost is None:
        return status
    complain(
        f"nspca: {lost} The answer is what was ready{', and --resume goes on' * bool(args.certificate)}."
    )
    return 2


def _question(args: argparse.Namespace, about: "ProblemSpec") -> "SweepSpec | ComponentsSpec":
    """Return the question of the arguments: a sweep of one k, or several components found together."""
    from nspca.specs import ComponentsSpec, SweepSpec

    given = given_options(args, "SweepSpec", "effort", "seed")
    how: dict[str, Any] = about.about_problem() | given
    if args.components is None:
        return SweepSpec(ks=(args.k,), methods=(args.method,), published=False, **how)
    method = "joint" if args.method == "auto" else args.method
    return ComponentsSpec(sizes=(args.k,) * args.components, methods=(method,), **how)


def _answer(args: argparse.Namespace, problem: "Problem", client: Any) -> "Result":
    """Return the answer with its certificate, maybe of a search that goes on from a file."""
    import nspca
    from nspca.api import prove_optimum
    from nspca.certificate import require_about

    how: dict[str, Any] = {"method": args.method, "seed": args.seed or 0, "report": progress()}
    limits: dict[str, Any] = {"seconds": args.seconds, "nodes": args.nodes}
    limits["client"] = client if args.effort == "exhaustive" else None
    if args.resume is None:
        return nspca.solve(problem, certify=args.effort, **how, **limits)
    before = nspca.Certificate.load(args.resume)
    require_about(problem, before)
    result = nspca.solve(problem, certify=None, **how)
    return prove_optimum(problem, result, progress(), resume=before, **limits)
