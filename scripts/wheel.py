"""Copy files from the top of the tree into the package when a wheel is built.

pyproject.toml names this module.
"""

from pathlib import Path

from setuptools.command.build_py import build_py

# pattern in the tree -> folder in the wheel; sub-folders below a pattern's fixed part are kept
MAPPING = {
    "app.py": "nspca/_app",
    "pages/**/*.py": "nspca/_app",
    ".streamlit/config.toml": "nspca/_app",
    "sample_data/**/*": "nspca/_sample_data",
}


def travellers(root: Path = Path()) -> list[tuple[Path, Path]]:
    """Pairs (file in the tree, its place in the wheel), both relative, sorted."""
    pairs = []
    for pattern, folder in MAPPING.items():
        for path in sorted(root.glob(pattern)):
            if path.is_file() and "__pycache__" not in path.parts:
                inside = path.relative_to(root)
                if pattern.startswith("sample_data"):
                    inside = inside.relative_to("sample_data")
                pairs.append((path.relative_to(root), Path(folder) / inside))
    return pairs


class BuildPy(build_py):
    """`build_py` that also copies the app and the samples; an editable install leaves them where they are."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        for source, place in travellers():
            target = Path(self.build_lib) / place
            self.mkpath(str(target.parent))
            self.copy_file(str(source), str(target))

    def get_source_files(self):
        return [*super().get_source_files(), *(str(source) for source, _ in travellers()), "scripts/wheel.py"]

    def get_outputs(self, include_bytecode=True):
        copied = (
            [] if self.editable_mode else [str(Path(self.build_lib) / place) for _, place in travellers()]
        )
        return [*super().get_outputs(include_bytecode), *copied]
