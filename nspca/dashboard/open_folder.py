"""A folder of shards as pages see it: the open folder, and an outline of the covariance of all its rows.

Pages never read all rows. `open_data` takes a sample of them to look at, and workers compute the numbers that
complete an `Outline`.
"""

from typing import Any

import numpy as np

from nspca.covariance.covariance import Covariance
from nspca.dashboard.app import cache
from nspca.errors import Refused
from nspca.shards import Shards, served
from nspca.specs import DataSpec

ALL_ROWS = "Not offered for all rows of a folder: choose a sample of them above."


def digest(name: str) -> str:
    """Return the digest of the present content of a folder of shards.

    Raises
    ------
    InvalidData
        When there is no such folder.
    """
    return _opened(name, served.stamp(name)).digest


def opened(name: str, digest: str) -> Shards:
    """Return an open folder of shards with the given digest.

    Raises
    ------
    InvalidData
        When the folder does not exist or now has other content.
    """
    table = _opened(name, served.stamp(name))
    # The spec raises the error that the folder has other content now.
    return table if table.digest == digest else DataSpec(folder=name, digest=digest).shards()


@cache.keep()
def _opened(name: str, stamp: str) -> Shards:
    """Return the open folder, cached until its `stamp` changes because it was written again."""
    return served.opened(name)


class Outline(Covariance):
    """The covariance of a folder without its entries: its size, and the numbers that a worker computed.

    `leading(1)` returns the eigenvalue with zeros in place of its eigenvector, which no page uses. Products,
    columns, blocks and variances raise an error.

    Parameters
    ----------
    table : the folder
    center, scale : whether its columns are centred and scaled
    leading, total : float or None
        The leading eigenvalue and the total variance; None until a worker has computed them. In the
        units of the data.
    """

    def __init__(
        self, table: Shards, center: bool, scale: bool, leading: Any = None, total: Any = None
    ) -> None:
        m, n = table.shape
        recipe: dict[str, Any] = {"center": center, "scale": scale, "digest": table.digest, "exponent": 0}
        super().__init__(n, (m, n), "data", **recipe)
        self._leading, self._total = leading, total

    @property
    def is_measured(self) -> bool:
        """Whether a worker has computed the total variance, and with it what else was asked for."""
        return self._total is not None

    def leading(self, d: int) -> tuple[Any, Any]:
        if d != 1 or self._leading is None:
            raise Refused("the rows of a folder are read by a worker; ask for all that is needed in a run")
        return np.array([self._leading]), np.zeros((self.n, 1))

    @property
    def trace(self) -> float:
        if self._total is None:
            raise Refused("the variance of a folder is measured by a worker; look again when it is known")
        return self._total
