"""A component of a page as one HTML file: script, style and data in it, and a rule that forbids the browser
to ask anybody.
"""

import json
from typing import Any

from nspca.presentation.markup import Markup, render


def html(title: str, sentence: str, body: Markup, style: str, script: str, data: dict[str, Any]) -> bytes:
    """Return a component as a self-contained HTML file.

    Parameters
    ----------
    title, sentence : str
        Title and first sentence of the file.
    body, style, script : str
        Parts of the component. The script is a module whose default export draws it.
    data : dict[str, Any]
        Data that the component gets from a page.
    """
    drawn = script.replace("export default function (", "function mount(", 1)
    given = json.dumps(data).replace("<", "\\u003c")  # a name must not end the script
    return render(
        "standalone",
        title=title,
        sentence=sentence,
        body=body,
        style=Markup(style),
        script=Markup(drawn),
        data=Markup(given),
    ).encode()
