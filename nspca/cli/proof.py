"""Commands `certify` and `verify`: a certificate for given components, and the check of a certificate."""

import argparse
from dataclasses import replace
from typing import Any

from nspca.cli.answers import print_answer
from nspca.cli.arguments import OF_DATA, Argument, argument, command, count, of_problem, output, sizes
from nspca.cli.loadings import read_loadings
from nspca.cli.screen import check_files, clear, complain, progress, say, say_json
from nspca.cli.sources import about, about_problem, forced_features, make_problem, read_dataset
from nspca.errors import CertificateError, InvalidOption


@command(
    *of_problem("nonneg", "center", "scale", "effort"),
    argument(
        "loadings",
        metavar="LOADINGS",
        help="CSV: feature and weight, with the component's number or name for several, or a column for "
        "each; or JSON: weights by name, a list of such, or what `solve --json` printed",
    ),
    argument("--k", type=int, help="largest number of features in a component"),
    output("certificate", "csv", "json"),
    examples=[
        "certify digits mine.csv --certificate mine.npz",
        "certify genes.csv loadings.json --signed --effort thorough",
    ],
)
def certify(args: argparse.Namespace) -> int:
    """A certificate for a component that you have already.

    The weights are looked up by the name of their feature and brought to length 1; k is how many there are
    unless it is said.
    """
    import numpy as np

    import nspca
    from nspca.proving import certified

    check_files(args.certificate, args.csv, read=[args.source, args.loadings])
    dataset, data = read_dataset(args.source, args)
    problem_spec = about_problem(args, dataset, data)
    X = read_loadings(args.loadings, dataset.feature_names)
    shared = np.flatnonzero(np.count_nonzero(X, axis=1) > 1)
    if shared.size:
        raise InvalidOption(
            f"components that share no feature are required, got {dataset.feature_names[shared[0]]} in "
            "several: certify each component by itself"
        )
    forced = list(problem_spec.forced)
    counts = (np.count_nonzero(np.delete(X, forced, axis=0), axis=0) + len(forced)).tolist()
    sizes = counts if args.k is None else [args.k] * len(counts)
    problem = make_problem(problem_spec, dataset, sizes[0] if len(sizes) == 1 else tuple(sizes))
    if problem.nonneg:
        X = X * np.where(X.max(axis=0) > 0, 1, -1)  # a component and its negative explain the same
        if X.min() < 0:
            name = dataset.feature_names[int(np.argmin(X.min(axis=1)))]
            raise InvalidOption(
                f"weights of one sign are required, got {X.min():.3g} for {name}: add --signed"
            )
    result = nspca.Result.of(problem, X, nspca.Status.HEURISTIC, "given")
    certificate = nspca.certify(problem, result, effort=args.effort or "fast", report=progress())
    return print_answer(args, dataset, problem, certified(problem, result, certificate))


def _refuse(option: str, dest: str, value: bool, other: str) -> Argument:
    how = {"dest": dest, "action": "store_const", "const": value}
    return argument(option, **how, help=f"refuse one about {other}")


def _refuse_either(option: str, are: str) -> Argument:
    said = f"refuse one about data that are not {are}, or are"
    return argument(option, action=argparse.BooleanOptionalAction, help=said)


@command(
    *OF_DATA,
    argument("data", metavar="DATA", help="the sample, file or folder of shards it is about"),
    argument("certificate", metavar="CERTIFICATE", help="the file that `solve --certificate` wrote"),
    argument(
        "--k",
        type=sizes,
        metavar="K,...",
        help="refuse a certificate about another number of features; of several components 15,15,15",
    ),
    argument("--components", type=count, metavar="R", help="of so many components with --k features each"),
    argument(
        "--forced",
        metavar="FEATURE,...",
        help="refuse one about other features that must be in; an empty text for none",
    ),
    _refuse("--signed", "nonneg", False, "nonnegative components"),
    _refuse("--nonneg", "nonneg", True, "signed components"),
    _refuse("--no-covariance", "covariance", False, "a covariance"),
    _refuse_either("--center", "centred"),
    _refuse_either("--scale", "scaled"),
    output("json"),
    examples=["verify digits digits.npz", "verify digits digits.npz --k 10 --nonneg --center --no-scale"],
)
def verify(args: argparse.Namespace) -> int:
    """Check a certificate against the data.

    The bound is recomputed from the data by code that shares nothing with the solvers. Exit status 0: proved;
    1: refused, with the reason. Without --prepare, the steps that the certificate names are taken.
    """
    import nspca
    from nspca.shards import Shards

    k = None if args.k is None else tuple(args.k) if len(args.k) > 1 else args.k[0]
    if args.components is not None:
        if not isinstance(k, int):
            raise InvalidOption("--components needs one --k, which each of them has: say it, or leave it out")
        k = (k,) * args.components
    asked: dict[str, Any] = {"k": k, "nonneg": args.nonneg, "center": args.center, "scale": args.scale}
    try:
        certificate = nspca.Certificate.load(args.certificate)
        dataset, _ = read_dataset(args.data, args)
        if not dataset.prepared and not isinstance(dataset, Shards):  # shards were made of prepared data
            dataset = nspca.prepare(dataset, *certificate.prepared)
        if dataset.is_covariance or args.covariance is not None:
            asked["source"] = "data" if args.covariance is False else "covariance"
        asked["forced"] = None if args.forced is None else forced_features(dataset, args.forced)
        m, n = dataset.shape if isinstance(dataset, Shards) else dataset.X.shape
        if certificate.shape == (n, m) and m != n:
            raise CertificateError(
                f"the certificate is about {n} samples of {m} features, got {m} rows and {n} columns: if the "
                "features of this file are in its rows, add --features-in-rows"
            )
        upper = nspca.verify(dataset, certificate, **asked)
    except CertificateError as error:
        clear()
        if args.json:
            say_json({"proved": False, "reason": str(error)})
        complain(f"refused: {error}")
        return 1
    proved = replace(certificate, upper=upper, prepared=dataset.prepared)
    if args.json:
        said = about(dataset) | {
            "statement": proved.stated(dataset.feature_names),
            "upper": upper,
            "of_features": proved.of_features,
        }
        say_json({"proved": True} | said)
        return 0
    say(f"{dataset.name}: proved: {proved.stated(dataset.feature_names)}")
    if certificate.of_features:
        say("proved: its bounds on what answers with a feature, and without it, explain, for every feature")
    return 0
