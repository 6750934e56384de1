"""Value a loading by `Problem.value`, with the same few lines for every contender."""

from math import floor

import numpy as np

from nspca import Problem

SAME = 1e-6
"""Relative difference up to which two values are called the same: what the loosest stopping rule leaves."""


def truncated(loading: np.ndarray, k: int, nonneg: bool) -> list[np.ndarray]:
    """Return unit vectors with at most k nonzeros: the k largest entries, or if nonnegative the k largest
    positive ones of either sign of the loading.
    """
    found = []
    for signed in (loading, -loading) if nonneg else (loading,):
        size = np.maximum(signed, 0.0) if nonneg else np.abs(signed)
        kept = np.zeros_like(size)
        largest = np.argsort(-size, kind="stable")[:k]
        kept[largest] = signed[largest] * (size[largest] > 0)
        if kept.any():
            found.append(kept / np.linalg.norm(kept))
    return found


def score(problem: Problem, loadings: np.ndarray) -> float:
    """Return the best value of the loadings (n, r) after truncation; 0 when no entry of the right sign is
    left.
    """
    finite = [v for v in loadings.T if np.isfinite(v).all()]
    vectors = [x for v in finite for x in truncated(v, problem.size, problem.nonneg)]
    assert all(problem.violation(x) < 1e-12 for x in vectors)
    return max((problem.value(x) for x in vectors), default=0.0)


def verdict(rows: list[dict]) -> list[str]:
    """Return a phrase for each peer that is better on one problem, or faster at the value that it reaches."""
    said = []
    ours = [row for row in rows if row["ours"] and row["value"]]
    best = max((row["value"] for row in ours), default=0.0)
    for peer in rows:
        if peer["ours"] or not peer["value"]:
            continue
        reached = [row for row in ours if row["value"] >= peer["value"] * (1 - SAME)]
        if not reached:
            said.append(f"{peer['name']} is better: {peer['value']:.7g} against {best:.7g}")
            continue
        quickest = min(reached, key=lambda row: row["cpu"])
        if quickest["cpu"] >= peer["cpu"]:
            share = peer["value"] / best
            level = "the same value" if share >= 1 - SAME else f"{floored(share)} of the value"
            said.append(
                f"{peer['name']} is faster, at {level}: {seconds(peer['cpu'])} against "
                f"{seconds(quickest['cpu'])} of {quickest['name']}"
            )
    return said


def floored(share: float) -> str:
    """Return a share of the best value in per cent, rounded down, in enough digits to tell it from 100."""
    if share >= 1 - SAME:
        return "100 %"
    digits = 1 if share < 0.99 else 2 if share < 0.999 else 3
    return f"{floor(share * 10 ** (digits + 2)) / 10**digits:.{digits}f} %"


def seconds(value: float) -> str:
    """Return seconds with two digits, or milliseconds for a short time."""
    if value < 0.0995:
        return f"{value * 1e3:.2g} ms"
    return f"{value:.2g} s" if value < 9.95 else f"{value:.0f} s"
