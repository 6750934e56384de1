"""What benchmarks share: arguments, lines, peaks of memory, and tables that pages of docs/ hold."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"


def arguments(description: str) -> argparse.ArgumentParser:
    """Return a parser whose help is the description of a module as it stands."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def say(*columns: object) -> None:
    """Print columns at once, with two blanks between."""
    sys.stdout.write("  ".join(map(str, columns)) + "\n")
    sys.stdout.flush()


def peak() -> float:
    """Return the peak memory of this process in GB; `getrusage` would include the parent process."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().split("VmHWM:")[1].split()[0]) / 2**20
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def row(cells: Sequence[object]) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |"


def head(columns: Sequence[str]) -> str:
    """Return the two first lines of a Markdown table."""
    return f"{row(columns)}\n|{'---|' * len(columns)}"


def store(page: str, name: str, table: str) -> None:
    """Put a table between the marks of a benchmark on a page of docs/."""
    path = DOCS / page
    begin, end = f"<!-- made by benchmarks.{name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = path.read_text("utf-8").partition(begin)
    path.write_text(f"{before}{begin}{table}\n{end}{rest.partition(end)[2]}", encoding="utf-8")
