"""Put small faults into a copy of the tree, one at a time, and tell how many of them the tests find.

    python -m benchmarks.mutants                  all of them: about 20 minutes
    python -m benchmarks.mutants checker prints   those of some rooms

A fault is one exact piece of text in place of another. Each runs the tests that are named for its room until
the first of them fails; without a fault all of them have to pass. A fault whose text
is no longer in its file is told as stale.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*_cache", "build", "dist", "__pycache__", "*.egg-info")
LIMIT = 900
"""Seconds after which the tests of a fault are ended. A fault that makes them hang is found."""
WANTED = 38
"""Faults of all rooms that have to be found."""
TESTS = {
    "checker": "tests/checker/test_checker.py tests/checker tests/covariance/test_repair.py",
    "bounds": "tests/bounds/test_bounds.py tests/bounds/test_dual.py tests/covariance/test_covariance.py "
    "tests/bounds/test_fates.py tests/bounds/test_squares.py tests/bounds/test_core.py "
    "tests/bounds/test_lift.py tests/test_forced.py tests/checker/test_scales.py",
    "reading": "tests/data/test_missing.py tests/data/test_dialects.py tests/data/test_kinds.py "
    "tests/data/test_suspicions.py tests/data/test_texts.py tests/shards/test_shards.py",
    "prints": "tests/test_numerals.py tests/test_printed.py tests/test_api.py",
    "specs": "tests/specs tests/dashboard/test_state.py tests/test_cli_spec.py",
    "pages": "tests/test_printed.py tests/dashboard/test_wording.py tests/dashboard/test_statement.py "
    "tests/data/test_security.py tests/dashboard/test_archives.py tests/dashboard/test_membership.py",
}
"""Tests of each room: those that fail soonest first."""
FAULTS = {
    "checker": [
        ("checker/rounding.py", "shift = 1.02 * (error +", "shift = 0.0 * (error +"),
        ("checker/rounding.py", "np.nextafter(np.sqrt(square), np.inf)", "np.sqrt(square)"),
        ("checker/rounding.py", "float(np.nextafter(nearest, np.inf))", "nearest"),
        ("checker/inequality.py", "return h + gamma(k + 16) *", "return h + 0.0 *"),
        ("checker/inequality.py", "np.max(W if nonneg else np.abs(W), initial", "np.max(W, initial"),
        ("checker/cover.py", "not f.nonneg and f.d > 0", "f.d > 0"),
        ("checker/cover.py", "below[: f.fixed] = False", "below[: f.fixed] = True"),
        ("checker/cover.py", "lost[..., :fixed] = terms[..., :fixed]", "lost[..., :fixed] = 0"),
        ("checker/cover.py", "np.array(before) <= f.k,", "np.array(before) < f.k,"),
        ("checker/matrix.py", "self.relief = min(", "self.relief = max("),
        ("checker/fixing.py", "unsure[list(self.forced)] = True", "unsure[list(self.forced)] = False"),
    ],
    "bounds": [
        ("bounds/elementary.py", "[problem.usable], problem.size,", "[problem.usable], problem.size - 1,"),
        ("bounds/inequality.py", "topk_sum(other * other, k - 1)", "topk_sum(other * other, k - 2)"),
        ("bounds/inequality.py", "float(W.max() if nonneg else np.abs(W).max())", "float(W.max())"),
        ("bounds/elimination.py", "A.block(rows), level +", "A.block(rows), 0.0 * level +"),
        ("bounds/core.py", "gain = t - d[used]", "gain = t + 0.0 * d[used]"),
        ("bounds/fixing/squares.py", "others, max(room - 1, 0)", "others, max(room - 2, 0)"),
        ("bounds/fixing/fates.py", "return (into == len(left)) & (into > 0)", "return (into > 0)"),
        ("covariance/linalg.py", "topk_sum(v[..., fixed:], k - fixed)", "topk_sum(v[..., fixed:], k)"),
    ],
    "reading": [
        ("data/missing.py", "X.shape[axis] - np.bincount(", "X.shape[axis] - 0 * np.bincount("),
        ("data/missing.py", '(how == "features") == features_in_rows', 'how == "samples"'),
        ("data/numerals.py", "return word in self.missing or word.startswith(", "return word.startswith("),
        ("data/numerals.py", "if commas > points else", "if commas >= points else"),
        ("data/numerals.py", 'return "-" + "".join(', 'return "" + "".join('),
        ("data/numerals.py", "float(word == words[0])", "float(word != words[0])"),
        ("data/counting.py", "least = max(1 if few else 2, ceil(", "least = max(1, ceil("),
        ("data/formats/entries.py", "shape = min(self.rows, rows - start)", "shape = self.rows"),
    ],
    "prints": [
        ("presentation/numerals.py", "return _text(Fraction(float(bound)), digits, ROUND_CEILING)",
         "return _text(Fraction(float(bound)), digits, ROUND_HALF_EVEN)"),
        ("presentation/numerals.py", "max(Fraction(ratio), Fraction(repr(ratio))) *", "Fraction(ratio) *"),
        ("presentation/numerals.py", "(share, places, ROUND_UP)", "(share, places, ROUND_DOWN)"),
        ("presentation/numerals.py", "    if ratio >= 1:", "    if ratio >= 1 - 1e-9:"),
        ("presentation/numerals.py", "float(_decimal(Fraction(float(bound)), digits, ROUND_CEILING))",
         "float(_decimal(Fraction(float(bound)), digits, ROUND_HALF_EVEN))"),
    ],
    "specs": [
        ("specs/sweep.py", "range(first, last + 1, step)", "range(first, last, step)"),
        ("specs/sweep.py", "if all((method, k) in known", "if any((method, k) in known"),
        ("specs/sweep.py", "b <= a for a, b", "b < a for a, b"),
        ("specs/data.py", "content_of(data) != self.content", "not content_of(data)"),
    ],
    "pages": [
        ("dashboard/app/wording.py", "percent_up(possible, digits)", "percent_down(possible, digits)"),
        ("dashboard/views/statement.py", "most_text = percent_up(", "most_text = percent_down("),
        ("dashboard/app/wording.py", 'f"&#{ord(found[0])};"', "found[0]"),
        ("data/export.py", """return "'" + text""", "return text"),
    ],
}  # fmt: skip


def outcome(copy: Path, room: str) -> tuple[str, str]:
    """Return whether the tests of a room find the fault in the copy, and which of them does."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    command += TESTS[room].split()
    try:
        run = subprocess.run(
            command,
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        return "found", "the tests do not end"
    failed = [line for line in run.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return ("survives", "") if run.returncode == 0 else ("found", failed[0] if failed else run.stdout[-200:])


def main(rooms: list[str]) -> int:
    found = total = 0
    with tempfile.TemporaryDirectory(prefix="nspca-mutants-") as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
        for room in rooms or FAULTS:
            if (without := outcome(copy, room))[0] == "found":
                sys.stdout.write(f"the tests of {room} fail without a fault: {without[1]}\n")
                return 1
            for name, text, fault in FAULTS[room]:
                path, began = copy / "nspca" / name, time.monotonic()
                whole, total = path.read_text(encoding="utf-8"), total + 1
                what, by = "stale", ""
                if text in whole:
                    path.write_text(whole.replace(text, fault, 1), encoding="utf-8")
                    what, by = outcome(copy, room)
                    path.write_text(whole, encoding="utf-8")
                found += what == "found"
                seconds = time.monotonic() - began
                sys.stdout.write(f"{what:8} {seconds:4.0f} s  {name}: {text!r} -> {fault!r}  {by[:120]}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{found} of {total} faults are found\n")
    return 0 if found >= WANTED or (rooms and found == total) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
