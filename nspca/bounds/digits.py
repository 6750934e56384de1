"""Round matrices to few binary digits, so that they compress well; bounds are proved after rounding.

`scripts.lean` rounds the W and M of finished certificates, and `fixing.stored` those of a tree.
"""

import numpy as np

from nspca.covariance.linalg import Array


def rounded(W: Array, digits: int) -> Array:
    """Return W rounded to a power of two that is 4 to 8 times ``2**-digits`` of its root mean square."""
    size = float(np.sqrt(np.mean(W * W)))
    if size == 0.0:
        return W
    step = 2.0 ** (np.ceil(np.log2(size)) + 2 - digits)
    return np.round(W / step) * step
