"""Log of the server: a line for each event, with time, level and source.

With ``NSPCA_LOG=json`` the lines are JSON. The start of the server calls `begin`. No Streamlit calls.
"""

import json
import logging
import os
import time

LINE = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class Json(logging.Formatter):
    """Formatter of log records as JSON, one object per line."""

    def format(self, record: logging.LogRecord) -> str:
        said = {
            "time": self.formatTime(record, self.datefmt),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            said["trace"] = self.formatException(record.exc_info)
        return json.dumps(said)


def begin() -> None:
    """Send the log of nspca to standard error from now on."""
    handler = logging.StreamHandler()
    kind = Json if os.environ.get("NSPCA_LOG") == "json" else logging.Formatter
    formatter = kind(LINE, datefmt="%Y-%m-%dT%H:%M:%SZ")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    logger = logging.getLogger("nspca")
    logger.handlers[:] = [handler]
    logger.setLevel(logging.INFO)
    logger.propagate = False
