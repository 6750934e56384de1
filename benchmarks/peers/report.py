"""Format a race of packages: lines for a terminal, and the tables of docs/."""

import csv
import io
from itertools import groupby
from pathlib import Path

from benchmarks.peers.scoring import SAME, floored, seconds, verdict
from nspca.presentation.numerals import OPTIMAL_GAP

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs" / "tables" / "peers.csv"
LINE = "{:<15}{:>4}  {:<12}{:<19}{:>13}  {:>9}  {:>8}  {:>8}  {:>7}  {:>8}  {}"
NOWHERE = "one of ours is faster than every peer, at its value or a better one"
HEAD = LINE.format("table", "k", "sign", "name", "value", "of best", "cpu", "wall", "MB", "proved", "")


def sign(row: dict) -> str:
    return "nonnegative" if row["nonneg"] else "any"


def line(row: dict, best: float) -> str:
    """Return a row for a terminal; `best` is the largest value of its problem."""
    start = (row["table"], row["k"], sign(row), row["name"])
    if row["value"] is None:
        return LINE.format(*start, "-", "", "", "", "", "", row["note"])
    proved = "" if row["proved"] is None else percent(row["proved"])
    memory = f"{row['memory']:.0f}"
    share = floored(row["value"] / best)
    times = (seconds(row["cpu"]), seconds(row["wall"]))
    return LINE.format(*start, f"{row['value']:.8g}", share, *times, memory, proved, "").rstrip()


def percent(share: float) -> str:
    """Return a proved share as text; only a closed gap is called optimal."""
    return "optimal" if share > 1 - OPTIMAL_GAP else floored(min(share, 1 - 2 * SAME))


def problems(rows: list[dict]) -> list[list[dict]]:
    """Return the rows grouped by problem: one table, k and sign."""
    return [list(group) for _, group in groupby(rows, lambda row: (row["table"], row["k"], row["nonneg"]))]


def best_of(rows: list[dict]) -> float:
    return max((row["value"] for row in rows if row["value"]), default=0.0)


def text(rows: list[dict]) -> str:
    """Return the lines of some problems, and below each the share that was lost in it."""
    lines = []
    for group in problems(rows):
        lines += [line(row, best_of(group)) for row in group]
        lines += [f"{'':15}{said}" for said in verdict(group) or [NOWHERE]]
    return "\n".join(lines)


def markdown(race: dict) -> str:
    """Return a Markdown table: for each problem the best peer, `auto`, and where a peer wins; then notes."""
    rows = race["rows"]
    lines = [heading(race), "", "| table | k | sign | best other package | auto | auto, proved | we lose |"]
    lines.append("|---" * 7 + "|")
    for group in problems(rows):
        best = best_of(group)
        peers = [row for row in group if not row["ours"] and row["value"]]
        peer = max(peers, key=lambda row: (round(row["value"] / best, 6), -row["cpu"]))
        by_name = {row["name"]: cell(row, best) for row in group}
        lost = ", ".join(phrase.split(":")[0] for phrase in verdict(group))
        cells = (f"{peer['name']}: {by_name[peer['name']]}", by_name["auto"], by_name["auto, proved"], lost)
        lines.append("| " + " | ".join([*problem_of(group), *cells]) + " |")
    return "\n".join([*lines, "", *footnotes(rows)])


def spreadsheet(race: dict) -> str:
    """Return a race as CSV: a line for each problem, and a column for each package."""
    rows = race["rows"]
    names = list(dict.fromkeys(row["name"] for row in rows))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["table", "k", "sign", *names, "where we lose"])
    for group in problems(rows):
        by_name, best = {row["name"]: row for row in group}, best_of(group)
        cells = [cell(by_name.get(name), best) for name in names]
        writer.writerow([*problem_of(group), *cells, "; ".join(verdict(group)) or "nowhere"])
    return text.getvalue()


def problem_of(group: list[dict]) -> tuple[str, str, str]:
    """Return the first three cells of a row: table, k and sign."""
    first = group[0]
    title = first["table"] + (" (its relative)" if first["source"] == "relative" else "")
    return title, str(first["k"]), sign(first)


def cell(row: dict | None, best: float) -> str:
    """Return the share of the best value, the proved share where there is one, and CPU seconds."""
    if row is None or row["value"] is None:
        return "-"
    share = floored(row["value"] / best)
    if row["proved"] is not None:
        share += f", proved {percent(row['proved'])}"
    return f"{share}, {seconds(row['cpu'])}"


def heading(race: dict) -> str:
    """Return a sentence or two on the machine and the versions of a race."""
    versions = ", ".join(f"{name} {version}" for name, version in race["versions"].items())
    busy = "" if race["load"] < 0.5 else f", other work beside (load {race['load']:.1f} at the start)"
    threads = "one thread" if race["threads"] == 1 else f"{race['threads']} threads"
    return (
        f"{versions}; {race['machine']}, {threads}{busy}. Share of the best value, and CPU seconds: least of "
        f"{race['rounds']} runs taken in turn, one where a run takes more than 4 s."
    )


def footnotes(rows: list[dict]) -> list[str]:
    """Return notes on missing answers, and on the memory."""
    notes: dict[str, list[str]] = {}
    for row in rows:
        if row["value"] is None:
            notes.setdefault(f"{row['name']}: {row['note']}", []).append(row["table"])
    everywhere = {row["table"] for row in rows}
    said = [
        note + ("" if {*where} == everywhere else f" ({', '.join(dict.fromkeys(where))})")
        for note, where in notes.items()
    ]
    lines = [f"No answer from {'; '.join(said)}.", ""] if said else []
    most: dict[str, float] = {}
    for row in rows:
        if row["value"] is not None:
            most[row["name"]] = max(most.get(row["name"], 0.0), row["memory"])
    memory = ", ".join(f"{name} {size:.0f}" for name, size in most.items())
    return [*lines, f"Memory beyond the table, MB at most: {memory}."]
