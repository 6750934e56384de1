"""Phones of a class without a browser: each speaks to the server over a websocket, as a page does."""

import json
import socket
import ssl
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

from tests.patience import STUCK

STREAM = "/_stcore/stream"


def open_stream(url: str, cookie: str = "", port: int | None = None) -> ClientConnection:
    """Open the websocket of a page on this machine, with the cookie of somebody who gave the password."""
    where = urlsplit(url)
    secure = where.scheme == "https"
    address = f"{'wss' if secure else 'ws'}://{where.netloc}{STREAM}"
    return connect(
        address,
        sock=socket.create_connection(("127.0.0.1", where.port or port), timeout=STUCK),
        origin=url,
        ssl=ssl._create_unverified_context() if secure else None,
        additional_headers={"Cookie": cookie} if cookie else None,
        subprotocols=["streamlit"],
        open_timeout=STUCK,
        max_size=None,
    )


class Student:
    """One phone in the room of a class.

    Parameters
    ----------
    stream : websocket of the page Join
    code : code of the room
    """

    def __init__(self, stream: ClientConnection, code: str) -> None:
        self.stream, self.code, self.control = stream, code, ""

    def join(self) -> None:
        """Open the page with the code, and find the control that takes the guess."""
        self._run()
        assert self.control, "the page asks nothing"

    def guess(self, degrees: float) -> None:
        """Send a guess for the question with the line."""
        asked = self._rerun()
        state = asked.rerun_script.widget_states.widgets.add()
        state.id, state.json_value = self.control, json.dumps({"guess": degrees})
        self._run(asked)

    def _rerun(self) -> BackMsg:
        asked = BackMsg()
        asked.rerun_script.query_string = f"room={self.code}"
        asked.rerun_script.page_name = "join"
        return asked

    def _run(self, asked: BackMsg | None = None) -> None:
        """Ask for a run of the page, and read what it says until its end."""
        self.stream.send((asked or self._rerun()).SerializeToString())
        while True:
            said = ForwardMsg.FromString(self.stream.recv(STUCK))
            kind = said.WhichOneof("type")
            if kind == "script_finished":
                return
            if kind == "delta":
                element = said.delta.new_element
                which = element.WhichOneof("type")
                assert which != "exception", element.exception.message
                if which == "bidi_component" and element.bidi_component.component_name.endswith("turner"):
                    self.control = element.bidi_component.id
