"""How many features, how many components: what rows that were held out say, and rows drawn again."""

from nspca.choosing.choice import Choice, choose_components, choose_k

__all__ = ["Choice", "choose_components", "choose_k"]
