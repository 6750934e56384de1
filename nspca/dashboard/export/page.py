"""Write a result as one self-contained HTML report: pictures, proved bounds, and Python code.

The ZIP of every export has such a report (`whole`), and the sweep page offers one by itself.
"""

import base64
from collections.abc import Mapping
from datetime import datetime

import plotly.graph_objects as go

import nspca
from nspca.dashboard.components.pictures import Picture
from nspca.dashboard.open_data import Chosen
from nspca.plots import alt_text
from nspca.presentation.markup import Markup, render


def still(
    pictures: Mapping[str, Picture], drawn: Mapping[str, go.Figure], captions: Mapping[str, str]
) -> Markup:
    """Return the HTML of pictures, each as the smaller of its SVG and PNG files, for `html`.

    `drawn` has the figures by the same names, whose descriptions the images carry. `captions` has the lines
    below them.

    An SVG in an image element cannot run scripts.
    """
    sources = []
    for name, picture in pictures.items():
        small = min(picture.svg, picture.png, key=len)
        kind = "svg+xml" if small is picture.svg else "png"
        source = f"data:image/{kind};base64,{base64.b64encode(small).decode()}"
        sources.append((alt_text(drawn[name]), source, captions[name]))
    return render("pictures", pictures=sources)


def html(
    about: Chosen, made: datetime, *, what: str, asked: str, pictures: Markup, proved: Markup, code: str
) -> bytes:
    """Return the HTML file of a report.

    Parameters
    ----------
    about : data of the result
    made : time of the report in UTC
    what : kind of result for the title, such as a sweep
    asked : the question in one line of plain text
    pictures, proved : HTML with all names escaped
    code : Python code that reproduces the result
    """
    data = about.dataset
    return render(
        "report",
        name=data.name,
        what=what,
        provenance=data.provenance,
        notes=data.notes,
        asked=asked,
        pictures=pictures,
        proved=proved,
        code=code,
        version=nspca.__version__,
        made=made,
    ).encode()
