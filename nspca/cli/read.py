"""Command `read`: what reading a file gives, without solving anything."""

import argparse
from typing import TYPE_CHECKING, Any

from nspca.cli.arguments import OF_DATA, argument, command, output
from nspca.cli.screen import say, say_json
from nspca.cli.sources import check_strict, read_file
from nspca.errors import InvalidOption

if TYPE_CHECKING:
    from nspca.data import Dataset

LISTED = 8
"""Maximum names that are printed."""


@command(
    argument("source", metavar="FILE", help="a data file, or a folder of images or texts"),
    *OF_DATA,
    output("json"),
    examples=["read measurements.csv", "read proteinGroups.txt --columns 'LFQ intensity *' --json"],
)
def read(args: argparse.Namespace) -> int:
    """What a file holds and how it is read: shape, names, decisions and suspicions.

    Nothing is solved. Every line about a decision names the option that turns it.
    """
    import numpy as np

    from nspca.data import Dataset
    from nspca.data.options import as_flag
    from nspca.data.suspicions import scaling_suggestion

    found, spec = read_file(args.source, args)
    if not isinstance(found, Dataset):
        raise InvalidOption(f"a file is required, got the folder of shards {args.source}; name its source")
    data = spec.changed(found)
    assert isinstance(data, Dataset)
    if args.json:
        say_json(outline(data))
    else:
        m, n = data.X.shape
        say(f"{data.name}: {m:,} samples x {n:,} features")
        say(f"features: {_some(data.feature_names)}")
        say(f"samples: {_some(data.sample_names)}")
        for name, labels in data.label_columns.items():
            here = " (in use)" if name == data.label_name else ""
            say(f"labels: {name}{here}, {len(set(labels.tolist())):,} values")
        for one in data.findings:
            say(f"{'suspected' if one.is_suspicion else 'found'}: {one.say(as_flag)}")
        measured = data.kind == "table" and not data.is_covariance and isinstance(data.X, np.ndarray)
        with np.errstate(all="ignore"):  # squares of extreme numbers are infinite
            said = scaling_suggestion(data.X.std(axis=0)) if measured else ""
        if said:
            say(f"found: {said} To turn this: solve --scale, or for counts --prepare log2.")
        used = ", ".join(f"{name}={value!r}" for name, value in data.options.items())
        say(f"options: {used or 'none'}")
    check_strict(data.findings, args)
    return 0


def outline(data: "Dataset") -> dict[str, Any]:
    """Return the JSON of a data set: its size, its first names, and what reading decided."""
    m, n = data.X.shape
    return {
        "name": data.name,
        "kind": data.kind,
        "samples": m,
        "features": n,
        "feature_names": list(data.feature_names[:LISTED]),
        "sample_names": list(data.sample_names[:LISTED]),
        "labels": data.label_name,
        "label_columns": list(data.label_columns),
        "findings": [one.to_dict() for one in data.findings],
        "options": dict(data.options),
    }


def _some(names: Any) -> str:
    return ", ".join(map(str, names[:LISTED])) + (", ..." if len(names) > LISTED else "")
