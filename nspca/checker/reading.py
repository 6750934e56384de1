"""Read a certificate once: every attribute becomes a plain value of a known type, and the certificate is not
used again.

`entry` reads the `Recipe` of a certificate. Each form reads its own witness from the `Arrays`.
"""

import operator
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Self

import numpy as np
from numpy import ndarray as Array

from nspca.checker.refusal import require
from nspca.errors import CertificateError, shown

OF_A = ("center", "scale", "source", "shape", "digest", "weights")
"""Properties that a problem has from its covariance."""
OF_FEATURES = ("having", "lacking")
"""Claims about single features, for certificates of one component in every form."""
OF_SEVERAL = ("joint", "packing", "others")
"""Forms for several disjoint components, whose k is a list of sizes."""
NO_WITNESS = -1
"""Code of a leaf, in a tree of supports, that has no W, M and U."""


def text(value: Any) -> str:
    """Return the plain text, also of a str subclass; TypeError for anything else."""
    return str.__str__(value)


def flag(name: str, value: Any) -> bool:
    """Return True or False; texts and numbers are refused."""
    require(isinstance(value, bool | np.bool_), f"{name} must be true or false, got {shown(value)}")
    return bool(value)


def whole(name: str, value: Any) -> int:
    """Return a whole number; booleans are refused."""
    right = isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)
    require(right, f"{name} must be of whole numbers, got {shown(value)}")
    return operator.index(value)


def wholes(name: str, values: Iterable[Any]) -> tuple[int, ...]:
    """Return several whole numbers as a tuple."""
    return tuple(whole(name, value) for value in values)


def number(name: str, value: Any) -> float | int:
    """Return a number of a type that float or int holds exactly."""
    right = isinstance(value, int | np.integer | float | np.float32 | np.float16)
    require(right, f"{name} must be a number, got {shown(value)}")
    return float(value) if isinstance(value, float | np.floating) else whole(name, value)


@dataclass(frozen=True)
class Recipe:
    """The problem and the data that the certificate is about, and the bound `upper` that it claims.

    `sizes` has one k for each component. All other fields are those of the header of a certificate file;
    docs/certificate-format.md describes them.
    """

    form: str
    sizes: tuple[int, ...]
    nonneg: bool
    source: str
    center: bool
    scale: bool
    shape: tuple[int, ...]
    digest: str
    exponent: int
    upper: float | int
    forced: tuple[int, ...]
    shift: float | int = 0
    weights: str = ""

    @property
    def k(self) -> int:
        """Return the largest number of nonzeros; of the first component where there are several."""
        return self.sizes[0]

    def usable(self, n: int) -> Array:
        """Return the features that a component may use, the forced ones first; with k forced features, these
        alone.
        """
        others = np.setdiff1d(np.arange(n), self.forced) if len(self.forced) < self.k else ()
        return np.append(self.forced, others).astype(int)


def read_recipe(certificate: Any, forms: Collection[str]) -> Recipe:
    """Return the recipe of a certificate of one of these forms, with checked types."""
    version, form, k = certificate.version, text(certificate.form), certificate.k
    known = whole("version", version) == 1 and form in forms
    require(known, f"version 1 of {list(forms)} is known, got {version!r} of {form!r}")
    return Recipe(
        form=form,
        sizes=wholes("k", k) if form in OF_SEVERAL else (whole("k", k),),
        nonneg=flag("nonneg", certificate.nonneg),
        source=text(certificate.source),
        center=flag("center", certificate.center),
        scale=flag("scale", certificate.scale),
        shape=wholes("shape", certificate.shape),
        digest=text(certificate.digest),
        exponent=whole("exponent", certificate.exponent),
        upper=number("upper", certificate.upper),
        forced=wholes("forced", getattr(certificate, "forced", ())),
        shift=number("shift", getattr(certificate, "shift", 0.0)),
        weights=text(getattr(certificate, "weights", "")),
    )


def properties_of(problem: Any) -> dict[str, Any]:
    """Return the properties of an `nspca.Problem` by name."""
    try:
        A = problem.covariance
        own = {"k": problem.k, "nonneg": problem.nonneg, "forced": problem.forced}
        return own | {name: getattr(A, name) for name in OF_A}
    except AttributeError:
        kind = type(problem).__name__
        sentence = f"problem must be an nspca.Problem, got {kind}; give one, or its properties by their names"
        raise CertificateError(sentence) from None


def checked_property(name: str, value: Any) -> Any:
    """Return a required property of the problem, with its type checked: 1 is not read as true."""
    whose = f"the {name} that is asked for"
    if name in ("k", "forced"):  # one size is the same problem as the number, and features have no order
        several = wholes(whose, value if isinstance(value, tuple | list) else (value,))
        return several if name == "k" else tuple(sorted(several))
    if name == "shape":
        return wholes(whose, value)
    if name in ("nonneg", "center", "scale"):
        return flag(whose, value)
    require(isinstance(value, str), f"{whose} must be text, got {shown(value)}")
    return text(value)


def same_problem(recipe: Recipe, asked: Mapping[str, Any]) -> None:
    """Refuse a certificate whose problem differs from the required properties."""
    for name, value in asked.items():
        got, wanted = recipe.sizes if name == "k" else getattr(recipe, name), checked_property(name, value)
        said, asked_for = (k[0] if isinstance(k, tuple) and len(k) == 1 else k for k in (got, wanted))
        sentence = f"{name} is {shown(said)}, asked for was {shown(asked_for)}"
        require(got == wanted, f"the certificate is about another problem: {sentence}")


class Arrays:
    """Arrays of a witness by name, each copied before its numbers are checked, so none changes later."""

    def __init__(self, form: str, witness: Any) -> None:
        self.form, self.named = form, {text(name): np.asarray(array) for name, array in witness.items()}

    def only(self, *known: str) -> None:
        """Refuse arrays with names other than these."""
        got = sorted(self.named)
        require(set(got) <= set(known), f"form {self.form!r} has the witness arrays {list(known)}, got {got}")

    def need(self, name: str) -> Array:
        require(name in self.named, f"witness {name} cannot be read: it is missing")
        return self.named[name]

    def numbers(self, name: str, shape: tuple[int, ...]) -> Array:
        """Return an array of finite float64 numbers of this shape."""
        array, sentence = self.need(name), f"witness {name} must be finite, of shape {shape}"
        right = array.dtype.kind in "iuf" and array.dtype.itemsize <= 8 and array.shape == shape
        require(right, sentence)
        array = array.astype(np.float64)
        require(np.isfinite(array).all(), sentence)
        return array

    def optional(self, name: str, shape: tuple[int, ...]) -> Array | None:
        """Return `numbers` of this shape, or None where the array is missing."""
        return self.numbers(name, shape) if name in self.named else None

    def codes(self, name: str) -> Array:
        """Return a vector of whole numbers."""
        array = np.array(self.need(name))
        right = array.dtype.kind in "iu" and array.ndim == 1
        require(right, f"witness {name} must be whole numbers in a row, got {array.dtype} {array.shape}")
        return array

    def rows(self, n: int) -> Array:
        """Return the kept features: all of them where none are named."""
        rows = self.codes("rows") if "rows" in self.named else np.arange(n)
        right = np.unique(rows).size == rows.size and np.isin(rows, np.arange(n)).all()
        require(right, f"witness rows must be different numbers from 0 to {n - 1}")
        return rows.astype(int)

    def sets(self, n: int) -> list[Array]:
        """Return the listed sets: `counts` says how many features each has, and `members` has all of them."""
        counts, members = self.codes("counts").tolist(), self.codes("members").astype(int)
        right = all(count >= 1 for count in counts) and sum(counts) == members.size
        require(right, "witness counts must be at least 1 each, and add up to the number of witness members")
        in_range = ((members >= 0) & (members < n)).all()
        require(in_range, f"features of listed sets must be numbers from 0 to {n - 1}")
        sets = [members[end - count : end] for count, end in zip(counts, accumulate(counts), strict=True)]
        distinct = all(np.unique(T).size == T.size for T in sets)
        require(distinct, "a listed set must not have a feature twice")
        return sets

    def narrow(self, name: str, r: int, n: int) -> Array:
        """Return U or L on r rows, without columns where the array is missing.

        More than max(n, 15) columns are refused before anything of that size is made.
        """
        if name not in self.named:
            return np.zeros((r, 0))
        return self.numbers(name, (r, min((*self.need(name).shape[-1:], max(n, 15)))))

    def tau(self) -> float | None:
        """Return the threshold, None where it is missing; then it is the largest entry of W."""
        tau = self.optional("tau", (1,))
        return None if tau is None else float(tau[0])


def different(sizes: Iterable[int]) -> list[int]:
    """Return the different sizes, the largest first: each has a claim and a cover of its own."""
    return sorted({*sizes}, reverse=True)


def with_cuts(W: Array | None, M: Array | None) -> Array | None:
    """Return N = W + M, which is subtracted from A, treating None as 0; None if there is neither."""
    return M if W is None else W if M is None else W + M


SMALLEST, LARGEST = 2.0**-10, 2.0**10
"""Smallest and largest scale of a row that are accepted: underflow in products then loses less than TINY."""


@dataclass(frozen=True, eq=False)
class Inequality:
    """Witness of the one inequality on the r kept rows: numbers, and the codes `tree` of the covers.

    `t` is the claim of the spectral half, and `claims` has that of the search half for each different size,
    the largest first. `tau` is the threshold, None for the largest entry of W.
    """

    rows: Array  # (r,)
    W: Array | None  # (r, r)
    M: Array | None  # (r, r)
    U: Array  # (r, d), of the search half
    tau: float | None
    t: float
    claims: tuple[float, ...]
    tree: Array
    y: Array | None = None  # (n - r,), of the features that are not kept
    together: Array | None = None  # (r, e), what the components have in common
    prices: Array | None = None  # (r,)
    scales: Array | None = None  # (r,)

    @property
    def F(self) -> float:
        """Return the claim of the only search half."""
        return self.claims[0]

    @classmethod
    def read(cls, arrays: Arrays, n: int, sizes: tuple[int, ...]) -> Self:
        """Read the witness from the arrays of a certificate about n features.

        Form `joint` calls the U of the search half `lift`. Without prices it has no search half, and its
        second claim is not used.
        """
        joint = arrays.form == "joint"
        searched = not joint or "prices" in arrays.named
        own = ("lift", "prices", "scales") if joint and searched else ()
        arrays.only("rows", "W", "U", "tau", "y", "claims", *(("M", "tree") if searched else ()), *own)
        rows = arrays.rows(n)
        r, lift = rows.size, "lift" if joint else "U"
        if joint:
            arrays.need("U")
        t, *F = arrays.numbers("claims", (1 + (len(different(sizes)) if searched else 1),)).tolist()
        scales = arrays.optional("scales", (r,))
        sentence = f"witness scales must be between {SMALLEST!r} and {LARGEST!r}"
        require(scales is None or ((scales >= SMALLEST) & (scales <= LARGEST)).all(), sentence)
        return cls(
            rows,
            arrays.optional("W", (r, r)),
            arrays.optional("M", (r, r)),
            arrays.narrow(lift, r, n),
            arrays.tau(),
            t,
            tuple(F) if searched else (),
            arrays.codes("tree") if "tree" in arrays.named else np.zeros(0, dtype=int),
            arrays.optional("y", (n - r,)),
            arrays.narrow("U", r, n) if joint else None,
            arrays.optional("prices", (r,)),
            scales,
        )
