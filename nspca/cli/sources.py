"""Turn SOURCE and DATA (a sample by name, a folder of shards, or a file) into a data set and a problem.

The commands `solve`, `sweep`, `certify` and `verify` use it. Specs need pydantic, so they are imported when a
command runs.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from nspca.cli.arguments import given_options
from nspca.cli.screen import clear, complain, progress, say_findings, say_notes
from nspca.errors import InvalidData, InvalidOption

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nspca.data import Dataset, Finding
    from nspca.problem import Problem
    from nspca.shards import Shards
    from nspca.specs import DataSpec, ProblemSpec

    Source: TypeAlias = Dataset | Shards

STEPS = ("prepared", "covariance", "drop_constant")
"""Options of the data that are not about reading a file."""


def data_spec(source: str, args: argparse.Namespace) -> "DataSpec":
    """Return the spec of SOURCE, as the options say how it is read and prepared; a path stays relative."""
    from nspca.data import SAMPLES
    from nspca.data.options import OF_TABLES, OF_TEXTS
    from nspca.specs import DataSpec

    given = given_options(args, "DataSpec")
    flags = {name: option.flag for name, option, _ in DataSpec.declared()}
    reading = [name for name in given if name not in STEPS]
    path, is_sample = Path(source), source in SAMPLES
    is_shards = path.is_dir() and not is_sample
    is_shards &= (path / "meta.json").is_file() or not {"words", "image_size"} & given.keys()
    if reading and (is_sample or is_shards):
        raise InvalidOption(
            f"{flags[reading[0]]} is about a file and how it is read, got {source}, which is none: leave it "
            "out"
        )
    if is_shards and (names := [name for name in STEPS if given.get(name)]):
        raise InvalidOption(
            f"shards are taken as they are, as rows of samples: leave {flags[names[0]]} out, or prepare what "
            "they are of"
        )
    if not is_sample and not path.exists():
        raise InvalidOption(
            f"a file, a folder of shards or one of the samples {', '.join(SAMPLES)} is required, got "
            f"{source!r}, which is none"
        )
    for name in reading:
        if name in OF_TEXTS and not args.words:
            raise InvalidOption(
                f"{flags[name]} is about counting the words of texts: add --text, or leave it out"
            )
        if args.words and name in OF_TABLES:
            raise InvalidOption(f"{flags[name]} is about tables of numbers: leave it out with --text")
    repair = getattr(args, "repair", None) is not None
    where: dict[str, Any] = {"sample" if is_sample else "path": source}
    return DataSpec(**where, **given, repair=repair)


def read_file(source: str, args: argparse.Namespace) -> "tuple[Source, DataSpec]":
    """Return the data of SOURCE as the options say, before the steps of preparation, and their spec."""
    spec = data_spec(source, args)
    return spec.but(prepared=(), covariance=False, drop_constant=False).open(), spec


def read_dataset(source: str, args: argparse.Namespace) -> "tuple[Source, DataSpec]":
    """Return the data of SOURCE, read and prepared as the options say, and their spec.

    Print what reading decided and suspects. With ``--strict`` a suspicion ends the command.
    """
    from nspca.data import Dataset

    found, spec = read_file(source, args)
    if isinstance(found, Dataset) and spec.sample is None:
        findings = [
            one for one in found.findings if not (spec.drop_constant and one.option == "drop_constant")
        ]
        say_findings(findings)
        check_strict(findings, args)
    elif spec.sample is None:
        say_notes(found.notes)
    dataset = spec.changed(found)
    return dataset, spec.but(covariance=dataset.is_covariance)


def check_strict(findings: "Iterable[Finding]", args: argparse.Namespace) -> None:
    """Refuse data with suspicions under ``--strict``."""
    suspected = [one for one in findings if one.is_suspicion]
    if suspected and getattr(args, "strict", False):
        raise InvalidData(
            f"with --strict nothing may be suspected of the data, got {len(suspected)}, the first: "
            f"{suspected[0].sentence}"
        )


def about(dataset: "Source") -> dict[str, Any]:
    """Return the JSON fields of every answer about its data."""
    return {"name": dataset.name, "source": dataset.source, "notes": list(dataset.notes)}


def about_problem(args: argparse.Namespace, dataset: "Source", data: "DataSpec") -> "ProblemSpec":
    """Return the spec of the problem of a data set, without its k."""
    from nspca.specs import ProblemSpec

    given = given_options(args, "ProblemSpec")
    if dataset.is_covariance and given.keys() & {"scale", "center"}:
        raise InvalidOption("a covariance is taken as it is: leave --scale and --no-center out")
    if data.repair and not dataset.is_covariance:
        raise InvalidOption(
            "--repair is for a covariance, got a table of samples: add --covariance or leave it out"
        )
    return ProblemSpec(data=data, forced=forced_features(dataset, args.forced), **given)


def make_problem(
    about: "ProblemSpec", dataset: "Source", k: int | tuple[int, ...], client: Any = None
) -> "Problem":
    """Return the problem of a data set with this k, and say where the table looks like a covariance.

    Workers of a Dask client read shards if there is a client.
    """
    from nspca.data import Dataset, covariance_suggestion

    if isinstance(dataset, Dataset) and not dataset.is_covariance:
        suggested, seen = covariance_suggestion(dataset.X)
        if suggested:
            clear()
            complain(f"nspca: {seen} Add --covariance to take it as one.")
    return about.problem(dataset, progress(), client, k)


def forced_features(dataset: "Source", text: str) -> tuple[int, ...]:
    """Return the numbers of the features in a text of names or numbers with commas between.

    A number that is also the name of a feature is taken as the name. An empty text has no features.
    """

    def is_number(part: str) -> bool:
        return part.isdecimal() and len(part) < 10 and part not in dataset.feature_names

    parts = [int(part) if is_number(part) else part for part in text.split(",")]
    return tuple(dataset.numbers(parts).tolist()) if text else ()
