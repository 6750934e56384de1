"""A folder of shards in the place of a data set."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nspca.errors import InvalidOption
from nspca.shards.reader import Shards


@dataclass(frozen=True)
class OnDisk:
    """What is asked of a `nspca.data.Dataset` besides its numbers, of a folder that is never held whole.

    Parameters
    ----------
    X : Shards
    """

    X: Shards
    source = "user"
    is_covariance = False
    prepared: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What the folder is called."""
        return self.X.name

    @property
    def notes(self) -> tuple[str, ...]:
        """What reading the file changed that it was made of."""
        return self.X.notes

    @cached_property
    def feature_names(self) -> Sequence[str]:
        """Names of the columns."""
        return self.X.feature_names

    def numbers(self, features: Sequence[int | str]) -> np.ndarray:
        """Features by number or by name, as numbers in increasing order.

        Raises
        ------
        InvalidOption
            For one that is not there.
        """
        place = {name: j for j, name in enumerate(self.feature_names)}
        found = [place.get(one, -1) if isinstance(one, str) else one for one in features]
        if not all(0 <= j < len(place) for j in found):
            raise InvalidOption(
                f"features are given by name or by a number from 0 to {len(place) - 1}, got {features}"
            )
        return np.array(sorted({*found}))
