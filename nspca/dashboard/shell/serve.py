"""``python -m nspca.dashboard.serve run app.py ...``: Streamlit's own command line, with a server that asks no other host.

A browser that connects under a name the server does not know makes Streamlit ask an outside service for this machine's address, to
compare the two. Here the answer is no, without asking: a name that is meant to work is given by ``--address``.
"""

from streamlit import net_util


def stay_home() -> None:
    """Nobody is asked for this machine's address; pages do it too, for a server that was started without this module."""
    net_util.get_external_ip = _nobody_asked


def _nobody_asked() -> None:
    """Streamlit skips an address that is None."""


if __name__ == "__main__":
    from streamlit.web.cli import main

    stay_home()
    main(prog_name="streamlit")
