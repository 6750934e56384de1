"""Write a component as one self-contained HTML file, with a policy that forbids all network access.

The spannogram explorer uses it for a download.
"""

import json
from typing import Any

from nspca.presentation.markup import Markup, render


def html(title: str, sentence: str, body: Markup, style: str, script: str, data: dict[str, Any]) -> bytes:
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
    return render(
        "standalone",
        title=title,
        sentence=sentence,
        body=body,
        style=Markup(style),
        script=Markup(drawn),
        data=Markup(given),
    ).encode()
