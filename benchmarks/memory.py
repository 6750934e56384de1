"""Measure the memory of a server over many visits: ``python -m benchmarks.memory [VISITS] [EACH]``.

Each visit is a new session over Streamlit's websocket. It opens a page with a new question and presses the
button that runs it. It looks again during the computation and after it, and then leaves. `TOGETHER` visitors
are there at a time. Every EACH visits, a line gives the memory of the server without its workers. After the
last visit all pages are closed. A last line gives the memory after the server has dropped its data.
"""

import asyncio
import contextlib
import itertools
import random
import sys
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.load import Session, listening
from benchmarks.served import serving
from benchmarks.shared import say

VISITS, EACH = 2000, 100
LONGEST = 60.0  # seconds of a visit
LOOKS = 2  # at a run, a moment apart
TOGETHER = 4  # visitors at a time: one alone would wait most of the time, for its looks and its run
CLOSED = 400.0  # seconds after which nothing is kept any more
SIGNS = ("nonneg", "any")


def questions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Return pages and questions about them without end, another k or size each time."""
    rng = random.Random(0)

    def sweep(sample: str, most: int) -> tuple[str, dict[str, Any]]:
        first = rng.randint(2, most - 6)
        some = {"from": first, "to": first + rng.randint(1, 5), "step": 1, "sign": rng.choice(SIGNS)}
        return "sweep", {"sample": sample, "effort": "fast", **some}

    while True:
        yield sweep("digits", 60)
        yield sweep("cbcl", 200)
        size = rng.randint(3, 40)
        yield "components", {"sample": "bow-kos", "r": 2, "size": size, "by": "cone", "proof": "none"}
        yield "spannogram", {"sample": "digits", "k": rng.randint(2, 50)}
        yield "data", {"sample": rng.choice(("digits", "pitprops", "cbcl", "bow-kos"))}


async def visit(session: Session) -> None:
    """Come, ask, look and go."""
    async with session.connected():
        await session.run()
        if session.button:
            await session.run(session.button)
            for _ in range(LOOKS):
                await asyncio.sleep(0.5)
                await session.run()


async def come(url: str, visits: int, each: int) -> int:
    """Make the visits, `TOGETHER` at a time; return how many went wrong."""
    server, start, asked = listening(url), time.monotonic(), itertools.islice(questions(), visits)
    done = wrong = pressed = 0
    last = ""

    async def visit_in_turn() -> None:
        nonlocal done, wrong, pressed, last
        for page, question in asked:
            one = Session(url, question, page)
            try:
                await asyncio.wait_for(visit(one), LONGEST)
            except (TimeoutError, OSError) as error:
                one.errors.append(f"{page}: {error!r}")
            done, wrong, pressed = done + 1, wrong + bool(one.errors), pressed + bool(one.button)
            last = one.errors[0] if one.errors else last
            if done % each == 0:
                memory, took = server.memory_info().rss / 1e6, time.monotonic() - start
                ended = f"{wrong} went wrong {last}"
                say(f"{done} visits, {pressed} runs: {memory:.0f} MB; {took:.0f} s, {ended}")

    await asyncio.gather(*(visit_in_turn() for _ in range(TOGETHER)))
    return wrong


def main() -> int:
    visits, each = (int(given) for given in [*sys.argv[1:], *map(str, (VISITS, EACH)[len(sys.argv) - 1 :])])
    with contextlib.ExitStack() as stack:
        url = stack.enter_context(serving())
        wrong = asyncio.run(come(url, visits, each))
        time.sleep(CLOSED)
        say(f"{CLOSED:.0f} s after the last page was closed: {listening(url).memory_info().rss / 1e6:.0f} MB")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
