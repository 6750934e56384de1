"""Build the export of a result: report, figures, tables, certificates, the question, and Python.

The modules `sweep.archive`, `sweep.rivals_archive` and `joint.take_home` describe a result by `Contents` and
`Whole`, and call `Whole.pack` for the ZIP.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import plotly.graph_objects as go

import nspca
from nspca.dashboard.components.pictures import Picture
from nspca.dashboard.export import archive, page, readme, references
from nspca.dashboard.export.archive import File
from nspca.dashboard.open_data import Chosen
from nspca.data.arrays import to_npz
from nspca.presentation.markup import Markup
from nspca.specs import ComparisonSpec, ComponentsSpec, DataSpec, ProblemSpec, SweepSpec
from nspca.specs.data import CHANGES

REPRODUCE = "Computes a result again and checks the certificates beside this file: run it in this folder."
DATA, CERTIFICATES = "data.npz", "certificates/"
CHECKING = """
from pathlib import Path

for file in sorted(Path("certificates").glob("*.npz")):
    certificate = nspca.Certificate.load(file)
    print(file.name, nspca.verify(X, certificate))  # forms its own products from the data, trusts nothing
"""
"""Python code that checks every certificate in the current folder; it needs a variable X."""


@dataclass(frozen=True)
class Contents:
    """Content of the export of one result; all other files of its ZIP follow from the question.

    Parameters
    ----------
    tables : CSV files with their descriptions, by path
    certificates : certificates by file name
    proofs : description of the certificates in the README
    proved : HTML of the report about the proved bounds
    captions : captions of the figures whose names do not say enough, by name
    computed : question that the exported Python answers, if it differs from the asked one
    """

    tables: Mapping[str, File]
    certificates: Mapping[str, nspca.Certificate]
    proofs: str
    proved: Markup
    captions: Mapping[str, str] = field(default_factory=dict)
    computed: ProblemSpec | None = None


@dataclass(frozen=True)
class Whole:
    """The description of a result for its export.

    Parameters
    ----------
    about, asked : the data and the question
    what : kind of result in the name of the ZIP, such as "sweep" or "parts"
    missing : sentences on what was asked for and is not there
    own : whether the visitor owns the data, so that the ZIP may contain them; not so for a shared run
    shown : the part of the result that the page shows, for `Spec.to_python`
    """

    about: Chosen
    asked: SweepSpec | ComparisonSpec | ComponentsSpec
    what: str
    missing: str = ""
    own: bool = True
    shown: Mapping[str, Any] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """The question in one line."""
        return f"Asked: {self.asked.describe().asked}. Seed {self.asked.seed}. {self.missing}".strip()

    @property
    def folder(self) -> str:
        """Name of the ZIP and of the folder in it."""
        return archive.ascii_name(f"{self.about.stem}-{self.what}")

    @property
    def with_data(self) -> bool:
        """Tell whether the ZIP contains the data; a sample that others can open by name is left out."""
        return self.own and self.about.table is None and not self._by_name

    @property
    def _by_name(self) -> bool:
        """Tell whether the data are a sample that anybody can open by its name."""
        where = self.asked.data
        return where.sample is not None and not any(getattr(where, name) for name in CHANGES)

    @property
    def spec(self) -> ProblemSpec:
        """The question; its data are the file of the ZIP if the ZIP contains them."""
        return self._here(self.asked)

    def _here(self, spec: ProblemSpec) -> ProblemSpec:
        """Return a question with its data replaced by the file of the ZIP, if the ZIP contains them."""
        if not self.with_data:
            return spec
        kept = {
            name: getattr(spec.data, name) for name in ("covariance", "repair", "content", "weight_column")
        }
        return spec.but(data=DataSpec(path=DATA, **kept))

    def script(self, contents: Contents) -> str:
        """Return Python code that reproduces the result and checks its certificates."""
        spec = self.spec if contents.computed is None else self._here(contents.computed)
        return f'"""{REPRODUCE}"""\n\n{spec.to_python(**self.shown)}{CHECKING}'

    def pack(
        self,
        contents: Contents,
        drawn: Mapping[str, go.Figure],
        pictures: Mapping[str, Picture],
        made: datetime,
    ) -> bytes:
        """Return the ZIP of a result.

        Parameters
        ----------
        contents : Contents
        drawn : figures by name
        pictures : the figures as picture files, by name; some may be missing
        made : time of the export, in UTC
        """
        code, prepared = self.script(contents), self.about.dataset.prepared
        captions = {name: name.replace("-", " ") for name in drawn} | dict(contents.captions)
        still = page.still(pictures, drawn, captions)
        texts = {"what": self.what, "asked": self.line, "code": code}
        report = page.html(self.about, made, pictures=still, proved=contents.proved, **texts)
        proofs = {
            f"{CERTIFICATES}{name}.npz": certificate.of_prepared(prepared).to_bytes()
            for name, certificate in contents.certificates.items()
        }
        first = next(iter(proofs), None)
        files = {
            "report.html": File(report, "the figures, the numbers and the recipe as one page"),
            **archive.figures(pictures, captions),
            **contents.tables,
            **{path: File(body, contents.proofs if path == first else "") for path, body in proofs.items()},
            "reproduce.py": File(
                code.encode(), "computes it again and checks the certificates that are here"
            ),
            "question.json": File(
                self.spec.to_json().encode(), "the question: `python -m nspca run question.json` answers it"
            ),
            "references.bib": File(
                references.bibtex(), "what to cite, as BibTeX: the papers and the software"
            ),
        }
        if self.with_data:
            said = "the numbers that everything here is about, as they are after reading"
            files[DATA] = File(to_npz(self.about.dataset), said)
        checks = self._checks([path for path in files if path.startswith(CERTIFICATES)])
        readme_file = File(readme.text(self.about, self.line, files, checks, made))
        return archive.zipped({"README.txt": readme_file, **files}, self.folder, made)

    def _checks(self, certificates: list[str]) -> list[str]:
        """Return lines for the README about checking the certificates."""
        run = [
            "    python reproduce.py",
            "",
            "computes it again, and checks every certificate, in this folder.",
        ]
        if not self.with_data and not self._by_name:
            run += ["It needs the data, which are not in this ZIP, in this folder too."]
            folder = self.asked.data.folder
            if folder is not None and self.about.table is not None and certificates:
                place = shlex.quote(folder)
                run += ["A single certificate is checked from the folder of shards by", ""]
                run += [f"    python -m nspca verify {place} {certificates[0]}", ""]
        elif certificates:
            data = DATA if self.with_data else self.asked.data.sample
            run += ["A single one is checked, without computing the result again, by", ""]
            run += [f"    python -m nspca verify {data} {certificates[0]}", ""]
        said = (
            "It prints what is proved, or refuses. The checker forms its own products from the data and "
            "shares no code with what"
        )
        return ["On any machine that has nspca,", "", *run, said, "made the certificate."]
