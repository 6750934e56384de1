"""Numbers and sizes of several components: the defaults, and sizes that a visitor typed.

The form of the pages Parts, Topics and Components uses them.
"""

from nspca.errors import InvalidProblem

MOST = 20
"""Maximum number of components, as many as a screen can show."""
LARGE = 1000
"""Number of features above which fewer methods are chosen at first."""
QUICK = ("joint", "cone")
"""Methods chosen at first for more than `LARGE` features."""


def default_sizes(n: int, r: int, most: int) -> tuple[int, int]:
    """Return the default number of components (at most `r`) and their size (at most `most`) for n features.

    Some features remain unused.
    """
    r = max(1, min(r, n // 4))
    return r, max(1, min(most, n // (r + 1)))


def read_sizes(text: str, r: int, n: int) -> tuple[int, ...]:
    """Return r sizes from a text such as ``"40"`` or ``"40, 40, 20"``.

    Raises
    ------
    InvalidProblem
        For other text, another number of sizes, and sizes that exceed n features in total.
    """
    pieces = [piece for piece in text.replace(";", ",").replace(" ", ",").split(",") if piece]
    if not pieces or not all(piece.isascii() and piece.isdigit() and len(piece) < 10 for piece in pieces):
        raise InvalidProblem(
            f"sizes must be one whole number, or {r} of them with commas between, got "
            f"{text.strip()[:40] or 'nothing'!r}"
        )
    sizes = tuple(int(piece) for piece in pieces)
    if len(sizes) == 1:
        sizes *= r
    if len(sizes) != r:
        raise InvalidProblem(
            f"sizes must be one number for all or {r} numbers, one for each, got {len(sizes)}"
        )
    if min(sizes) < 1 or sum(sizes) > n:
        raise InvalidProblem(
            f"sizes must be at least 1 and together at most {n}, the number of features, got {sum(sizes)} "
            "in all; make them smaller or fewer"
        )
    return sizes
