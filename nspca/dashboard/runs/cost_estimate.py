"""Cost estimate of a run before it starts, and the refusal of runs beyond the limits of this server.

Here `of` is the open data set, and `sizes` the k of each component of one problem.
"""

import os
import shlex
from collections.abc import Sequence

import scipy.sparse as sp
import streamlit as st

from nspca.dashboard.app import times, wording
from nspca.dashboard.open_data import Chosen
from nspca.dashboard.runs.tasks import engine
from nspca.planning import Plan, Size, planned
from nspca.specs import ComparisonSpec, ComponentsSpec
from nspca.specs.question import AGAIN

K = 10  # number of features of the component in the estimate for a data set
MOMENT = 2.0  # seconds up to which a time is called a moment
PROGRAM = 250e6  # bytes of a worker without data
ENDED_AT = 0.95  # share of its memory limit at which a worker is ended
# Seconds for one k of a fast sweep, by the features and by the entries of a table: what pitprops, digits,
# lrs, cbcl and leukemia took.
BASE, PER_FEATURE, PER_ENTRY = 0.05, 0.0005, 4e-7
MOST_FEATURES = 2000  # further features do not count: a fast sweep leaves out what grows with them
HARDER = {"fast": 1.0, "standard": 15.0, "thorough": 60.0}
"""Seconds of each effort for one component, as a multiple of those of a fast proof."""
SEVERAL = {"standard": (1.0, 40.0), "thorough": (10.0, 400.0)}
"""Least and most seconds of an effort for several components together, in those of a fast proof.

Standard proofs of the samples and of a table of 72 x 7129 took 1.2 to 30 times as long.
"""
A_METHOD = 1 / 3
"""Part of the seconds of one k that one of several methods takes.

Components and comparisons took within a factor of two of the estimate on five samples with more than 50
features and on a table of 72 x 7129, and 2.5 times it where bow-kos is compared.
"""
LONGEST = 4 * 3600.0  # maximum estimated seconds of a run on this server


def plan(of: Chosen, sizes: Sequence[int]) -> Plan:
    """Return the cost estimate of components of these sizes, found together, with a quick proof."""
    return planned(_size(of), sizes, "fast")


def _size(of: Chosen) -> Size:
    X = of.dataset.X
    m, n = of.shape
    if of.table is not None:
        return Size(m, n, of.table.nonzeros, sparse=True, at="shards")
    return Size(m, n, X.nnz if sp.issparse(X) else m * n, sparse=sp.issparse(X), at="memory")


def line(of: Chosen) -> None:
    """Draw the estimated memory, passes and time for one component of `K` features."""
    k = min(K, of.shape[1])
    found = plan(of, (k,))
    n, passes = wording.things(found.size.columns, "feature"), wording.things(found.passes, "pass", "passes")
    parts = [took(found.seconds), f"{wording.size(found.bytes)} of memory", f"{passes} over the data"]
    what = "all rows" if found.at == "shards" else "these data"
    st.caption(
        f":material/timer: One component of {wording.things(k, 'feature')}, from {what}: "
        f"{', '.join(parts)}; what any other one can explain at most is proved, on all {n}."
    )
    say(refusal(of, (k,)))


def say(sentence: str) -> None:
    """Draw a refusal in place of the result; nothing for an empty sentence."""
    if sentence:
        st.warning(wording.plain(sentence), icon=":material/block:")


def busy() -> float:
    """Return the factor (at least 1) by which a run may take longer now than on an idle machine."""
    try:
        load, processors = os.getloadavg()[0], os.cpu_count() or 1
    except (AttributeError, OSError):  # Windows has no load average
        return 1.0
    return max(1.0, (load + 1) / processors)


def took(seconds: float, slower: float | None = None) -> str:
    """Return the time of a run in words: ``a moment``, ``about 20 seconds``, or a range on a busy machine."""
    most = seconds * (busy() if slower is None else slower)
    return "a moment" if most < MOMENT else times.between(max(seconds, 1.0), most)


def refusal(of: Chosen, sizes: Sequence[int], problems: int = 1) -> str:
    """Return why this server cannot solve so many problems, and what to do instead; "" if it can."""
    found = plan(of, sizes)
    needed, most = found.bytes + PROGRAM, ENDED_AT * engine().memory
    if most and needed > most:
        return (
            f"A run may use {wording.size(most)} of memory on this server, this one needs about "
            f"{wording.size(needed)}: {_instead(of, sizes)}"
        )
    long = seconds(of, sizes, problems)
    if long > LONGEST:
        return (
            f"A run may take {times.roughly(LONGEST)} on this server, this one takes about "
            f"{times.roughly(long)}: ask for less, or {_instead(of, sizes)}"
        )
    return ""


def estimate(of: Chosen, asked: ComponentsSpec) -> str:
    """Return the estimated time of a run about several components, in words."""
    if of.table is not None:
        more = "" if asked.effort in (None, "fast") else f", and longer for a proof of {asked.effort} effort"
        return f"{took(seconds(of, *asked.work))} for all rows{more}"
    about = A_METHOD * len(asked.methods) * len(asked.sizes) * each_k(of, "fast")
    least, most = SEVERAL.get(asked.effort or "", (1.0, 1.0))
    return took(least * about, most / least * busy())


def of_methods(of: Chosen, asked: ComparisonSpec) -> float:
    """Return the estimated seconds of several methods at several k."""
    return A_METHOD * len(asked.methods) * len(asked.ks) * each_k(of, asked.effort)


def each_k(of: Chosen, effort: str | None) -> float:
    """Return the estimated seconds for one component with its proof at one of many k."""
    X = of.dataset.X
    fast = BASE + PER_FEATURE * min(X.shape[1], MOST_FEATURES) + PER_ENTRY * getattr(X, "nnz", X.size)
    return fast * HARDER.get(effort or "", 1.0)


def seconds(of: Chosen, sizes: Sequence[int], problems: int = 1) -> float:
    """Return the estimated seconds of so many problems."""
    return plan(of, sizes).seconds * (1 + AGAIN * (problems - 1))


def _instead(of: Chosen, sizes: Sequence[int]) -> str:
    many = f" --components {len(sizes)}" if len(sizes) > 1 else ""
    asked = f"--k {max(sizes)}{many}"
    if of.reference.folder is not None:
        place = shlex.quote(of.reference.folder)
        return (
            f"on a larger machine, `python -m nspca solve {place} {asked}` does it; here, a sample of the "
            "rows can be solved."
        )
    file = of.reference.file or of.reference.sample or "FILE"
    return (
        f"on the command line, `python -m nspca shard {shlex.quote(str(file))} FOLDER` and then "
        f"`python -m nspca solve FOLDER {asked}` do it in passes over the file."
    )
