"""Parts that every page shares: frame, state of the session, buttons, cache, wording, and the server."""
