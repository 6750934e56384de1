"""Commands `backup` and `restore`: copy runs, results and uploads to one file, and back."""

import argparse

from nspca.cli.arguments import Commands
from nspca.cli.screen import say


def add(commands: Commands) -> None:
    """Add the commands `backup` and `restore` and their arguments."""
    command = commands.add(
        "backup", backup, "copy runs, results and uploads to one file, also while in use", "backup monday.db"
    )
    command.add_argument("file", metavar="FILE", help="the copy")
    command = commands.add(
        "restore",
        restore,
        "put a copy made by `backup` in their place; what was there is kept beside",
        "restore monday.db",
    )
    command.add_argument("file", metavar="FILE", help="what `backup` wrote")


def backup(args: argparse.Namespace) -> int:
    """Write a copy of the store to a file, print the size of the copy, and return the exit code 0."""
    from nspca.jobs.backup import backup as write

    say(f"nspca: {args.file}, {write(args.file) / 1e6:.1f} MB")
    return 0


def restore(args: argparse.Namespace) -> int:
    """Restore the store from a copy, print where the previous store was moved, and return the exit code 0."""
    from nspca.jobs.backup import restore as put_back

    before = put_back(args.file)
    say("nspca: restored" + (f"; what was there before is in {before}" if before else ""))
    return 0
