"""Command `backup`: copy runs, results and uploads."""

import argparse

from nspca.cli.arguments import Commands
from nspca.cli.screen import say
from nspca.errors import needs


def add(commands: Commands) -> None:
    """Add the command `backup` and its argument."""
    what = "copy runs, results and uploads to a new folder, also while in use; NSPCA_HOME=FOLDER uses it"
    command = commands.add("backup", backup, what, "backup monday")
    command.add_argument("folder", metavar="FOLDER", help="the copy")


def backup(args: argparse.Namespace) -> int:
    """Write a copy of the store to a folder, print its size, and return the exit code 0."""
    with needs("backups of runs"):
        from nspca.jobs import backup as write

    say(f"nspca: {args.folder}, {write(args.folder) / 1e6:.1f} MB")
    return 0
