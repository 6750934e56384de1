"""Style of the icons in the template ``icons.html``, for the spannogram explorer and the cone replay."""

CSS = """
svg.icon { width: 1.2em; height: 1.2em; fill: currentColor; vertical-align: -0.25em; }
[aria-pressed="true"] > svg.play, [aria-pressed="false"] > svg.pause { display: none; }
"""
"""Style of the icons. A button with two icons shows "play" until it is pressed, and "pause" afterwards."""
