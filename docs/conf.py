"""Settings of Sphinx for `make docs`, which builds the site and treats a warning as an error."""

import os
import sys
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the examples are small
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import nspca  # noqa: E402
from scripts import examples  # noqa: E402

project = author = "nspca"
release = nspca.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown", ".py": "markdown"}  # examples become Markdown when they are read
exclude_patterns = ["conf.py"]
highlight_language = "text"  # what stands in a block is a formula or a tree of folders unless it says python

# Docstrings are numpydoc, and `x` in them is code.
default_role = "code"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_param = napoleon_use_rtype = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"
toc_object_entries = False

myst_heading_anchors = 3

html_theme = "alabaster"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = "nspca"
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "description": "Sparse and nonnegative sparse PCA with certificates",
    "font_family": "system-ui, sans-serif",
    "head_font_family": "system-ui, sans-serif",
    "page_width": "1100px",
    "sidebar_width": "240px",
    "show_powered_by": False,
    "fixed_sidebar": True,
}


def _skip(app, what, name, thing, skip, options):
    """scikit-learn gives every estimator methods such as `set_fit_request`, which are documented there."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def _run(app, docname, source):
    """An example is run, and its page shows what came out."""
    if docname.startswith("examples/"):
        source[0] = examples.page(Path(app.srcdir, f"{docname}.py"))


def setup(app):
    app.connect("source-read", _run)
    app.connect("autodoc-skip-member", _skip)
