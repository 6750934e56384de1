"""Create the TLS certificates by which a scheduler, its workers and the dashboard authenticate each other.

Run as ``python -m nspca.jobs.certificates FOLDER``. Anybody with the folder may run code on the workers. The
certificates are valid for a year.
"""

import os
import sys
from pathlib import Path

from distributed.security import Security

FILES = {"ca.pem": "tls_ca_file", "cert.pem": "tls_client_cert", "key.pem": "tls_client_key"}


def write(folder: Path | str) -> dict[str, str]:
    """Create the certificate files unless they exist; return the environment variables for Dask."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not all((folder / name).is_file() for name in FILES):
        made = Security.temporary()
        for name, field in FILES.items():
            (folder / name).unlink(missing_ok=True)
            with os.fdopen(os.open(folder / name, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
                file.write(str(getattr(made, field)))
    tls = "DASK_DISTRIBUTED__COMM__TLS"
    named = {f"{tls}__CA_FILE": str(folder / "ca.pem")}
    for role in ("SCHEDULER", "WORKER", "CLIENT"):
        named[f"{tls}__{role}__CERT"] = str(folder / "cert.pem")
        named[f"{tls}__{role}__KEY"] = str(folder / "key.pem")
    return named


if __name__ == "__main__":
    for name, value in write(sys.argv[1]).items():
        sys.stdout.write(f"{name}={value}\n")
