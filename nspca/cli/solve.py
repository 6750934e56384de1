"""`solve`: one component, or several, and a certificate."""

import argparse

from nspca.cli.answers import tell
from nspca.cli.screen import check_folder, progress
from nspca.cli.sources import make_problem, read_dataset
from nspca.cli.words import Commands, count, of_problem, percent, with_json, with_seed
from nspca.errors import InvalidOption


def add(commands: Commands) -> None:
    """`solve` and its words."""
    command = commands.add(
        "solve",
        run,
        "one component, or several, and a certificate",
        "solve digits --k 10 --certificate digits.npz",
        "solve docword.kos.txt.gz --k 15 --components 8 --csv topics.csv",
        more="Prints what the component explains, how much of the best possible that is at least, and its "
        "weights.",
        parents=[of_problem()],
    )
    command.add_argument("--k", type=int, required=True, help="largest number of features in a component")
    command.add_argument(
        "--components",
        type=count,
        metavar="R",
        help="so many components that share no feature, found together, with one certificate",
    )
    command.add_argument(
        "--method", default="auto", metavar="METHOD", help="a name of nspca.METHODS (default auto)"
    )
    command.add_argument("--certificate", metavar="FILE.npz", help="save the certificate")
    command.add_argument("--csv", metavar="FILE.csv", help="save the weights as a table")
    command.add_argument(
        "--within",
        type=percent,
        metavar="PERCENT",
        help="say which features are proved to be in every answer within so many per cent of the optimum; "
        "the certificate then proves that too",
    )
    with_seed(command)
    with_json(command)


def run(args: argparse.Namespace) -> int:
    """Solve, and say what was found."""
    import nspca

    check_folder(args.certificate)
    check_folder(args.csv)
    joint = args.components is not None
    if joint and args.within is not None:
        raise InvalidOption("--within is about one component: leave --components out")
    dataset = read_dataset(args.source, args.prepare)
    problem = make_problem(args, dataset, (args.k,) * args.components if joint else args.k)
    result = nspca.solve(problem, method=args.method, seed=args.seed, certify=args.effort, report=progress())
    known = None
    if args.within is not None:
        known = nspca.membership(problem, result, share=args.within / 100, report=progress())
    return tell(args, dataset, problem, result, known)
