"""Parts that every page shares: the frame, the state of a session, buttons, words, the server."""
