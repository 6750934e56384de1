"""Write a result as one self-contained HTML report: pictures, proved bounds, and Python code."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from html import escape

import plotly.graph_objects as go

import nspca
from nspca.dashboard.components.pictures import Picture
from nspca.dashboard.open_data import Chosen
from nspca.plots import alt_text

STYLE = """body { font-family: system-ui, sans-serif; color: #1d2b30; background: #fcfcfa; }
body { max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } th, td { padding: .3rem .8rem;
  text-align: right; }
th { border-bottom: 2px solid #c9d3d5; } td { border-bottom: 1px solid #e3e9ea; }
  td:last-child, th:last-child { text-align: left; }
pre { background: #f0f3f3; padding: 1rem; overflow-x: auto; } .stand-in { border-left: .3rem solid #d55e00;
  padding-left: .8rem; }
img { max-width: 100%; height: auto; }"""


@dataclass(frozen=True)
class Told:
    """Content of the HTML report on a result.

    Parameters
    ----------
    what : kind of result for the title, such as a sweep
    asked : the question in one line of plain text
    pictures, proved : HTML with all names escaped
    code : Python code that reproduces the result
    """

    what: str
    asked: str
    pictures: str
    proved: str
    code: str


def still(pictures: Mapping[str, Picture], drawn: Mapping[str, go.Figure]) -> str:
    """Return the HTML of pictures, each as the smaller of its SVG and PNG files.

    An SVG in an image element cannot run scripts.
    """
    parts = []
    for name, picture in pictures.items():
        small = min(picture.svg, picture.png, key=len)
        kind = "svg+xml" if small is picture.svg else "png"
        source = f"data:image/{kind};base64,{base64.b64encode(small).decode()}"
        parts.append(f'<p><img src="{source}" alt="{escape(alt_text(drawn[name]))}" width="960"></p>')
    return "\n".join(parts)


def html(about: Chosen, told: Told, made: datetime) -> bytes:
    """Return the HTML file of a report.

    Parameters
    ----------
    about : Chosen
        Data of the result.
    told : Told
    made : datetime
        Time of the report in UTC.
    """
    data = about.dataset
    warning = (
        '<p class="stand-in">These data are a stand-in, made up to look like the real ones.</p>'
        if data.source == "stand-in"
        else ""
    )
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(data.name)}: {escape(told.what)}</title>
<style>{STYLE}</style></head><body>
<h1>{escape(data.name)}</h1>
<p>{escape(data.provenance)}</p>{warning}
<p>{escape(told.asked)}</p>
{told.pictures}
<h2>What is proved</h2>
{told.proved}
<h2>Python that computes it again</h2>
<pre>{escape(told.code)}</pre>
<p><small>nspca {nspca.__version__}, {made:%Y-%m-%d %H:%M} UTC</small></p>
</body></html>
""".encode()
