"""The learn page: six screens, each with one figure and one sentence, and the room of a class."""
