"""Commands `samples` and `fetch`: data sets known by name, and the download of those not shipped."""

import argparse
from pathlib import Path

from nspca.cli.arguments import argument, command, meant, output
from nspca.cli.screen import clear, complain, progress, say, say_json
from nspca.errors import DownloadError, InvalidOption


@command(output("json"), examples=["samples"])
def samples(args: argparse.Namespace) -> int:
    """The data sets known by name."""
    from nspca import data

    if args.json:
        known = ("title", "summary", "kind", "shape", "licence", "relative")
        say_json(
            [
                {"name": name, "absent": data.is_absent(name)} | {one: getattr(sample, one) for one in known}
                for name, sample in data.SAMPLES.items()
            ]
        )
        return 0
    for name, sample in data.SAMPLES.items():
        shape = " x ".join(map(str, sample.shape)) if sample.shape else ""
        missing = f" (until it is fetched: {sample.relative})" * data.is_absent(name)
        missing += " (needs pip install 'nspca[samples]')" * (not data.is_installed(name))
        say(f"{name:<18} {shape:<14} {sample.title}: {sample.summary} [{sample.licence}]{missing}")
    return 0


@command(
    argument(
        "names", nargs="*", metavar="NAME", help="such as lrs (all that can be downloaded when none is named)"
    ),
    argument("--to", metavar="FOLDER", help="keep them there, for NSPCA_DATA, and not in your cache folder"),
    argument(
        "--copy",
        metavar="FILE",
        help="take this copy, a file, ZIP or folder, instead of downloading: of one NAME",
    ),
    examples=["fetch", "fetch lrs bow-kos --to originals", "fetch cbcl --copy faces.zip"],
)
def fetch(args: argparse.Namespace) -> int:
    """Get the data sets of the papers, which are not shipped.

    Until then a smaller real data set of the same kind is shown in their place. Where there is an address
    they are downloaded, checked by shape, and kept. A note says so when the values add up to another sum.
    """
    # A failure is a sentence and the exit status 2, and the other data sets are still fetched.
    from nspca import data

    wanted = args.names or [name for name, sample in data.SAMPLES.items() if sample.downloadable]
    unknown = next((name for name in wanted if name not in data.SAMPLES), None)
    if unknown is not None:
        raise InvalidOption(
            f"a name that `samples` lists is required, got {unknown!r}{meant(unknown, data.SAMPLES)}"
        )
    if args.copy is not None and len(args.names) != 1:
        raise InvalidOption(f"--copy is of one data set, got {len(args.names)} names: name the one it is of")
    folder = None if args.to is None else Path(args.to)
    missing = 0
    for name in wanted:
        try:
            if args.copy is None:
                got = data.fetch_sample(name, progress(), folder=folder)
            else:
                got = data.adopt_copy(name, args.copy, folder=folder)
        except DownloadError as error:
            clear()
            complain(f"nspca: {error} `fetch {name} --copy FILE` takes it.")
            missing += 1
            continue
        clear()
        m, n = got.X.shape
        say(f"{name}: {m} x {n}, kept in {data.kept_path(name, folder)}")
        for note in got.notes:
            say(f"  {note}")
    if folder is not None and missing < len(wanted):
        say(f"set NSPCA_DATA={folder} and it is used")
    return 2 if missing else 0
