"""``python -m nspca``: solve, sweep, verify, shard, plan, samples, papers, backup, restore, app; thin over
the public API.

Each command imports what it needs when it runs, so that ``--help`` is there at once. Exit status: 0 done, 1 a
certificate was refused, 2 a request that cannot be met (one sentence on stderr), 130 interrupted.
"""

import argparse
import errno
import json
import os
import socket
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nspca.errors import CertificateError, InvalidOption, NSPCAError
from nspca.progress import Event

WILDCARDS = ("0.0.0.0", "::")
MOST_SIZES = 10_000
HERE = Path(__file__).resolve().parent


def say(line: str = "") -> None:
    sys.stdout.write(line + "\n")


# what the commands share


@dataclass(frozen=True)
class OnDisk:
    """A folder of shards in the place of a data set: what is asked of one, besides its numbers."""

    X: Any
    source = "user"
    is_covariance = False
    prepared: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.X.name

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        return self.X.feature_names

    def numbers(self, features: Sequence[int | str]) -> Any:
        """Features by number or by name, as numbers in increasing order."""
        import numpy as np

        place = {name: j for j, name in enumerate(self.feature_names)}
        found = [place.get(one, -1) if isinstance(one, str) else one for one in features]
        if not all(0 <= j < len(place) for j in found):
            raise InvalidOption(
                f"features are given by name or by a number from 0 to {len(place) - 1}, got {features}"
            )
        return np.array(sorted({*found}))


def read_dataset(source: str, steps: str = ""):
    """A sample by name, a folder of shards, or else a file; prepared by the steps that are named."""
    from nspca import data

    names = [name for name in steps.split(",") if name]
    if Path(source).is_dir() and source not in data.SAMPLES:
        from nspca.shards import Shards

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


def make_problem(args: argparse.Namespace, k: int | tuple[int, ...], client=None):
    """The problem the options describe, and the data set it is about; shards are read by the workers of a
    Dask client where there is one.
    """
    import nspca

    dataset = read_dataset(args.source, args.prepare)
    how: dict[str, Any] = {"k": k, "nonneg": not args.signed}
    how["forced"] = forced_features(dataset, args.forced)
    if dataset.is_covariance:
        return nspca.Problem.from_covariance(dataset.X, **how), dataset
    how |= {"center": args.center, "scale": args.scale}
    if isinstance(dataset, OnDisk):
        return nspca.Problem.from_shards(dataset.X, **how, client=client, report=progress_hook()), dataset
    return nspca.Problem.from_data(dataset.X, **how), dataset


def forced_features(dataset, text: str) -> tuple[int, ...]:
    """Features with commas between, by name, or by a number that is no name; none for an empty text."""
    number = lambda part: part.isdecimal() and len(part) < 10 and part not in dataset.feature_names  # noqa: E731
    parts = [int(part) if number(part) else part for part in text.split(",")]
    return tuple(dataset.numbers(parts).tolist()) if text else ()


def described(dataset, result, known=None, number: int = 0) -> list[dict[str, Any]]:
    """The features of a component with their weights, largest first, and what is known of each."""
    component = result.components[:, number]
    support = sorted((i for i in range(len(component)) if component[i]), key=lambda i: -abs(component[i]))
    features = []
    for i in support:
        feature = {"name": dataset.feature_names[i], "weight": float(component[i])}
        if known is not None:
            least, most = known.cost_without[i]
            feature |= {"place": known.places[i].value, "costs_at_least": least, "costs_at_most": most}
        features.append(feature)
    return features


def summary(dataset, problem, result, certificate) -> dict[str, Any]:
    """What JSON says of an answer besides its features."""
    return {
        "source": dataset.source,
        "name": dataset.name,
        "prepared": list(dataset.prepared),
        "method": result.method,
        "k": list(problem.k) if problem.joint else problem.k,
        "nonneg": problem.nonneg,
        "forced": [dataset.feature_names[j] for j in problem.forced],
        "of": certificate.source,
        "center": certificate.center,
        "scale": certificate.scale,
        "value": result.value,
        "upper": certificate.upper,
        "ratio": certificate.ratio(result.value),
        "kind": certificate.kind,
        "proved": certificate.statement,
        "status": result.status.name,
        "seconds": result.seconds,
    }


def listed(features: list[dict[str, Any]]) -> list[str]:
    """A line for each feature."""
    width = max((len(feature["name"]) for feature in features if "place" in feature), default=0)
    return [
        f"  {feature['weight']:+.4f}  {feature['name']:<{width}}  {feature.get('place', '')}".rstrip()
        for feature in features
    ]


def check_folder(path: str | None) -> None:
    """Refuse a file that could not be written before the work is done, not after."""
    if path and not Path(path).absolute().parent.is_dir():
        raise InvalidOption(f"a folder that exists is required for {path}: make it first or choose another")


def show_progress(event: Event) -> None:
    """One line on the terminal, rewritten in place."""
    count = f" {event.done}/{event.total}" if event.total else ""
    at = "" if event.k is None else f", k = {event.k}"
    sys.stderr.write(f"\r\033[K{event.stage}{count}{at} {event.message}"[:110])
    sys.stderr.flush()


def progress_hook():
    """`show_progress` where a person watches, silence in a pipe."""
    from nspca.progress import silent

    return show_progress if sys.stderr.isatty() else silent


def clear_progress() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")


def floor_percent(ratio: float) -> str:
    """Percent with one decimal, rounded down: a guarantee must not grow in print."""
    return f"{int(ratio * 1000) / 10:.1f} %"


# commands


def solve(args: argparse.Namespace) -> int:
    check_folder(args.certificate)
    if args.workers is None and args.scheduler is None:
        return solved(args)
    if not Path(args.source).is_dir():
        raise InvalidOption(
            f"workers read a folder of shards, got {args.source}: make one with `python -m nspca shard`, or "
            "leave --workers and --scheduler out"
        )
    from nspca.jobs.readers import readers

    with readers(args.workers, args.scheduler) as client:
        return solved(args, client)


def solved(args: argparse.Namespace, client=None) -> int:
    import nspca

    joint = args.components is not None
    problem, dataset = make_problem(args, (args.k,) * args.components if joint else args.k, client)
    if joint and args.within is not None:
        raise InvalidOption("--within is about one component: leave --components out")
    result = nspca.solve(
        problem, method=args.method, seed=args.seed, certify=args.effort, report=progress_hook()
    )
    certificate = result.certificate
    assert certificate is not None  # every effort of the command line asks for one
    known = None
    if args.within is not None:
        known = nspca.membership(problem, result, share=args.within / 100, report=progress_hook())
        certificate = known.certificate  # the same kind of bound, and one for every feature
    clear_progress()
    if args.certificate:
        certificate.of_prepared(dataset.prepared).save(args.certificate)
    ratio = certificate.ratio(result.value)
    found = [described(dataset, result, known, j) for j in range(result.components.shape[1])]
    if args.json:
        told = {"components": found} if joint else {"features": found[0]}
        say(json.dumps(summary(dataset, problem, result, certificate) | told, indent=2))
        return 0
    proved = f"at least {floor_percent(ratio)} of the best possible, proved ({certificate.kind})"
    say(f"{dataset.name}: value {result.value:.6g}, {proved}")
    say(certificate.rounded(6).statement)
    for number, features in enumerate(found, 1):
        if joint:
            say(f"component {number}: {result.values[number - 1]:.6g}")
        for line in listed(features):
            say(line)
    if known is not None:
        others = sum(place is nspca.Place.NONE for place in known.places)
        say(f"in every, in none ({others} features): of all answers within {args.within:g} % of the optimum")
    if args.certificate:
        say(f"certificate: {args.certificate}")
    return 0


def sweep(args: argparse.Namespace) -> int:
    import nspca
    from nspca.certificate import rounded_up

    check_folder(args.csv)
    problem, _ = make_problem(args, args.k[0])
    frame = nspca.sweep(
        problem,
        args.k,
        methods=tuple(args.method),
        certify=args.effort,
        report=progress_hook(),
        seed=args.seed,
    ).frame
    clear_progress()
    if args.csv:
        frame.to_csv(args.csv, index=False)
        say(f"{len(frame)} rows: {args.csv}")
    else:
        bounds = {
            "upper": lambda bound: f"{rounded_up(bound, 6):.6g}",
            "ratio": lambda ratio: f"{int(ratio * 10000) / 10000:.4f}",
        }
        say(frame.to_string(index=False, formatters=bounds))
    return 0


def verify(args: argparse.Namespace) -> int:
    import nspca

    asked = {name: getattr(args, name) for name in ("k", "nonneg", "center", "scale")}
    try:
        certificate = nspca.Certificate.load(args.certificate)
        dataset = read_dataset(args.data, args.prepare)
        if not dataset.prepared and not isinstance(dataset, OnDisk):  # shards are of what was prepared
            dataset = nspca.prepare(dataset, *certificate.prepared)
        asked["source"] = "covariance" if dataset.is_covariance else "data"
        asked["forced"] = None if args.forced is None else forced_features(dataset, args.forced)
        upper = nspca.verify(dataset.X, certificate, **asked)
    except CertificateError as error:
        sys.stderr.write(f"refused: {error}\n")
        return 1
    say(f"proved: {replace(certificate, upper=upper, prepared=dataset.prepared).statement}")
    if certificate.of_features:
        say("proved: its bounds on what answers with a feature, and without it, explain, for every feature")
    return 0


def shard(args: argparse.Namespace) -> int:
    from nspca.shards.sources import MEGABYTES, shard

    how = {"rows": args.rows, "megabytes": args.megabytes or MEGABYTES, "vocabulary": args.vocabulary}
    made = shard(args.source, args.folder, **how, report=progress_hook())
    clear_progress()
    rows, columns = made.shape
    many = len(made.manifest.shards)
    say(f"{made.folder}: {rows} x {columns}, {made.nonzeros} nonzeros in {many} shard{'s' * (many > 1)}")
    return 0


def plan(args: argparse.Namespace) -> int:
    from nspca import Problem, data
    from nspca.planning import plan

    source: Any = args.source
    if source in data.SAMPLES:
        dataset = data.load_sample(source)
        made = Problem.from_covariance if dataset.is_covariance else Problem.from_data
        source = made(dataset.X, (args.k,) * args.components if args.components > 1 else args.k)
    say(str(plan(source, args.k, args.components, args.effort)))
    return 0


def samples(args: argparse.Namespace) -> int:
    from nspca import data

    for name, sample in data.SAMPLES.items():
        shape = " x ".join(map(str, sample.shape)) if sample.shape else ""
        say(f"{name:<12} {shape:<14} {sample.title}: {sample.summary} [{sample.licence}]")
    return 0


def papers(args: argparse.Namespace) -> int:
    from nspca import papers
    from nspca.papers import report

    check_folder(args.html)
    names = args.items or list(papers.ITEMS)
    items = [papers.known(name) for name in names]
    outcomes = {}
    for item in items:
        outcome = papers.stored(item.name) if args.stored else papers.reproduce(item.name, progress_hook())
        clear_progress()
        say(f"{item.name}: {item.title}" + (f" ({outcome.seconds:.1f} s)" if outcome else ""))
        for line in report.lines(item, outcome):
            say(f"  {line}")
        if outcome is not None:
            outcomes[item.name] = outcome
    say(report.counted(outcomes))
    if args.html:
        Path(args.html).write_bytes(report.html(outcomes))
        say(f"report: {args.html}")
    return 0


def app(args: argparse.Namespace) -> int:
    check_port(args.address, args.port)
    host = outward_address() if args.address in WILDCARDS else args.address
    url = f"http://{f'[{host}]' if ':' in host else host}:{args.port}"
    command = streamlit_command(args.address, args.port, host)
    say(
        f"nspca: {url}"
        + (" is the address to give out" if args.address in WILDCARDS else "")
        + "  (Ctrl+C stops it)"
    )
    if args.address in WILDCARDS:
        door = (
            "with the password"
            if os.environ.get("NSPCA_PASSWORD")
            else "without a password (set NSPCA_PASSWORD)"
        )
        say(f"nspca: anyone on this network can use it {door}, and what is sent is not encrypted (no TLS)")
    sys.stdout.flush()
    if os.name == "nt":
        return subprocess.call(command)
    # The server takes this process's place, so that a signal meant for it needs no forwarding.
    os.execv(command[0], command)


def backup(args: argparse.Namespace) -> int:
    from nspca.jobs.backup import backup as write

    say(f"nspca: {args.file}, {write(args.file) / 1e6:.1f} MB")
    return 0


def restore(args: argparse.Namespace) -> int:
    from nspca.jobs.backup import restore as put_back

    before = put_back(args.file)
    say("nspca: restored" + (f"; what was there before is in {before}" if before else ""))
    return 0


# starting the dashboard


def app_folder() -> Path:
    """Where app.py is: inside the installed package, or at the top of the tree."""
    for folder in (HERE / "_app", HERE.parent):
        if (folder / "app.py").is_file():
            return folder
    raise InvalidOption(
        f"the dashboard's app.py is required beside or inside {HERE}, and is not there: install nspca again"
    )


def configuration(folder: Path) -> dict[str, object]:
    """The options of ``.streamlit/config.toml`` under their dotted names."""

    def flatten(table: dict, prefix: str = "") -> dict[str, object]:
        flat: dict[str, object] = {}
        for key, value in table.items():
            flat |= flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value}
        return flat

    return flatten(tomllib.loads((folder / ".streamlit" / "config.toml").read_text(encoding="utf-8")))


def streamlit_command(address: str, port: int, host: str) -> list[str]:
    """What starts the server: the file's options as flags, which also win over STREAMLIT_... variables."""
    folder = app_folder()
    options = configuration(folder) | {"server.address": address, "server.port": port}
    if host != address:
        # Unset, Streamlit would ask an outside host for this machine's address.
        options["browser.serverAddress"] = host
    # A list has no flag; Streamlit reads it from the file, which stands beside app.py.
    flags = [
        f"--{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in options.items()
        if not isinstance(value, list)
    ]
    return [sys.executable, "-m", "nspca.dashboard.shell.serve", "run", str(folder / "app.py"), *flags]


def check_port(address: str, port: int) -> None:
    """Refuse an address that is not this machine's and a port that is taken, before anything is started."""
    try:
        places = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise InvalidOption(
            f"an address of this machine is required, got {address!r}: {error.strerror}"
        ) from error
    for family, kind, protocol, _, place in places:
        with socket.socket(family, kind, protocol) as probe:
            if os.name != "nt":
                # A port whose last connection has just closed counts as free, as it does for the server.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(place)
            except PermissionError as error:
                raise InvalidOption(
                    f"port {port} needs more rights than yours: take one from 1024 up"
                ) from error
            except OSError as error:
                if error.errno != errno.EADDRNOTAVAIL:
                    way_out = f"choose another, as in `make app PORT={port % 65535 + 1}`"
                    raise InvalidOption(
                        f"port {port} on {address} is not free ({error.strerror}): {way_out}"
                    ) from error
                if (
                    len(places) == 1
                ):  # a name like localhost may also stand for an IPv6 address this machine does not have
                    raise InvalidOption(f"an address of this machine is required, got {address!r}") from error


def outward_address() -> str:
    """The address by which other machines reach this one; choosing a route sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # a documentation address (RFC 5737)
            return probe.getsockname()[0]
        except OSError:
            return socket.gethostname()


# the command line


def sizes(text: str) -> list[int]:
    """``5:50:5`` (both ends included) or ``5,10,20`` as a list of k."""
    try:
        if ":" in text:
            first, last, *step = map(int, text.split(":"))
            ks = list(range(first, last + 1, *step)[: MOST_SIZES + 1])
        else:
            ks = [int(part) for part in text.split(",")]
    except (ValueError, TypeError, OverflowError):
        ks = []
    if not 1 <= len(ks) <= MOST_SIZES or min(ks) < 1:
        raise argparse.ArgumentTypeError(
            f"sizes like 5:50:5 or 5,10,20, all at least 1 and at most {MOST_SIZES} of them, are required, "
            f"got {text!r}"
        )
    return ks


def count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:10]) <= 10**6:
        raise argparse.ArgumentTypeError(f"a whole number from 1 up is required, got {text!r}")
    return int(text)


def percent(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 100:
        raise argparse.ArgumentTypeError(f"per cent above 0 and at most 100 are required, got {text!r}")
    return share


def port_number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError(f"a port from 1 to 65535 is required, got {text!r}")
    return int(text)


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="python -m nspca", description="Sparse and nonnegative sparse PCA with certificates."
    )
    commands = top.add_subparsers(
        dest="command", required=True, metavar="{solve,sweep,verify,shard,samples,papers,app}"
    )

    prepared = argparse.ArgumentParser(add_help=False)
    prepared.add_argument(
        "--prepare",
        default="",
        metavar="STEP,...",
        help="what is done to the data first, in order: lee-seung, equalised, log2, off-first, "
        "with-header; `verify` does what the certificate says when nothing is named",
    )
    problem = argparse.ArgumentParser(add_help=False, parents=[prepared])
    problem.add_argument(
        "source", metavar="SOURCE", help="a sample's name (see `samples`), a data file or a folder of shards"
    )
    problem.add_argument("--signed", action="store_true", help="allow negative weights")
    problem.add_argument(
        "--no-center", dest="center", action="store_false", help="do not subtract the column means"
    )
    problem.add_argument("--scale", action="store_true", help="divide every column by its standard deviation")
    problem.add_argument(
        "--forced",
        default="",
        metavar="FEATURE,...",
        help="features that may be used freely and count among the k: names, or numbers from 0",
    )
    problem.add_argument("--seed", type=int, default=0, help="seed of everything random (default 0)")
    problem.add_argument(
        "--effort",
        choices=("fast", "standard", "thorough"),
        default="fast",
        help="work spent on the bound (default fast)",
    )

    command = commands.add_parser(
        "solve", parents=[problem], help="one component, or several, and a certificate"
    )
    command.add_argument("--k", type=int, required=True, help="largest number of features in a component")
    command.add_argument(
        "--components",
        type=count,
        metavar="R",
        help="so many components that share no feature, found together, with one certificate",
    )
    command.add_argument("--method", default="auto", help="a name of nspca.METHODS (default auto)")
    command.add_argument("--certificate", metavar="FILE.npz", help="save the certificate")
    command.add_argument(
        "--within",
        type=percent,
        metavar="PERCENT",
        help="say which features are proved to be in every answer within so many per cent of the optimum; "
        "the certificate then proves that too",
    )
    command.add_argument("--json", action="store_true", help="print JSON instead of text")
    where = command.add_mutually_exclusive_group()
    where.add_argument(
        "--workers",
        type=count,
        metavar="N",
        help="so many processes of this machine read a folder of shards together; the result is the same",
    )
    where.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="the workers of this Dask scheduler do, where the folder is at the same path",
    )
    command.set_defaults(run=solve)

    command = commands.add_parser("sweep", parents=[problem], help="value and bound for many k")
    command.add_argument(
        "--k",
        type=sizes,
        required=True,
        metavar="FIRST:LAST:STEP",
        help="sizes, both ends included, or 5,10,20",
    )
    command.add_argument(
        "--method", action="append", help="a name of nspca.METHODS, may be repeated (default auto)"
    )
    command.add_argument("--csv", metavar="FILE.csv", help="write the table to a file instead of the screen")
    command.set_defaults(run=sweep)

    command = commands.add_parser("verify", parents=[prepared], help="check a certificate against the data")
    command.add_argument("data", metavar="DATA", help="the sample, file or folder of shards it is about")
    command.add_argument(
        "certificate", metavar="CERTIFICATE", help="the file that `solve --certificate` wrote"
    )
    command.add_argument("--k", type=int, help="refuse a certificate about another number of features")
    command.add_argument(
        "--forced",
        metavar="FEATURE,...",
        help="refuse one about other features that must be in; an empty text for none",
    )
    command.add_argument(
        "--signed",
        dest="nonneg",
        action="store_const",
        const=False,
        help="refuse one about nonnegative components",
    )
    command.add_argument(
        "--nonneg",
        dest="nonneg",
        action="store_const",
        const=True,
        help="refuse one about components of any sign",
    )
    command.add_argument(
        "--center",
        action=argparse.BooleanOptionalAction,
        help="refuse one about data that are not centred, or are",
    )
    command.add_argument(
        "--scale",
        action=argparse.BooleanOptionalAction,
        help="refuse one about data that are not scaled, or are",
    )
    command.set_defaults(run=verify)

    command = commands.add_parser(
        "shard",
        help="cut a file that need not fit into memory into a folder that solve and verify read in passes",
    )
    command.add_argument(
        "source",
        metavar="SOURCE",
        help="a docword, Matrix Market (both also gzipped), Parquet, CSV or sparse NPZ file",
    )
    command.add_argument("folder", metavar="FOLDER", help="a new folder")
    size = command.add_mutually_exclusive_group()
    size.add_argument("--rows", type=count, metavar="N", help="rows of a shard")
    size.add_argument("--megabytes", type=count, metavar="N", help="about the size of a shard (default 32)")
    command.add_argument(
        "--vocabulary",
        metavar="FILE",
        help="the words of a docword file (vocab.x.txt beside docword.x.txt is found)",
    )
    command.set_defaults(run=shard)

    command = commands.add_parser("plan", help="what solving will take: memory, passes, seconds")
    command.add_argument(
        "source", metavar="SOURCE", help="a sample, a file or a folder of shards; its header is read"
    )
    command.add_argument("--k", type=count, default=10, help="features in a component (default 10)")
    command.add_argument(
        "--components", type=count, default=1, help="how many are found together (default 1)"
    )
    command.add_argument(
        "--effort",
        default="fast",
        choices=("fast", "standard", "thorough"),
        help="of the certificate (default fast)",
    )
    command.set_defaults(run=plan)

    commands.add_parser("samples", help="the data sets known by name").set_defaults(run=samples)

    command = commands.add_parser(
        "papers", help="every figure and table of the four papers, printed beside computed"
    )
    command.add_argument(
        "items",
        nargs="*",
        metavar="ITEM",
        help="such as asteris2014-figure-4 (all of them when none is named)",
    )
    command.add_argument(
        "--stored", action="store_true", help="what came with the project, instead of computing it here"
    )
    command.add_argument(
        "--html", nargs="?", const="papers.html", metavar="FILE", help="write all of it as one report"
    )
    command.set_defaults(run=papers)

    command = commands.add_parser(
        "backup", help="copy runs, results and uploads to one file, also while in use"
    )
    command.add_argument("file", metavar="FILE")
    command.set_defaults(run=backup)

    command = commands.add_parser(
        "restore", help="put such a copy in their place; what was there is kept beside"
    )
    command.add_argument("file", metavar="FILE")
    command.set_defaults(run=restore)

    command = commands.add_parser("app", help="start the dashboard")
    command.add_argument(
        "--address",
        default="localhost",
        help="where to listen (default localhost; 0.0.0.0 shares it with the network)",
    )
    command.add_argument("--port", type=port_number, default=8501, help="default 8501")
    command.set_defaults(run=app)
    return top


def main(arguments: list[str] | None = None) -> int:
    args = parser().parse_args(arguments)
    if args.command == "sweep" and not args.method:
        args.method = ["auto"]
    try:
        return args.run(args)
    except (NSPCAError, OSError) as error:
        clear_progress()
        sys.stderr.write(f"nspca: {error}\n")
        return 2
    except KeyboardInterrupt:
        clear_progress()
        sys.stderr.write("nspca: stopped\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
