"""``python -m nspca.dashboard.shell.serve run app.py ...``: Streamlit's own command line, with a server that
asks no other host.
"""

import sys

from nspca.errors import MissingPackage, of_the_app

if __name__ == "__main__":
    try:
        with of_the_app("the app"):
            from nspca.dashboard.shell.internals import command_line
    except MissingPackage as missing:
        sys.stderr.write(f"nspca: {missing}\n")
        sys.exit(2)
    command_line()
