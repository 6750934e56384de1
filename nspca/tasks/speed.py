"""How fast a worker computes: measured beside the pages, which never wait for it."""

import json
from dataclasses import asdict

from nspca.planning import machine
from nspca.progress import Report, silent


def run_speed(*, of: list[str], report: Report = silent) -> bytes:
    """`nspca.planning.machine.Speed` as JSON; `of` tells one machine's measurement from another's."""
    return json.dumps(asdict(machine.speed())).encode()
