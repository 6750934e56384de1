"""The learn page: six screens, each with one figure and one sentence; and rooms for a class."""
