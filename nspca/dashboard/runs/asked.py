"""What every request says: the data, how they are prepared, the sign; stored as plain values, and turned back
into Python.
"""

from dataclasses import asdict, dataclass, field
from typing import Any, Self

import nspca
from nspca.dashboard import chosen
from nspca.dashboard.chosen import Chosen
from nspca.data import PREPARATIONS


@dataclass(frozen=True)
class Asked:
    """A question about one data set; each page adds its own fields.

    Parameters
    ----------
    data : dict
        Where the data is: ``{"sample": name}``, ``{"upload": hash, "file": name}`` and how the file is read,
        or ``{"folder": name, "digest": hash}`` of a folder of shards, with ``some`` for a sample of so many
        rows.
    content : str
        Hash of the numbers themselves: a run is shown only beside the data that it was made from.
    """

    data: dict
    content: str
    nonneg: bool = field(default=True, kw_only=True)
    center: bool = field(default=True, kw_only=True)
    scale: bool = field(default=False, kw_only=True)
    seed: int = field(default=0, kw_only=True)

    @property
    def same(self) -> dict[str, Any]:
        """What every further question about the same problem repeats."""
        return {"content": self.content, "nonneg": self.nonneg, "center": self.center, "scale": self.scale}

    @property
    def changed(self) -> list[str]:
        """What was done to the data before centring, step by step, in words."""
        some = any(self.data.get(how) for how in chosen.OF_FEATURES)
        steps = (
            *((PREPARATIONS[name].title, True) for name in self.data.get("prepared", ())),
            (chosen.features_said(self.data), some),
            ("without constant features", self.data.get("drop")),
            ("log2(x + 1)", self.data.get("log2")),
        )
        return [word for word, on in steps if on]

    @property
    def prepared(self) -> str:
        """All that was done to the data, in words."""
        last = (("centred", self.center), ("standardised", self.scale))
        return ", ".join([*self.changed, *(word for word, on in last if on)]) or "taken as they are"

    @property
    def work(self) -> tuple[tuple[int, ...], int]:
        """Sizes of the components that are found together, and how many such problems there are: of one k
        the largest.
        """
        raise NotImplementedError

    def problem(self, of: Chosen) -> nspca.Problem:
        """The problem that is asked about, shared by all who look at it."""
        return chosen.problem(of, self.nonneg, self.center, self.scale)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, stored: dict[str, Any]) -> Self:
        """The request that `to_dict` gave, also after a way through JSON, where tuples become lists."""
        return cls(
            **{name: tuple(value) if isinstance(value, list) else value for name, value in stored.items()}
        )

    @property
    def more(self) -> str:
        """What else Python says of the problem."""
        return ""

    def opening(self, k: int | tuple[int, ...], is_covariance: bool) -> str:
        """Python that loads the data and makes the problem."""
        if "folder" in self.data and "some" not in self.data:
            make = (
                f"nspca.Problem.from_shards(X, k={k}, nonneg={self.nonneg}, center={self.center}, "
                f"scale={self.scale}{self.more})"
            )
        elif is_covariance:
            make = f"nspca.Problem.from_covariance(X, k={k}, nonneg={self.nonneg}{self.more})"
        else:
            make = (
                f"nspca.Problem.from_data(X, k={k}, nonneg={self.nonneg}, center={self.center}, "
                f"scale={self.scale}{self.more})"
            )
        return f"{loading(self.data)}\nproblem = {make}"


def loading(data: dict) -> str:
    """Python that opens the data which `Asked.data` describes, as X with its names."""
    if "folder" in data and "some" not in data:
        return f"X = nspca.Shards({data['folder']!r})  # by its path\nnames = X.feature_names"
    if "folder" in data:
        load = f"sample(nspca.Shards({data['folder']!r}), {data['some']})  # by its path"
    elif "sample" in data:
        load = f"nspca.load_sample({data['sample']!r})"
    else:
        options = {
            name: data.get(name)
            for name in ("id_column", "label_column", "features_in_rows", "missing")
            if data.get(name)
        }
        if data.get("vocabulary"):
            options["vocabulary"] = "the vocabulary file"
        given = [repr(data["file"]), *(f"{name}={value!r}" for name, value in options.items())]
        load = f"nspca.read({', '.join(given)})"
    take = [f"data = nspca.prepare(data, {step!r})" for step in data.get("prepared", ())]
    take += [
        f"data = data.{how}({data[how]})  # by number, from 0" for how in ("only", "without") if data.get(how)
    ]
    groups = data.get("together", ())
    if groups:
        take.insert(len(data.get("prepared", ())), "whole = data.feature_names")
    take += ["X, names = data.X, data.feature_names"]
    if data.get("drop"):
        take[-1:] = ["varying = sorted(set(range(data.X.shape[1])) - set(data.constant_columns()))"]
        take += ["X, names = data.X[:, varying], [data.feature_names[j] for j in varying]"]
    if data.get("log2"):
        take += [
            "import numpy as np",
            "X = np.log1p(X.astype(float)) / np.log(2)  # log2(x + 1), for a sparse table too",
        ]
    if groups and (data.get("drop") or data.get("log2")):
        take += [
            "from dataclasses import replace",
            "data = replace(data, X=X, feature_names=tuple(names), image_shape=None, axis=None)",
        ]
    if groups:
        there = " if whole[j] in names" * bool(data.get("drop"))
        take += [f"data = data.together([whole[j] for j in {group}{there}])" for group in groups]
        take += ["X, names = data.X, data.feature_names"]
    first = ["from nspca.dashboard.folder import sample"] if "folder" in data else []
    return "\n".join([*first, f"data = {load}", *take])
