"""The learn page: five screens, each with one figure and one sentence."""
