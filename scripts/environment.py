"""Make the project's virtual environment and install what pyproject.toml requires into it.

    python scripts/environment.py FOLDER EXTRA...

make runs this script with the system's Python. Does nothing when the environment already holds exactly these
requirements, so a second `make` needs no network. pip uses the user's own configuration. Every failure ends
with one sentence, and the full log of pip is in FOLDER/pip.log.
"""

import hashlib
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

OLDEST = (3, 11)
# With retries switched off pip says nothing of the network, only that it found no version of anything.
NETWORK = re.compile(
    r"Retrying \(Retry|Max retries exceeded|NewConnectionError|NameResolutionError|name "
    r"resolution|Connection refused"
    r"|ProxyError|Cannot connect to proxy|ConnectTimeout|Read timed out|Network is "
    r"unreachable|SSLError|HTTPError|from versions: none",
    re.IGNORECASE,
)


class Failure(Exception):
    """A sentence for the user."""


def interpreter(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def version(python: Path) -> tuple[int, ...] | None:
    """(major, minor) of an interpreter, None when it does not start."""
    try:
        run = subprocess.run(
            [python, "-c", "import sys; print(*sys.version_info[:2])"],
            capture_output=True,
            text=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return tuple(map(int, run.stdout.split())) if run.returncode == 0 else None


def create(folder: Path) -> None:
    """Make the environment, or keep the one that works."""
    found = version(interpreter(folder))
    if found and found < OLDEST:
        raise Failure(
            f"{folder} holds Python {found[0]}.{found[1]} and nspca needs 3.11 or newer: `make clean` "
            "removes it."
        )
    pip = [interpreter(folder), "-m", "pip", "--version"]
    if found and subprocess.run(pip, capture_output=True).returncode == 0:
        return
    if folder.exists() and any(folder.iterdir()) and not (folder / "pyvenv.cfg").is_file():
        raise Failure(
            f"{folder} is a folder with other things in it, not a virtual environment: name another with "
            "VENV=..."
        )
    run = subprocess.run([sys.executable, "-m", "venv", "--clear", folder], capture_output=True, text=True)
    if run.returncode:
        said = (run.stdout + run.stderr).strip()
        raise Failure(
            f"No virtual environment could be made in {folder}; on Debian and Ubuntu install the package "
            f"python3-venv, and run make again. {said}"
        )


def requirements_of(extras: list[str]) -> list[str]:
    """The requirements of the package and of some extras, each once."""
    text = (Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    found = list(project["dependencies"])
    for extra in extras:
        for one in project["optional-dependencies"][extra]:
            others = re.fullmatch(r"nspca\[(.*)\]", one)
            found += requirements_of(others[1].split(",")) if others else [one]
    return list(dict.fromkeys(found))


def install(folder: Path, requirements: list[str]) -> None:
    """Run pip, whose own output is shown; its full log is kept."""
    log = folder / "pip.log"
    log.unlink(missing_ok=True)
    command = [interpreter(folder), "-m", "pip", "install", "--no-input", "--log", log, *requirements]
    # pip's own configuration holds, except for the user's folder, which an environment refuses.
    if subprocess.run(command, env={**os.environ, "PIP_USER": "0"}).returncode:
        text = log.read_text(encoding="utf-8", errors="replace")
        if NETWORK.search(text):
            raise Failure(
                "pip cannot reach its package index: connect to the network, or set pip's proxy or mirror, "
                f"and run make again (see {log})."
            )
        raise Failure(f"pip could not install what nspca needs (see {log})")


def main(folder: Path, extras: list[str]) -> None:
    requirements = requirements_of(extras)
    stamp = folder / f"installed-{'-'.join(extras)}.txt"
    digest = hashlib.sha256("\0".join(requirements).encode()).hexdigest()
    current = f"{version(interpreter(folder))} {digest}\n"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == current:
        return
    sys.stdout.write(
        f"Installing what nspca[{','.join(extras)}] needs into {folder}: a few minutes, this once.\n"
    )
    sys.stdout.flush()
    create(folder)
    install(folder, requirements)
    stamp.write_text(f"{version(interpreter(folder))} {digest}\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2:])
    except Failure as failure:
        sys.exit(f"nspca: {failure}")
    except OSError as error:
        sys.exit(f"nspca: {sys.argv[1]} cannot be written: {error}")
    except KeyboardInterrupt:
        sys.exit("nspca: stopped; run make again to go on.")
