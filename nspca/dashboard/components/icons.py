"""Return SVG icons for components that run in the browser.

SVG is used because a page saved as a file lacks the icon font, and system fonts lack some symbols. Each icon
looks like its namesake in the icon font.
"""

_PATHS = {
    "play": "M8 5v14l11-7z",
    "pause": "M6 5h4v14H6zM14 5h4v14h-4z",
    "star": "M12 17.3 18.2 21l-1.6-7L22 9.2l-7.2-.6L12 2 9.2 8.6 2 9.2 7.5 14l-1.7 7z",
    "back": "M15.4 7.4 14 6l-6 6 6 6 1.4-1.4-4.6-4.6z",
    "on": "M8.6 16.6 10 18l6-6-6-6-1.4 1.4 4.6 4.6z",
}
CSS = """
svg.icon { width: 1.2em; height: 1.2em; fill: currentColor; vertical-align: -0.25em; }
[aria-pressed="true"] > svg.play, [aria-pressed="false"] > svg.pause { display: none; }
"""
"""Style of the icons. A button with two icons shows "play" until it is pressed, and "pause" afterwards."""


def icon(name: str) -> str:
    """Return an icon of `_PATHS` as SVG, in the size and the colour of the surrounding text."""
    path = _PATHS[name]
    return f'<svg class="icon {name}" viewBox="0 0 24 24" aria-hidden="true"><path d="{path}"/></svg>'


PLAY = (
    f'<button class="play" type="button" aria-pressed="false">{icon("play")}{icon("pause")} '
    "<span>Play</span></button>"
)
"""HTML of the play button. Its script sets ``aria-pressed`` and the label, Play or Pause."""
