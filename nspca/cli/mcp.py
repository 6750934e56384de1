"""Command `mcp`: a server of the Model Context Protocol, for assistants that read, solve and verify.

Every answer of `solve` has passed the independent checker, and names the file of its certificate.
"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nspca.cli.answers import described, summary
from nspca.cli.arguments import argument, command
from nspca.cli.read import outline
from nspca.errors import CertificateError, InvalidOption, NSPCAError, Refused, needs

if TYPE_CHECKING:
    from nspca.data import Dataset

INSTRUCTIONS = (
    "nspca finds the few features of a table that vary most together (sparse PCA), with a certificate. "
    "Repeat what is `proved` (the `statement` of verify) and its `ratio`, the share of the best that is "
    "reached; claim no more than they say. Name the file of the certificate, so that anybody can check it "
    "with `nspca verify`."
)
SHOWN = 50
"""Names of features and groups, and features of one component, that an answer lists at most."""


@command(
    argument("folder", metavar="FOLDER", nargs="?", default=".", help="default: where it starts"),
    examples=["mcp tables"],
)
def mcp(args: argparse.Namespace) -> int:
    """Let an assistant read, solve and verify (Model Context Protocol, by standard input and output).

    The assistant sees the samples and the files below FOLDER, and writes certificates there.
    """
    folder = Path(args.folder)
    if not folder.is_dir():
        raise InvalidOption(f"a folder is required, got {args.folder!r}, which is none")
    server(folder).run("stdio")
    return 0


def server(folder: Path) -> Any:
    """Return a server whose tools read and write below a folder, an `MCPServer` of the official SDK."""
    with needs("the server for assistants"):
        from mcp.server.mcpserver import MCPServer
        from mcp.server.mcpserver.exceptions import ToolError

    import nspca

    served = MCPServer("nspca", instructions=INSTRUCTIONS, version=nspca.__version__)
    tools = Tools(folder)

    def tool(call: Any) -> None:
        """Offer a method of `tools`; an error of the package becomes the sentence that the assistant gets."""
        from functools import wraps

        @wraps(call)
        def answer(*given: Any, **named: Any) -> Any:
            try:
                return call(*given, **named)
            except NSPCAError as error:
                raise ToolError(f"refused: {error}") from None

        served.tool()(answer)

    for call in (tools.samples, tools.read, tools.solve, tools.verify):
        tool(call)
    return served


class Tools:
    """The tools of the server. Their docstrings and annotations are what an assistant is told about them."""

    def __init__(self, folder: Path):
        self.folder = folder.resolve()

    def samples(self) -> dict[str, str]:
        """Return the data sets known by name, each with what it holds."""
        from nspca.data import SAMPLES, present_samples

        return {name: f"{SAMPLES[name].title}: {SAMPLES[name].summary}" for name in present_samples()}

    def read(self, source: str) -> dict[str, Any]:
        """Read a sample by name or a file of the folder: size, features, groups, and what reading decided."""
        data = self._data(source)
        groups = [] if data.labels is None else sorted({str(label) for label in data.labels})
        return {
            **outline(data),
            "feature_names": list(data.feature_names[:SHOWN]),
            "groups": groups[:SHOWN],
            "is_covariance": data.is_covariance,
            "provenance": data.provenance,
            "notes": list(data.notes),
        }

    def solve(
        self,
        source: str,
        k: int,
        certificate: str,
        components: int = 1,
        nonneg: bool = True,
        center: bool = True,
        scale: bool = False,
        effort: str = "standard",
    ) -> dict[str, Any]:
        """Find components of at most k features each, prove how good they are, and check the proof.

        `source` is a sample or a file of the folder; `certificate` names a new file (.npz) for it.
        Several components share no feature. `effort` of the proof: fast, standard or thorough.
        """
        import nspca

        path, data = self._inside(certificate), self._data(source)
        if path.suffix != ".npz" or path.exists():
            raise InvalidOption(
                f"certificate must be a new file that ends in .npz, got {certificate!r}: name another"
            )
        sizes: Any = k if components == 1 else (k,) * components
        problem = nspca.ProblemSpec(nonneg=nonneg, center=center, scale=scale).problem(data, k=sizes)
        result = nspca.solve(problem, certify=effort)
        proof = result.certificate
        if proof is None or result.ratio is None:
            raise Refused("an answer must be proved, got no certificate for this one; ask for fewer features")
        upper = nspca.verify(data, proof, problem)
        proof.save(path)
        return {
            **summary(data, problem, result, proof),
            "components": [described(data, result, None, j)[:SHOWN] for j in range(components)],
            "no_more_than": float(upper),
            "share_of_the_variance": float(result.value / problem.total_variance),
            "checked": True,
            "certificate": str(path.relative_to(self.folder)),
        }

    def verify(self, source: str, certificate: str) -> dict[str, Any]:
        """Check a certificate of the folder against the data, by code apart from the solvers."""
        import nspca

        path, data = self._inside(certificate), self._data(source)
        if not path.is_file():
            raise InvalidOption(
                f"a certificate of the folder is required, got {certificate!r}, which is none"
            )
        proof = nspca.Certificate.load(path)
        if proof.upper < (upper := nspca.verify(data, proof)):
            raise CertificateError(f"the bound must be at least {upper!r}, got {proof.upper!r}")
        return {"statement": proof.statement, "no_more_than": float(upper), "checked": True}

    def _data(self, source: str) -> "Dataset":
        import nspca
        from nspca.data import SAMPLES

        return nspca.load_sample(source) if source in SAMPLES else nspca.read(self._inside(source))

    def _inside(self, name: str) -> Path:
        """Return the path of a file below the folder; refuse any other."""
        path = (self.folder / name).resolve()
        if not path.is_relative_to(self.folder) or path == self.folder:
            raise InvalidOption(f"a file below the folder of the server is required, got {name!r}")
        return path
