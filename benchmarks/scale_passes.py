"""Measure passes over shards with one worker against two, for `benchmarks.scale`."""

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import nspca
from benchmarks.scale import AT_ONCE, SIZES, documents
from benchmarks.shared import peak, say
from nspca.jobs.command_workers import open_client
from nspca.shards import Shards
from nspca.shards.sources import MEGABYTES, PER_ENTRY
from nspca.shards.writer import Writer

ROUNDS, VECTORS = 3, 8
EACH_SHARD = MEGABYTES * 2**20


def made(size: str, rows: int, folder: Path) -> Shards:
    """Write the first rows of a size as shards, without a text in between, and open them."""
    per = max(AT_ONCE, int(EACH_SHARD / PER_ENTRY / SIZES[size][2]) // AT_ONCE * AT_ONCE)
    with Writer(folder, SIZES[size][1], per) as writer:
        for block in blocks(size, rows):
            writer.add(block)
        return writer.finish()


def blocks(size: str, rows: int) -> Iterator[sp.csr_array]:
    """Yield the first rows of a size, `AT_ONCE` at a time."""
    m, n, _ = SIZES[size]
    for number, (at, words, counts) in enumerate(documents(size)):
        start = number * AT_ONCE
        shape = min(AT_ONCE, m - start, rows - start), n
        keep = at - start < shape[0]
        yield sp.csr_array((counts[keep].astype(float), (at[keep] - start, words[keep])), shape=shape)
        if start + AT_ONCE >= rows:
            return


def workers(rows: int, place: str | None) -> None:
    """Print the times of passes with one worker and with two, each the quickest of some."""
    with tempfile.TemporaryDirectory(dir=place) as name:
        shards = made("large", rows, Path(name) / "shards")
        say(f"{rows} documents, {shards.nonzeros / 1e6:.1f} million nonzeros in {len(shards)} shards; "
            f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")  # fmt: skip
        found: dict[int, dict[str, tuple[float, float]]] = {1: {}, 2: {}}
        bits, peaks = set(), [0.0]
        for _ in range(ROUNDS):
            for count in found:
                for what, (wall, cpu, answer) in timed(shards, count, peaks).items():
                    before = found[count].get(what, (np.inf, np.inf))
                    found[count][what] = min(before[0], wall), min(before[1], cpu)
                    bits.add((what, answer))
        say("pass       one worker  two    times    CPU of the busiest: one  two    times")
        for what, (wall, cpu) in found[1].items():
            wall2, cpu2 = found[2][what]
            say(f"{what:10s} {wall:8.2f} s  {wall2:.2f} s  {wall / wall2:.2f}     {cpu:20.2f} s  "
                f"{cpu2:.2f} s  {cpu / cpu2:.2f}")  # fmt: skip
        same = "yes" if len(bits) == len(found[1]) else "NO"
        say(f"most memory of a worker: {max(peaks):.2f} GB; the same bits: {same}")


def timed(shards: Shards, count: int, peaks: list[float]) -> dict[str, tuple[float, float, str]]:
    """Return seconds of each pass, CPU seconds of the busiest worker, and a hash of the result."""
    with open_client(count) as client:
        A = nspca.Problem.from_shards(shards, 15, client=client).covariance
        X, features = np.random.default_rng(0).standard_normal((A.n, VECTORS)), A.candidates()
        A.product(X)  # so that files are in memory
        found = {}
        for what, ask in (("product", lambda: A.product(X)), ("block of A", lambda: A._gram_of(features))):
            before, begun = client.run(time.process_time), time.perf_counter()
            answer = ask()
            wall, after = time.perf_counter() - begun, client.run(time.process_time)
            cpu = max(after[one] - before[one] for one in before)
            found[what] = wall, cpu, hashlib.sha256(answer.tobytes()).hexdigest()
        peaks += client.run(peak).values()
        return found
