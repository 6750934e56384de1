"""SOURCE and DATA: a sample by name, a folder of shards, or else a file becomes a problem."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from nspca.cli.screen import progress
from nspca.errors import InvalidOption

if TYPE_CHECKING:
    from nspca.data import Dataset
    from nspca.problem import Problem
    from nspca.shards.on_disk import OnDisk

    Source: TypeAlias = Dataset | OnDisk


def read_dataset(source: str, steps: str = "") -> "Source":
    """A sample by name, a folder of shards, or else a file; prepared by the steps that are named."""
    from nspca import data

    names = [name for name in steps.split(",") if name]
    if Path(source).is_dir() and source not in data.SAMPLES:
        from nspca.shards import Shards
        from nspca.shards.on_disk import OnDisk

        if names:
            raise InvalidOption(
                "shards are taken as they are: leave --prepare out, or prepare what they are of"
            )
        return OnDisk(Shards(source))
    if source in data.SAMPLES:
        return data.prepare(data.load_sample(source), *names)
    if not Path(source).is_file():
        raise InvalidOption(
            f"a file, a folder of shards or one of the samples {', '.join(data.SAMPLES)} is required, got "
            f"{source!r}, which is none"
        )
    return data.prepare(data.read(source), *names)


def make_problem(
    args: argparse.Namespace, dataset: "Source", k: int | tuple[int, ...], client: Any = None
) -> "Problem":
    """The problem of a data set that the options describe; shards are read by the workers of a Dask client
    where there is one.
    """
    from nspca import Problem
    from nspca.shards.on_disk import OnDisk

    how: dict[str, Any] = {"k": k, "nonneg": not args.signed}
    how["forced"] = forced_features(dataset, args.forced)
    if dataset.is_covariance:
        return Problem.from_covariance(dataset.X, **how)
    how |= {"center": args.center, "scale": args.scale}
    if isinstance(dataset, OnDisk):
        return Problem.from_shards(dataset.X, **how, client=client, report=progress())
    return Problem.from_data(dataset.X, **how)


def forced_features(dataset: "Source", text: str) -> tuple[int, ...]:
    """Features with commas between, by name, or by a number that is no name; none for an empty text."""
    number = lambda part: part.isdecimal() and len(part) < 10 and part not in dataset.feature_names  # noqa: E731
    parts = [int(part) if number(part) else part for part in text.split(",")]
    return tuple(dataset.numbers(parts).tolist()) if text else ()
