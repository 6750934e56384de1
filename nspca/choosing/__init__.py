"""How many features, how many components, and whether noise would give as much: what rows that were held out
say, rows drawn again, and columns that were shuffled.
"""

from nspca.choosing.choice import Choice, choose_components, choose_k
from nspca.choosing.noise import NoiseTest, noise_test

__all__ = ["Choice", "NoiseTest", "choose_components", "choose_k", "noise_test"]
