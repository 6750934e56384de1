"""Specs of what a command answers, which ``--spec FILE`` writes and `nspca run FILE` answers again.

Specs need pydantic, so this module is imported only when a spec is asked for.
"""

import argparse
from typing import TYPE_CHECKING, Any

from nspca.cli.sources import forced_features, reading_options
from nspca.data import SAMPLES
from nspca.errors import InvalidOption
from nspca.specs import ComponentsSpec, DataSpec, ProblemSpec, SweepSpec

if TYPE_CHECKING:
    from nspca.cli.sources import Source

NOT_IN_A_SPEC = ("within", "seconds", "nodes", "resume")
"""Options of `solve` that a spec does not hold."""


def solve_spec(args: argparse.Namespace, dataset: "Source") -> ProblemSpec:
    """Return the question of ``solve``: a sweep of one k, or several components found together.

    Raises
    ------
    InvalidOption
        For an option that a spec does not hold, or a value that it does not take.
    """
    for name in NOT_IN_A_SPEC:
        if getattr(args, name) is not None:
            raise InvalidOption(f"a spec does not hold --{name}, got it with --spec: leave one of them out")
    if args.components is None:
        return sweep_spec(args, dataset, [args.k], [args.method])
    method = "joint" if args.method == "auto" else args.method
    sizes = (args.k,) * args.components
    return ComponentsSpec(sizes=sizes, methods=(method,), **_asked(args, dataset))


def sweep_spec(
    args: argparse.Namespace, dataset: "Source", ks: list[int], methods: list[str] | None
) -> SweepSpec:
    """Return the question of ``sweep``."""
    return SweepSpec(ks=tuple(sorted({*ks})), methods=tuple(methods or ["auto"]), **_asked(args, dataset))


def _asked(args: argparse.Namespace, dataset: "Source") -> dict[str, Any]:
    """Return the fields that all questions of the command line have."""
    return {
        "data": data_spec(args, dataset),
        "nonneg": not args.signed,
        "forced": forced_features(dataset, args.forced),
        "center": args.center,
        "scale": args.scale,
        "effort": args.effort,
        "seed": args.seed,
    }


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
