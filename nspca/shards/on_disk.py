"""A folder of shards in the role of a data set.

Specs and commands open a folder as an `OnDisk` where a file would give a `nspca.data.Dataset`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nspca.errors import InvalidOption
from nspca.shards.reader import Shards


@dataclass(frozen=True)
class OnDisk:
    """The attributes of a `nspca.data.Dataset` besides its numbers, for a folder that is never held whole.

    Parameters
    ----------
    X : Shards
    client : distributed.Client, optional
        Client of a Dask cluster whose workers read the folder together.
    """

    X: Shards
    client: Any = None
    source = "user"
    is_covariance = False
    prepared: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.X.name

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about the file that the folder was made of."""
        return self.X.notes

    @cached_property
    def feature_names(self) -> Sequence[str]:
        """The names of the columns."""
        return self.X.feature_names

    def numbers(self, features: Sequence[int | str]) -> np.ndarray:
        """Return features, given by number or by name, as numbers in increasing order.

        Raises
        ------
        InvalidOption
            For a feature that the table does not have.
        """
        place = {name: j for j, name in enumerate(self.feature_names)}
        found = [place.get(one, -1) if isinstance(one, str) else one for one in features]
        if not all(0 <= j < len(place) for j in found):
            raise InvalidOption(
                f"features are given by name or by a number from 0 to {len(place) - 1}, got {features}"
            )
        return np.array(sorted({*found}))
