"""The learn page: seven screens, each with one figure and one sentence; and rooms for a class."""
