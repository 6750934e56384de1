"""Take a result home: everything as one ZIP, single files, and the question as Python and JSON.

A page describes its result by an `Export`. Most figures are drawn by the browser of the visitor, so that the
server needs no browser: a click on the button asks for the pictures, and the download begins with them.
"""

import base64
import hashlib
import io
import re
import secrets
import shlex
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files as resources
from mimetypes import guess_type
from pathlib import PurePosixPath
from typing import Any

import plotly.graph_objects as go
import streamlit as st

import nspca
from nspca.dashboard.app import buttons
from nspca.dashboard.components import pictures
from nspca.dashboard.components.mount import mount
from nspca.dashboard.components.pictures import Picture
from nspca.dashboard.open_data import Chosen
from nspca.data.arrays import to_npz
from nspca.plots.theme import alt_text
from nspca.presentation.markup import Markup, render
from nspca.presentation.slide import slide
from nspca.specs import ComparisonSpec, ComponentsSpec, DataSpec, ProblemSpec, Spec, SweepSpec
from nspca.specs.data import CHANGES

PACKED = (".png", ".npz")  # compressed already
DATA, CERTIFICATES = "data.npz", "certificates/"
ASKED, DRAWN = "everything_asked", "everything_drawn"
"""Session keys: identity and kind of the requested file, and that identity with the browser's pictures."""
WHAT = (
    "Figures as SVG and PNG, tables, certificates, a report, the Python that computes it again, and "
    "what to cite, in one ZIP file."
)
WITHOUT = (
    "This browser could not draw the figures as files: the ZIP has everything else. The camera above "
    "each figure saves one alone."
)
KINDS = {
    "everything": ("ZIP", ":material/folder_zip:", WHAT),
    "slide": ("Slide", ":material/co_present:", "The headline and its pictures as one PNG of 1920 × 1080."),
}
"""Files that need pictures drawn by the browser: label, icon and help."""
JSON_HELP = "The question as a file: `python -m nspca run` answers it on any computer that has the data."
REPRODUCE = "Computes a result again and checks the certificates beside this file: run it in this folder."
CHECKING = """
from pathlib import Path

for file in sorted(Path("certificates").glob("*.npz")):
    certificate = nspca.Certificate.load(file)
    print(file.name, nspca.verify(X, certificate))  # forms its own products from the data, trusts nothing
"""
"""Python code that checks every certificate in the current folder; it needs a variable X."""
# A download needs a click in the browser, and the ZIP exists only after the figures are drawn.
_CLICK = mount("click", is_alone=False)


@dataclass(frozen=True)
class File:
    """A file of a result."""

    make: Callable[[], bytes]  # returns the content; it is called where nothing is known of the address
    about: str = ""  # description in the README, "" for a file like the one before
    label: str = ""  # text of the button that downloads the file alone; "" for a file that is in the ZIP only
    name: str = ""  # file name of that download, by default the name in the ZIP after the name of the data
    help: str | None = None  # help text of that button
    alone: bool = False  # whether the file is not in the ZIP


@dataclass(frozen=True, eq=False)
class Export:
    """A result to take home. What its ZIP has besides these parts follows from the question."""

    of: Chosen  # of, asked: the data and the question
    asked: SweepSpec | ComparisonSpec | ComponentsSpec
    what: str  # kind of result in the name of the ZIP, such as "sweep" or "parts"
    files: Mapping[str, File]  # tables and lists, by their path in the ZIP
    certificates: Mapping[str, nspca.Certificate]  # certificates by file name
    proved: Callable[[], Markup]  # returns the HTML of the report about the proved bounds
    # returns the figures by name, in plain ASCII, which with spaces for hyphens is their caption
    figures: Callable[[], Mapping[str, go.Figure]] = dict
    same: str = ""  # text that changes whenever the content of the ZIP changes
    missing: str = ""  # sentences on what was asked for and is not there
    # whether the visitor owns the data, so that the ZIP may contain them; not so for a shared run
    own: bool = True
    # the part of the result that the page shows, for `Spec.to_python`
    shown: Mapping[str, Any] = field(default_factory=dict)
    # question that the exported Python answers, if it differs from the asked one
    computed: ProblemSpec | None = None
    headline: str = ""  # the answer in a sentence, for the slide

    @property
    def line(self) -> str:
        """The question in one line."""
        return f"Asked: {self.asked.describe().asked}. Seed {self.asked.seed}. {self.missing}".strip()

    @property
    def folder(self) -> str:
        """Name of the ZIP and of the folder in it."""
        return ascii_name(f"{self.of.stem}-{self.what}")

    @property
    def with_data(self) -> bool:
        """Tell whether the ZIP contains the data; a sample that others can open by name is left out."""
        return self.own and self.of.table is None and not self._by_name

    @property
    def _by_name(self) -> bool:
        where = self.asked.data
        return where.sample is not None and not any(getattr(where, name) for name in CHANGES)

    def _here(self, spec: ProblemSpec) -> ProblemSpec:
        """Return a question with its data replaced by the file of the ZIP, if the ZIP contains them."""
        if not self.with_data:
            return spec
        kept = {
            name: getattr(spec.data, name) for name in ("covariance", "repair", "content", "weight_column")
        }
        return spec.but(data=DataSpec(path=DATA, **kept))

    def pack(
        self, drawn: Mapping[str, go.Figure], pictures: Mapping[str, Picture], made: datetime | None = None
    ) -> bytes:
        """Return the ZIP of the result. Equal content with an equal date gives equal bytes."""
        made = made or datetime.now(UTC)
        captions = {name: name.replace("-", " ") for name in drawn}
        code = self._here(self.computed or self.asked).to_python(**self.shown)
        code = f'"""{REPRODUCE}"""\n\n{code}{CHECKING}'
        report = self.report(_still(pictures, drawn, captions), code, made)
        found = {"report.html": (report, "the figures, the numbers and the recipe as one page")}
        for name, picture in pictures.items():
            found[f"figures/{name}.svg"] = picture.svg, f"{captions[name]}; scales to any size"
            found[f"figures/{name}.png"] = picture.png, "the same in pixels"
        found |= {path: (one.make(), one.about) for path, one in self.files.items() if not one.alone}
        said = "the proofs; the tables say which row each is of"
        if len(self.certificates) == 1:
            said = "the proof that nothing explains more than its limit"
        for name, certificate in self.certificates.items():
            content = certificate.of_prepared(self.of.dataset.prepared).to_bytes()
            found[f"{CERTIFICATES}{name}.npz"], said = (content, said), ""
        said = "the question: `python -m nspca run question.json` answers it"
        found |= {
            "reproduce.py": (code.encode(), "computes it again and checks the certificates that are here"),
            "question.json": (self._here(self.asked).to_json().encode(), said),
            "references.bib": (bibtex(), "what to cite, as BibTeX: the papers and the software"),
        }
        if self.with_data:
            said = "the numbers that everything here is about, as they are after reading"
            found[DATA] = to_npz(self.of.dataset), said
        found = {"README.txt": (self._readme(found, made), ""), **found}
        return zipped({path: content for path, (content, _) in found.items()}, self.folder, made)

    def report(self, pictures: Markup, code: str, made: datetime) -> bytes:
        """Return the report of the result as one HTML file, with HTML of its pictures and Python code."""
        data = self.of.dataset
        return render(
            "report",
            name=data.name,
            what=self.what,
            provenance=data.provenance,
            notes=data.notes,
            asked=self.line,
            pictures=pictures,
            proved=self.proved(),
            code=code,
            version=nspca.__version__,
            made=made,
        ).encode()

    def _readme(self, found: Mapping[str, tuple[bytes, str]], made: datetime) -> bytes:
        data, folder = self.of.dataset, self.asked.data.folder
        place = DATA if self.with_data else self.asked.data.sample if self._by_name else None
        if place is None and folder is not None and self.of.table is not None:
            place = shlex.quote(folder)
        first = next((path for path in found if path.startswith(CERTIFICATES)), None)
        texts = [" ".join(text.split()) for text in (data.name, data.provenance, *data.notes)]
        return render(
            "readme",
            name=texts[0],
            said=[line for line in texts[1:] if line],
            asked=self.line,
            version=nspca.__version__,
            made=made,
            found=[(path, about) for path, (_, about) in found.items() if about],
            width=max(map(len, found)),
            is_needed=not self.with_data and not self._by_name,
            check=f"python -m nspca verify {place} {first}" if place and first else "",
        ).encode()

    def show(self) -> None:
        """Draw the downloads: everything as one ZIP, a slide, single files, Python and JSON."""
        of = hashlib.sha256(self.same.encode()).hexdigest()
        ready, asked = st.session_state.get(DRAWN), st.session_state.get(ASKED)
        drawn = None if ready is None or ready[0] != of else (ready[1] or {})
        with st.container(horizontal=True):
            for kind, (label, icon, help_text) in KINDS.items():
                if drawn is None:
                    ask = partial(st.session_state.update, {ASKED: (of, kind)})
                    buttons.button(label, f"ask_{kind}", ask, icon=icon, help=help_text)
                    continue
                name = f"{self.folder}.zip" if kind == "everything" else f"{self.folder}-slide.png"
                make = partial(self._made, kind, drawn)
                how: dict[str, Any] = {"key": f"download_{kind}", "icon": icon, "help": help_text}
                st.download_button(label, make, name, guess_type(name)[0], on_click="ignore", **how)
        if ready is not None and drawn is not None:
            if ready[1] is None:
                st.warning(WITHOUT)
            click = {"button": f".st-key-download_{ready[3]} button", "of": ready[2]}
            _CLICK(key="click_everything", data=click, width=1, height=1)
        elif asked is not None and asked[0] == of:
            pictures.draw(self.figures(), "everything", of, lambda drawn: _keep(of, asked[1], drawn))
        with st.expander("Single files", icon=":material/download:"):
            for path, one in self.files.items():
                if one.label:
                    name = one.name or f"{self.of.stem}-{PurePosixPath(path).name}"
                    look: dict[str, Any] = {"key": f"download_{one.label}", "help": one.help}
                    buttons.download(one.label, one.make, name, guess_type(name)[0] or buttons.BYTES, **look)
        with st.expander("Python", icon=":material/code:"):
            st.code(self.asked.to_python(**self.shown), language="python")
            download_json(self.asked, self.of)

    def _made(self, kind: str, drawn: dict[str, Picture]) -> bytes:
        if kind == "everything":
            return self.pack(self.figures(), drawn)
        foot = f"{self.of.dataset.name} · nspca {nspca.__version__}"
        return slide(self.headline or self.line, [one.png for one in drawn.values()], foot)


def _keep(of: str, kind: str, drawn: dict[str, Picture] | None) -> None:
    """Store the pictures that the browser drew (None: it could not), with a token for one click."""
    st.session_state[DRAWN] = (of, drawn, secrets.token_hex(8), kind)
    st.session_state.pop(ASKED, None)


def offer(spec: Spec, of: Chosen | None = None, key: str = "", code: str = "", **shown: Any) -> None:
    """Draw the Python code of a question, and the download of the question as JSON."""
    with st.container(horizontal=True):
        with st.popover("Python", icon=":material/code:"):
            st.code(code or spec.to_python(**shown), language="python")
        download_json(spec, of, key)


def download_json(spec: Spec, of: Chosen | None, key: str = "") -> None:
    """Draw the download of a question as JSON; the arguments are those of `offer`."""
    name = f"{of.stem}-{spec.kind}" if of is not None else spec.kind
    st.download_button(
        "JSON",
        lambda: spec.to_json().encode(),
        f"{name.replace(' ', '-')}.json",
        "application/json",
        icon=":material/data_object:",
        on_click="ignore",
        key=f"json_{spec.kind}_{key}",
        help=JSON_HELP,
    )


def _still(
    pictures: Mapping[str, Picture], drawn: Mapping[str, go.Figure], captions: Mapping[str, str]
) -> Markup:
    """Return HTML of described pictures, each as its smaller file: an SVG image cannot run scripts."""
    sources = []
    for name, picture in pictures.items():
        small = min(picture.svg, picture.png, key=len)
        kind = "svg+xml" if small is picture.svg else "png"
        source = f"data:image/{kind};base64,{base64.b64encode(small).decode()}"
        sources.append((alt_text(drawn[name]), source, captions[name]))
    return render("pictures", pictures=sources)


def moving(drawn: go.Figure) -> Markup:
    """Return a figure as HTML with the whole of plotly.js, 5 MB, so that a reader can zoom and point."""
    figure = go.Figure(drawn).update_layout(font_color="#4b5560")
    # The camera saves in the browser; nothing is sent anywhere.
    config = {"displaylogo": False, "showSendToCloud": False, "toImageButtonOptions": {"format": "svg"}}
    picture = figure.to_html(full_html=False, include_plotlyjs=True, config=config, div_id="sweep")
    return render("figure", alt=alt_text(drawn), figure=Markup(picture))


def zipped(found: Mapping[str, bytes], folder: str, made: datetime) -> bytes:
    """Return a ZIP with files, by their path, inside one folder; `made` is the date of every file."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, content in found.items():
            info = zipfile.ZipInfo(f"{ascii_name(folder)}/{path}", made.timetuple()[:6])
            info.external_attr = 0o644 << 16  # readable for all after unpacking
            info.create_system = 3  # Unix, so that the line above applies on every machine
            how = zipfile.ZIP_STORED if path.endswith(PACKED) else zipfile.ZIP_DEFLATED
            archive.writestr(info, content, compress_type=how)
    return buffer.getvalue()


def ascii_name(text: str) -> str:
    """Return a text as a file name of ASCII letters, digits, dots and hyphens, valid on every system."""
    return re.sub(r"[^A-Za-z0-9.-]+", "-", text).strip("-.") or "nspca"


def bibtex() -> bytes:
    """Return the BibTeX entries of the four papers and of the running version of the software."""
    entries = resources("nspca.presentation").joinpath("references.bib").read_text("utf-8")
    return entries.replace("VERSION", nspca.__version__).encode()
