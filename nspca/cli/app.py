"""Commands `app` and `backup`: start the dashboard, and copy what it keeps."""

import argparse
import errno
import os
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from nspca.cli.arguments import argument, command, count
from nspca.cli.screen import say
from nspca.errors import InvalidOption, needs

WILDCARDS = ("0.0.0.0", "::")
"""Addresses that stand for every network interface of this machine."""
PACKAGE = Path(__file__).resolve().parents[1]
HOSTS = "STREAMLIT_SERVER_ALLOWED_HOSTS"
"""Streamlit's own setting: names under which the server answers, separated by blanks."""
INTERNET = (socket.AF_INET, socket.AF_INET6)


@command(
    argument(
        "--address",
        default="localhost",
        help="where to listen (default localhost; 0.0.0.0 shares it with the network)",
    ),
    argument("--port", type=lambda text: count(text, 65535), default=8501, help="default 8501"),
    examples=["app", "app --address 0.0.0.0 --port 8600"],
)
def app(args: argparse.Namespace) -> int:
    """Start the dashboard.

    It listens on this computer only unless told otherwise, and prints its address.
    """
    with needs("the app"):  # refuse before an address is printed
        if find_spec("streamlit") is None:
            raise ModuleNotFoundError(name="streamlit")
    check_port(args.address, args.port)
    is_shared = args.address in WILDCARDS
    host = outward_address() if is_shared else args.address
    url = f"http://{f'[{host}]' if ':' in host else host}:{args.port}"
    server = streamlit_command(args.address, args.port, host)
    say(f"nspca: {url}{' is the address to give out' * is_shared}  (Ctrl+C stops it)")
    if is_shared:
        has_password = bool(os.environ.get("NSPCA_PASSWORD"))
        access = "with the password" if has_password else "without a password (set NSPCA_PASSWORD)"
        say(f"nspca: anyone on this network can use it {access}, and what is sent is not encrypted (no TLS)")
    sys.stdout.flush()
    if os.name == "nt":
        return subprocess.call(server)
    # The server takes this process's place, so that a signal meant for it needs no forwarding.
    os.execv(server[0], server)


def app_folder() -> Path:
    """Return the folder of app.py: inside the installed package, or at the top of the source tree."""
    for folder in (PACKAGE / "_app", PACKAGE.parent):
        if (folder / "app.py").is_file():
            return folder
    raise InvalidOption(
        f"the dashboard's app.py is required beside or inside {PACKAGE}, and is not there: install nspca "
        "again"
    )


def streamlit_command(address: str, port: int, host: str) -> list[str]:
    """Return the command that starts the server; Streamlit reads its other options beside app.py.

    The server answers under the names of this machine where it listens, and those of the environment.
    """
    flags = [f"--server.address={address}", f"--server.port={port}"]
    if host != address:
        flags.append(f"--browser.serverAddress={host}")
    names = {"localhost", "127.0.0.1", "::1", address, host}
    if address in WILDCARDS:
        from psutil import net_if_addrs  # a package of the app

        names |= {socket.gethostname(), f"{socket.gethostname()}.local"}
        names |= {one.address for found in net_if_addrs().values() for one in found if one.family in INTERNET}
    names |= {*os.environ.get(HOSTS, "").split()}
    flags += [f"--server.allowedHosts={name.partition('%')[0]}" for name in sorted(names - {*WILDCARDS})]
    return [sys.executable, "-m", "streamlit", "run", str(app_folder() / "app.py"), *flags]


def check_port(address: str, port: int) -> None:
    """Refuse an address of another machine and an occupied port, before anything is started."""
    try:
        places = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)
        family = min(place[0] for place in places)  # a name may stand for an IPv6 address that is not there
        socket.create_server((address, port), family=family).close()
    except PermissionError as error:
        raise InvalidOption(f"port {port} needs more rights than yours: take one from 1024 up") from error
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise InvalidOption(f"an address of this machine is required, got {address!r}") from error
        raise InvalidOption(
            f"port {port} on {address} is not free (it is in use): choose another, as in "
            f"`make app PORT={port % 65535 + 1}`"
        ) from error


def outward_address() -> str:
    """Return the address by which other machines reach this one; choosing a route sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # a documentation address (RFC 5737)
            return probe.getsockname()[0]
        except OSError:
            return socket.gethostname()


@command(argument("folder", metavar="FOLDER", help="the copy"), examples=["backup monday"])
def backup(args: argparse.Namespace) -> int:
    """Copy runs, results and uploads to a new folder, also while in use; NSPCA_HOME=FOLDER uses it."""
    with needs("backups of runs"):
        from nspca.jobs import backup as write

    say(f"nspca: {args.folder}, {write(args.folder) / 1e6:.1f} MB")
    return 0
