"""Parser of all commands, and the entry point `main`.

Exit status: 0 done, 1 a certificate was refused, 2 a request that cannot be met (one sentence on standard
error), 130 interrupted.
"""

import io
import os
import sys
import warnings
from pathlib import Path

from nspca.cli import app, completion, mcp, papers, plan, proof, read, run, samples, solve, sweep
from nspca.cli.arguments import Paragraphs, Parser, meant
from nspca.cli.screen import clear, complain
from nspca.errors import InvalidData, NSPCAError

COMMANDS = (
    *(solve.solve, sweep.sweep, run.run, proof.certify, proof.verify, plan.plan, plan.shard, read.read),
    *(samples.samples, samples.fetch, papers.papers, app.app, app.backup, mcp.mcp, completion.completion),
)
"""All commands, in the order of the help."""
STATUS = """exit status:
  0  done
  1  a certificate was refused
  2  a request that cannot be met; one sentence says why
  130  interrupted

`COMMAND --help` has examples."""


def parser(called: str | None = None) -> Parser:
    """Return the parser of all commands, with the arguments of the one that is `called`; of each for None."""
    is_module = Path(sys.argv[0]).parts[-2:] == ("nspca", "__main__.py")
    top = Parser(
        prog="python -m nspca" if is_module else "nspca",
        description="Sparse and nonnegative sparse PCA with certificates: a component, and a proof of how "
        "good it is.",
        epilog=STATUS,
        formatter_class=Paragraphs,
    )
    group = top.add_subparsers(
        dest="command", required=True, metavar="COMMAND", title="commands", parser_class=Parser
    )
    for command in COMMANDS:
        command.add_to(group, top, is_called=called in (None, command.name))
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run a command and return the exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    # A script for the shell has the arguments of all commands.
    top = parser(None if words[:1] == ["completion"] else "".join(words[:1]))
    if not words:
        top.print_help()
        return 2
    known = completion.subparsers(top)
    if not words[0].startswith("-") and words[0] not in known:
        top.error(f"there is no command {words[0]!r}{meant(words[0], known)}")
    args, left = top.parse_known_args(words)
    if left:
        command = known[args.command]
        near = meant(left[0].partition("=")[0], completion.options(command))
        command.error(f"`{args.command}` does not know {left[0]!r}{near}")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for names that the terminal cannot show
    try:
        with warnings.catch_warnings():
            if not sys.warnoptions:
                warnings.simplefilter("ignore")  # of other packages, about which a person can do nothing
            status = args.run(args)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # The reader, such as `head`, has closed the pipe. Without this, Python would write to it again at
        # exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (NSPCAError, OSError) as error:
        from nspca.data.options import as_flag

        clear()
        said = error.say(as_flag) if isinstance(error, InvalidData) else str(error)
        if isinstance(error, FileNotFoundError) and error.filename:
            said = f"There is no file {error.filename}: check the path."
        complain(f"nspca: {said}")
        return 2
    except KeyboardInterrupt:
        clear()
        complain("nspca: stopped")
        return 130
