"""SOURCE and DATA: a sample by name, a folder of shards, or else a file becomes a problem."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from nspca.cli.screen import clear, complain, progress, say_notes
from nspca.errors import InvalidOption

if TYPE_CHECKING:
    from nspca.data import Dataset
    from nspca.problem import Problem
    from nspca.shards.on_disk import OnDisk

    Source: TypeAlias = Dataset | OnDisk

READING = {
    "--id": "id_column",
    "--labels": "label_column",
    "--decimal": "decimal",
    "--missing": "missing",
    "--features-in-rows": "features_in_rows",
}
"""Options of how a file is read, and what `nspca.read` calls them."""


def read_dataset(source: str, args: argparse.Namespace, covariance: bool = False) -> "Source":
    """A sample by name, a folder of shards, or else a file, read as the options say; as a covariance where
    that is asked for, and prepared by the steps that are named.
    """
    from nspca import data

    names = [name for name in args.prepare.split(",") if name]
    if _asked(args) and (source in data.SAMPLES or Path(source).is_dir()):
        raise InvalidOption(
            f"{', '.join(READING)} are about a file and how it is read, got {source}, which is none: leave "
            "them out"
        )
    if Path(source).is_dir() and source not in data.SAMPLES:
        from nspca.shards import Shards
        from nspca.shards.on_disk import OnDisk

        if names:
            raise InvalidOption(
                "shards are taken as they are: leave --prepare out, or prepare what they are of"
            )
        if covariance:
            raise InvalidOption("shards are rows of samples, never a covariance: leave --covariance out")
        return _said(OnDisk(Shards(source)))
    if source in data.SAMPLES:
        return data.prepare(_taken(data.load_sample(source), covariance), *names)
    if not Path(source).is_file():
        raise InvalidOption(
            f"a file, a folder of shards or one of the samples {', '.join(data.SAMPLES)} is required, got "
            f"{source!r}, which is none"
        )
    return data.prepare(_taken(_said(data.read(source, **_asked(args))), covariance), *names)


def _asked(args: argparse.Namespace) -> dict[str, Any]:
    """The words of `nspca.read` that are given."""
    told = {word: getattr(args, option[2:].replace("-", "_")) for option, word in READING.items()}
    return {word: value for word, value in told.items() if value is not None and value is not False}


def _said(dataset: Any) -> Any:
    """The same; what reading it changed is said beside the answer."""
    say_notes(dataset.notes)
    return dataset


def _taken(dataset: "Dataset", covariance: bool) -> "Dataset":
    """The same as a covariance, if it is asked for."""
    return replace(dataset, is_covariance=True, labels=None) if covariance else dataset


def make_problem(
    args: argparse.Namespace, dataset: "Source", k: int | tuple[int, ...], client: Any = None
) -> "Problem":
    """The problem of a data set that the options describe; shards are read by the workers of a Dask client
    where there is one.
    """
    from nspca import Problem
    from nspca.data.suggestions import covariance_suggestion
    from nspca.shards.on_disk import OnDisk

    how: dict[str, Any] = {"k": k, "nonneg": not args.signed}
    how["forced"] = forced_features(dataset, args.forced)
    if dataset.is_covariance:
        if args.scale or not args.center:
            raise InvalidOption("a covariance is taken as it is: leave --scale and --no-center out")
        return Problem.from_covariance(dataset, **how)
    how |= {"center": args.center, "scale": args.scale}
    if isinstance(dataset, OnDisk):
        return Problem.from_shards(dataset.X, **how, client=client, report=progress())
    suggested, seen = covariance_suggestion(dataset.X)
    if suggested:
        clear()
        complain(f"nspca: {seen} Add --covariance to take it as one.")
    return Problem.from_data(dataset, **how)


def forced_features(dataset: "Source", text: str) -> tuple[int, ...]:
    """Features with commas between, by name, or by a number that is no name; none for an empty text."""
    number = lambda part: part.isdecimal() and len(part) < 10 and part not in dataset.feature_names  # noqa: E731
    parts = [int(part) if number(part) else part for part in text.split(",")]
    return tuple(dataset.numbers(parts).tolist()) if text else ()
