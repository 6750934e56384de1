"""Measure the way from a file on disk to eight proved topics, and passes over shards.

    python -m benchmarks.scale [--small|--medium|--large] [--workers N] [--dense] [--wide]

Generates counts with Zipf words and planted topics (0.7, 8.8 or 70 million nonzeros) as a docword file in a
temporary folder. Makes shards from it, finds eight topics of 15 words with a certificate, and verifies the
certificate from the shards. Solves the two smaller tables in memory as well. Prints for each step its time,
its CPU seconds, the peak memory of its process, and the number of passes over the rows. Every step runs in a
process of its own, so its peak is its own. The largest size takes 4 GB of disk. With `--workers` so many
processes read the shards, and the digest of the certificate shows that they find the same. `--dense` and
`--wide` measure dense tables in files.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared import arguments, say

SIZES = {
    "small": (10_000, 20_000, 70),
    "medium": (120_000, 50_000, 73),
    "large": (300_000, 102_660, 233),
}
"""Documents, words, and nonzeros of a document, about."""
TOPICS, WORDS = 8, 40
SHARE, RATE = 0.04, 2.0
"""Share of the documents that are about a topic, and mean count of its first word in one of them.

The i-th word of a topic has the mean count ``RATE / sqrt(i)``.
"""
FIRST = 150
"""Rank by frequency of the first word of a topic."""
STOP = 100
"""Number of most frequent words that are left out, as stop words are from real collections."""
AT_ONCE = 2_000
"""Documents made at a time."""
MOST_BYTES = {"small": 2e8, "medium": 2e9, "large": 6e9}
"""Maximum bytes on the disk for the text, what waits to be sorted, and the shards, by size."""


def planted(words: int) -> np.ndarray:
    """Return the features (8, 40) of the topics, words of middling frequency, strongest first."""
    return FIRST + np.random.default_rng(1).permutation(TOPICS * WORDS).reshape(TOPICS, WORDS)


def documents(size: str):
    """Yield rows of counts, `AT_ONCE` at a time, as arrays (document, word, count) in sorted order."""
    m, n, each = SIZES[size]
    rng, topics = np.random.default_rng(0), planted(n)
    weights = 1 / (np.arange(n) + STOP)
    sums = np.cumsum(weights) / weights.sum()
    # Some repeat within a document, and those of its topics come on top.
    drawn = int(each * 0.95)
    for start in range(0, m, AT_ONCE):
        count = min(AT_ONCE, m - start)
        lengths = rng.poisson(drawn * rng.gamma(4.0, 0.25, count)) + 5
        rows = np.repeat(np.arange(count), lengths)
        words = np.searchsorted(sums, rng.random(rows.size))
        about = rng.random((count, TOPICS)) < SHARE
        at, topic = np.nonzero(about)
        rates = RATE / np.sqrt(np.arange(1, WORDS + 1))
        times = rng.poisson(rng.gamma(2.0, 0.5, at.size)[:, None] * rates)
        more_rows = np.repeat(np.repeat(at, WORDS), times.ravel())
        more_words = np.repeat(topics[topic].ravel(), times.ravel())
        key = np.concatenate((rows, more_rows)) * n + np.concatenate((words, more_words)).clip(max=n - 1)
        key, counts = np.unique(key, return_counts=True)
        yield start + key // n, key % n, counts


def write(size: str, folder: Path) -> int:
    """Write the docword file and its vocabulary, and return the number of nonzeros."""
    m, n, _ = SIZES[size]
    body, nonzeros = folder / "body", 0
    with body.open("wb") as handle:
        for rows, words, counts in documents(size):
            table = np.column_stack((rows + 1, words + 1, counts)).astype("U10")
            lines = np.char.add(np.char.add(np.char.add(table[:, 0], " "), table[:, 1]), " ")
            handle.write("\n".join(np.char.add(lines, table[:, 2])).encode() + b"\n")
            nonzeros += len(rows)
    with (folder / "docword.made.txt").open("wb") as handle:
        handle.write(f"{m}\n{n}\n{nonzeros}\n".encode())
        with body.open("rb") as rest:
            shutil.copyfileobj(rest, handle, 2**24)
    body.unlink()
    (folder / "vocab.made.txt").write_text("".join(f"word{j}\n" for j in range(n)))
    return nonzeros


STEPS = {
    "shard": """
from nspca.shards.sources import shard
made = shard(folder / "docword.made.txt", folder / "shards")
told = f"{len(made)} blocks"
""",
    "solve": """
with client_of(WORKERS, None) as client:
    problem = nspca.Problem.from_shards(folder / "shards", (15,) * 8, client=client)
    result = nspca.solve(problem, certify=EFFORT)
    busiest = max(client.run(time.process_time).values()) if client else 0.0
result.certificate.save(folder / "proof.npz")
topics = planted(problem.n)
found = [max(len({*np.flatnonzero(x)} & {*t[:15]}) for x in result.components.T) for t in topics]
told = f"proved {int(result.ratio * 1e4) / 1e4} ({result.certificate.kind}), "
told += f"{problem.covariance.passes} passes, "
told += f"certificate {sha256(result.certificate.to_bytes()).hexdigest()[:8]}, "
told += f"busiest worker {busiest:.1f} s of CPU, " * (WORKERS is not None)
told += f"planted topics found: {sum(f >= 12 for f in found)} of 8 (of their 15 strongest words {found})"
""",
    "verify": """
nspca.verify(nspca.Shards(folder / "shards"), nspca.Certificate.load(folder / "proof.npz"), k=(15,) * 8)
told = "accepted"
""",
    "memory": """
import scipy.sparse as sp
X = sp.vstack(list(nspca.Shards(folder / "shards").blocks()), format="csr")
started, begun, told = time.perf_counter(), time.process_time(), "of rows in memory:"
for k in (15, (15,) * 8):
    result = nspca.solve(nspca.Problem.from_data(X, k), certify=EFFORT)
    used, begun = time.process_time() - begun, time.process_time()
    told += f" k = {k}, {used:.1f} s of CPU, {result.info['passes']} passes,"
    told += f" proved {int(result.ratio * 1e4) / 1e4};"
""",
}
IN_MEMORY = ("small", "medium")
"""Sizes that are also solved without shards."""
TABLES = ("dense", "wide")
"""Tables that `benchmarks.scale_dense` makes: a long one and a wide one."""


def step(name: str, folder: str | Path, body: str, **given: Any) -> None:
    """Run a step, Python that sets `told`, in a process of its own, with `given` names; print its line."""
    code = (
        "import sys, time\nfrom hashlib import sha256\nfrom pathlib import Path\n"
        "import numpy as np\nimport nspca\nfrom nspca.cli.solve import client_of\n"
        "from benchmarks.scale import planted\nfrom benchmarks.scale_dense import planted_found\n"
        "from benchmarks.shared import peak\nfrom nspca.presentation.numerals import format_guarantee\n"
        + "".join(f"{name} = {value!r}\n" for name, value in given.items())
        + "folder = Path(sys.argv[1])\n"
        f"started, begun_cpu = time.perf_counter(), time.process_time()\n{body}\n"
        "wall, cpu = time.perf_counter() - started, time.process_time() - begun_cpu\n"
        f"print(f'  {name:7s} {{wall:7.1f}} s, {{cpu:6.1f}} s of CPU  {{peak():5.2f}} GB peak  {{told}}')\n"
    )
    command = [sys.executable, "-c", code, str(folder)]
    say(subprocess.run(command, check=True, capture_output=True, text=True).stdout.rstrip())


def enough(size: str, folder: Path) -> bool:
    """Tell whether disk and memory suffice, and print what is missing."""
    free, needed = shutil.disk_usage(folder).free, MOST_BYTES[size]
    memory = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if free < 1.5 * needed or memory < 3e9:
        say(f"{size}: {1.5 * needed / 1e9:.1f} GB of disk and 3 GB of memory are needed, free are "
            f"{free / 1e9:.1f} and {memory / 1e9:.1f}: left out")  # fmt: skip
        return False
    return True


def run(size: str, effort: str, workers: int | None, place: str | None) -> None:
    """Run all steps of one size."""
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        if not enough(size, folder):
            return
        started = time.perf_counter()
        nonzeros = write(size, folder)
        m, n, _ = SIZES[size]
        say(f"{size}: {m} x {n}, {nonzeros / 1e6:.1f} million nonzeros")
        say(f"  made in {time.perf_counter() - started:.0f} s, "
            f"{(folder / 'docword.made.txt').stat().st_size / 1e6:.0f} MB of text")  # fmt: skip
        for name in STEPS:
            if name != "memory" or size in IN_MEMORY:
                step(name, folder, STEPS[name], EFFORT=effort, WORKERS=workers)


def main() -> None:
    parser = arguments(__doc__)
    for size in MOST_BYTES:
        parser.add_argument(f"--{size}", dest="sizes", action="append_const", const=size)
    for table in TABLES:
        parser.add_argument(f"--{table}", dest="tables", action="append_const", const=table)
    parser.add_argument("--workers", type=int, metavar="N", help="processes that read the shards")
    parser.add_argument("--effort", default="fast", help="of the certificate (default fast)")
    parser.add_argument("--folder", help="where the temporary folder is made")
    args = parser.parse_args()
    for size in args.sizes or ([] if args.tables else ["small"]):
        run(size, args.effort, args.workers, args.folder)
    for table in args.tables or ():
        from benchmarks import scale_dense

        scale_dense.run(table, args.folder)


if __name__ == "__main__":
    main()
