"""Style that the spannogram explorer and the cone replay share: buttons, and the icons of ``icons.html``."""

CSS = """
:is(.nspca-spx, .nspca-cones) button { font: inherit; color: inherit; cursor: pointer;
  padding: 0.25rem 0.8rem; background: var(--st-secondary-background-color);
  border: 1px solid var(--st-border-color);
  border-radius: var(--st-button-radius); }
:is(.nspca-spx, .nspca-cones) button:is(:hover, :focus-visible) { border-color: var(--st-primary-color); }
svg.icon { width: 1.2em; height: 1.2em; fill: currentColor; vertical-align: -0.25em; }
[aria-pressed="true"] > svg.play, [aria-pressed="false"] > svg.pause { display: none; }
"""
"""A button with two icons shows "play" until it is pressed, and "pause" afterwards."""
