"""Write a component as one self-contained HTML file, with a policy that forbids all network access."""

import json
from html import escape

# The colours of .streamlit/config.toml, under the names that Streamlit gives them on a page.
COLOURS = """:root { color-scheme: light dark; --st-font: system-ui, sans-serif; --st-button-radius: 0.4rem;
--st-text-color: #1d2b30; --st-background-color: #fcfcfa; --st-secondary-background-color: #f0f3f3;
  --st-border-color: #c9d3d5;
--st-primary-color: #0b6e8a; }
@media (prefers-color-scheme: dark) { :root { --st-text-color: #e4eaec; --st-background-color: #14191c;
--st-secondary-background-color: #1e2629; --st-border-color: #3b474b; --st-primary-color: #58b8cf; } }
body { font-family: var(--st-font); color: var(--st-text-color); background: var(--st-background-color);
  max-width: 64rem;
margin: 1.5rem auto; padding: 0 1rem; } h1 { font-size: 1.7rem; }"""
ALONE = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"


def html(title: str, sentence: str, body: str, style: str, script: str, data: dict) -> bytes:
    """Return the HTML file of a component.

    Parameters
    ----------
    title, sentence : str
        Title, and the sentence below it.
    body, style, script : str
        HTML, CSS and JavaScript of the component; the script is a module whose default export draws it.
    data : dict
        Data for the component, as JSON values.
    """
    drawn = script.replace("export default function (", "function mount(", 1)
    given = json.dumps(data).replace("<", "\\u003c")  # a name must not end the script
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="{ALONE}">
<title>{escape(title)}</title><style>{COLOURS}{style}</style></head><body>
<h1>{escape(title)}</h1>
<p>{escape(sentence)}</p>
<main>{body}</main>
<script type="module">
{drawn}
mount({{ parentElement: document.querySelector("main"), data: {given}, setStateValue() {{}} }});
</script></body></html>
""".encode()
