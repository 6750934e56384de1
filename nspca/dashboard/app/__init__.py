"""What every page stands in: the frame, what a session keeps, buttons, words, the server."""
