"""What every such ZIP has besides the result: the data where nobody else has them, what to cite, how to
check, a README.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from nspca.dashboard.chosen import Chosen
from nspca.dashboard.export import archive, readme, references
from nspca.dashboard.export.archive import File
from nspca.dashboard.runs.asked import Asked
from nspca.data.arrays import to_npz

DATA, CERTIFICATES = "data.npz", "certificates/"
CHECKING = """
from pathlib import Path

for file in sorted(Path("certificates").glob("*.npz")):
    certificate = nspca.Certificate.load(file)
    print(file.name, nspca.verify(X, certificate))  # forms its own products from the data, trusts nothing
"""
"""Python that checks every certificate of the folder that it is run in; it needs X."""


@dataclass(frozen=True)
class Whole:
    """A result that is taken home.

    Parameters
    ----------
    about, asked : the data and the question
    what : in the name of the ZIP: sweep, parts
    line : what was computed, for people
    own : whether the data may go along: those of somebody who shared a run may not
    """

    about: Chosen
    asked: Asked
    what: str
    line: str
    own: bool = True

    @property
    def folder(self) -> str:
        """What the ZIP, and the folder in it, are called."""
        return archive.ascii_name(f"{self.about.stem}-{self.what}")

    @property
    def with_data(self) -> bool:
        """Whether the numbers are in the ZIP: those that nobody gets by the name of a sample."""
        return self.own and self.about.table is None and set(self.asked.data) != {"sample"}

    def opening(self, k: int | tuple[int, ...]) -> str:
        """Python that loads the data, from the ZIP where they are in it, and makes the problem."""
        asked = replace(self.asked, data={"file": DATA}) if self.with_data else self.asked
        return asked.opening(k, self.about.dataset.is_covariance)

    def pack(self, files: Mapping[str, File], made: datetime) -> bytes:
        """The ZIP; `made` in UTC."""
        files = {
            **files,
            "references.bib": File(
                references.bibtex(), "what to cite, as BibTeX: the papers and the software"
            ),
        }
        if self.with_data:
            said = "the numbers that everything here is about, as they are after reading"
            files[DATA] = File(to_npz(self.about.dataset), said)
        checks = self._checks([path for path in files if path.startswith(CERTIFICATES)])
        first = File(readme.text(self.about, self.line, files, checks, made))
        return archive.zipped({"README.txt": first, **files}, self.folder, made)

    def _checks(self, certificates: list[str]) -> list[str]:
        """How somebody else checks it, in lines."""
        run = [
            "    python reproduce.py",
            "",
            "computes it again, and checks every certificate, in this folder.",
        ]
        if not self.with_data and set(self.asked.data) != {"sample"}:
            run += ["It needs the data, which are not in this ZIP, in this folder too."]
            if self.about.table is not None and certificates:
                place = shlex.quote(self.asked.data["folder"])
                run += ["A single certificate is checked from the folder of shards by", ""]
                run += [f"    python -m nspca verify {place} {certificates[0]}", ""]
        elif certificates:
            data = DATA if self.with_data else self.asked.data["sample"]
            run += ["A single one is checked, without computing the result again, by", ""]
            run += [f"    python -m nspca verify {data} {certificates[0]}", ""]
        said = (
            "It prints what is proved, or refuses. The checker forms its own products from the data and "
            "shares no code with what"
        )
        return ["On any machine that has nspca,", "", *run, said, "made the certificate."]
