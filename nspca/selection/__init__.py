"""Choose the number of features or components, and test against noise.

The evidence comes from rows held out, rows drawn again, and columns shuffled.
"""

from nspca.selection.choice import Choice, choose_components, choose_k
from nspca.selection.noise import NoiseTest, noise_test

__all__ = ["Choice", "NoiseTest", "choose_components", "choose_k", "noise_test"]
