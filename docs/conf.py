"""Settings of Sphinx for `make docs`, which builds the site and treats a warning as an error."""

import os
import re
import sys
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # the examples are small
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from docutils.nodes import SkipNode  # noqa: E402
from latex2mathml.converter import convert  # noqa: E402

import nspca  # noqa: E402
from scripts import examples, note, note_figures  # noqa: E402

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
numfig = True

myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
html_math_renderer = "mathml"  # a browser draws MathML by itself, so a formula needs no script and no network

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

# `make note` prints the note alone.
latex_documents = [("note", "nspca-note.tex", "How good is a sparse component?", "nspca", "howto")]
latex_elements = {
    "papersize": "a4paper",
    "pointsize": "10pt",
    "figure_align": "htbp",
    # Tables in small print. A column that a command fills takes a quarter of the line at most.
    "preamble": r"\usepackage{etoolbox}"
    r"\newcommand{\smallcolumns}{\footnotesize\tabcolsep=3.5pt\def\sphinxcolwidth##1##2{0.24\linewidth}}"
    r"\AtBeginEnvironment{tabulary}{\footnotesize}"
    r"\AtBeginEnvironment{tabular}{\smallcolumns}\AtBeginEnvironment{longtable}{\smallcolumns}",
}
latex_table_style = ["booktabs"]
latex_show_urls = "no"
latex_domain_indices = False


def _skip(app, what, name, thing, skip, options):
    """scikit-learn gives every estimator methods such as `set_fit_request`, which are documented there."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def _run(app, docname, source):
    """Run an example so that its page shows what came out; fill the note with what the benchmarks stored."""
    if docname.startswith("examples/"):
        file = docname.replace("examples/", "notebooks/") + ".ipynb"
        page = examples.page(Path(app.srcdir, f"{docname}.py"))
        words = "on the samples that come with nspca"
        source[0] = f"{page}\nThe same as {{download}}`an executed notebook </{file}>`, {words}.\n"
    if docname == "note":
        for path in note.SOURCES:
            app.env.note_dependency(str(path))
        source[0] = note.fill(source[0])


def _draw(app):
    """Draw the figures of the note before any page is read."""
    note_figures.draw(note.FIGURES)


def _mathml(latex, display):
    """Return a formula as MathML: bars without space around them, relations as operators, room after cos."""
    text = convert(latex, display=display)
    text = text.replace(
        '<mo stretchy="false">&#x0007C;', '<mo stretchy="false" lspace="0" rspace="0">&#x0007C;'
    )
    text = re.sub("<mi>(&#x02AAF;|&#x02AB0;)</mi>", r"<mo>\1</mo>", text)
    return re.sub("(<mi>(?:cos|sin)</mi>)", r'\1<mspace width="0.17em"/>', text)


def _formula(self, node):
    """Write a formula as MathML."""
    self.body.append(_mathml(node.astext(), "inline"))
    raise SkipNode


def _display(self, node):
    """Write a formula on a line of its own as MathML."""
    self.body.append(f'<div class="math">{_mathml(node.astext(), "block")}</div>')
    raise SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (_formula, None), (_display, None))
    app.connect("builder-inited", _draw)
    app.connect("source-read", _run)
    app.connect("autodoc-skip-member", _skip)
