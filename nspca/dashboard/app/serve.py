"""Start the server: ``python -m nspca.dashboard.app.serve run app.py ...``

`make app` and `python -m nspca app` run this module. It takes the arguments of Streamlit's own command line.
The server asks no other host and is guarded.
"""

import sys

from nspca.errors import NSPCAError, needs

if __name__ == "__main__":
    try:
        with needs("the app"):
            from nspca.dashboard.app.internals import command_line
        command_line()
    except NSPCAError as error:
        sys.stderr.write(f"nspca: {error}\n")
        sys.exit(2)
