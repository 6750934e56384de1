"""Make HTML from the templates in the folder ``templates``.

Every value is escaped where a template writes it, so a name from data is always text and never markup.
"""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

__all__ = ["Markup", "render"]
FOLDER = Path(__file__).parent / "templates"


@cache
def environment() -> Environment:
    """Return the templates with automatic escaping. A value that a template misses is an error."""
    return Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


def render(template: str, **values: Any) -> Markup:
    """Return the HTML of a template, by its name without ending; all values but `Markup` are escaped."""
    return Markup(environment().get_template(f"{template}.html").render(values))
