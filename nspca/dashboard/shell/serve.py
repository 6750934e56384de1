"""``python -m nspca.dashboard.shell.serve run app.py ...``: Streamlit's own command line, with a server that
asks no other host.
"""

from nspca.dashboard.shell.internals import command_line

if __name__ == "__main__":
    command_line()
