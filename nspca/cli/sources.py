"""Turn SOURCE and DATA (a sample by name, a folder of shards, or a file) into a data set and a problem.

The commands `solve`, `sweep`, `certify` and `verify` use it.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from nspca.cli.screen import clear, complain, progress, say_notes
from nspca.errors import InvalidOption

if TYPE_CHECKING:
    from nspca.data import Dataset
    from nspca.problem import Problem
    from nspca.shards import Shards

    Source: TypeAlias = Dataset | Shards

READING = {
    "--id": "id_column",
    "--labels": "label_column",
    "--decimal": "decimal",
    "--missing": "missing",
    "--features-in-rows": "features_in_rows",
    "--annotation": "annotation",
    "--image-size": "image_size",
}
"""Options about reading a file, with the names of the arguments of `nspca.read`."""
COUNTING = {
    "--text-column": "text_column",
    "--split": "split",
    "--stop-words": "stop_words",
    "--lowest-share": "lowest_share",
    "--highest-share": "highest_share",
    "--tfidf": "weights",
    "--pairs": "pairs",
    "--most-words": "most_words",
}
"""Options about counting words, with the names of the arguments of `nspca.read_text`."""
OF_TEXTS = ("--id", "--labels", "--annotation")
"""Options of `READING` that are about texts too."""


def read_dataset(source: str, args: argparse.Namespace, covariance: bool = False) -> "Source":
    """Return a sample by name, a folder of shards, or a file, read as the options say.

    With `covariance` the table is a covariance. The named preparation steps are applied.
    """
    from nspca import data

    names = [name for name in args.prepare.split(",") if name]
    reading = reading_options(args)
    path, is_sample = Path(source), source in data.SAMPLES
    of_files = (args.text or args.image_size is not None) and not (path / "shards.json").is_file()
    is_shards = path.is_dir() and not of_files and not is_sample
    if (reading or args.text) and (is_sample or is_shards):
        raise InvalidOption(
            f"{', '.join(READING)} and --text are about a file and how it is read, got {source}, which is "
            "none: leave them out"
        )
    if is_shards:
        from nspca.shards import Shards

        if names:
            raise InvalidOption(
                "shards are taken as they are: leave --prepare out, or prepare what they are of"
            )
        if covariance:
            raise InvalidOption("shards are rows of samples, never a covariance: leave --covariance out")
        return _with_notes(Shards(source))
    if is_sample:
        return data.prepare(_as_covariance(data.load_sample(source), covariance), *names)
    if not path.is_file() and not path.is_dir():
        raise InvalidOption(
            f"a file, a folder of shards or one of the samples {', '.join(data.SAMPLES)} is required, got "
            f"{source!r}, which is none"
        )
    read = data.read_text if args.text else data.read
    found = _with_notes(read(source, **reading))
    return data.prepare(_as_covariance(found, covariance), *names)


def reading_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `nspca.read`, or of `nspca.read_text`, that are given.

    Raises
    ------
    InvalidOption
        For options of the other of the two.
    """
    given: dict[str, Any] = {}
    for option, word in (READING | COUNTING).items():
        value = getattr(args, option[2:].replace("-", "_"))
        if value is None or value is False:
            continue
        if option in COUNTING and not args.text:
            raise InvalidOption(f"{option} is about counting the words of texts: add --text, or leave it out")
        if args.text and option not in COUNTING and option not in OF_TEXTS:
            raise InvalidOption(f"{option} is about tables of numbers: leave it out with --text")
        given[word] = "tfidf" if option == "--tfidf" else value
    return given


def _with_notes(dataset: Any) -> Any:
    """Print the notes of a data set and return it."""
    from nspca.data.options import as_flag

    findings = getattr(dataset, "findings", None)
    say_notes(dataset.notes if findings is None else [one.say(as_flag) for one in findings])
    return dataset


def _as_covariance(dataset: "Dataset", covariance: bool) -> "Dataset":
    """Return a data set, marked as a covariance if requested."""
    return replace(dataset, is_covariance=True, labels=None) if covariance else dataset


def make_problem(
    args: argparse.Namespace, dataset: "Source", k: int | tuple[int, ...], client: Any = None
) -> "Problem":
    """Return the problem of a data set that the options describe.

    Workers of a Dask client read shards if there is a client.
    """
    from nspca import Problem
    from nspca.data.suspicions import covariance_suggestion
    from nspca.shards import Shards

    how: dict[str, Any] = {"k": k, "nonneg": not args.signed}
    how["forced"] = forced_features(dataset, args.forced)
    if dataset.is_covariance:
        if args.scale or not args.center:
            raise InvalidOption("a covariance is taken as it is: leave --scale and --no-center out")
        return Problem.from_covariance(dataset, **how, repair=args.repair)
    if args.repair:
        raise InvalidOption(
            "--repair is for a covariance, got a table of samples: add --covariance or leave it out"
        )
    how |= {"center": args.center, "scale": args.scale}
    if isinstance(dataset, Shards):
        return Problem.from_shards(dataset, **how, client=client, report=progress())
    suggested, seen = covariance_suggestion(dataset.X)
    if suggested:
        clear()
        complain(f"nspca: {seen} Add --covariance to take it as one.")
    return Problem.from_data(dataset, **how, report=progress())


def forced_features(dataset: "Source", text: str) -> tuple[int, ...]:
    """Return the numbers of the features in a text of names or numbers with commas between.

    A number that is also the name of a feature is taken as the name. An empty text has no features.
    """

    def is_number(part: str) -> bool:
        return part.isdecimal() and len(part) < 10 and part not in dataset.feature_names

    parts = [int(part) if is_number(part) else part for part in text.split(",")]
    return tuple(dataset.numbers(parts).tolist()) if text else ()
