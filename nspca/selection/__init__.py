"""Choose the number of features or components, and test against noise and for groups.

The evidence comes from rows held out, rows drawn again, columns shuffled, and labels. The names below are
public. The specs of the same questions run them for the pages and the command line.
"""

from nspca.selection.choice import Choice, choose_components, choose_k
from nspca.selection.groups import GroupEffects, group_effects, held_out_group_effects
from nspca.selection.noise import NoiseTest, noise_test

__all__ = [
    "Choice",
    "GroupEffects",
    "NoiseTest",
    "choose_components",
    "choose_k",
    "group_effects",
    "held_out_group_effects",
    "noise_test",
]
