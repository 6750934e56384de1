"""All that the dashboard uses of Streamlit's inside; requirements-app.txt holds the versions it was
tried with.

What Streamlit has no public way for: to hear of a click before a script runs, to know that the browser went
back, to serve a folder of an installed package without a copy, to let browsers keep what is in it, to start
without asking another host for this machine's address, to put access control before the server and limits on
its connections, to let go of an uploaded file, and to know that nobody is there any more. A new version of
Streamlit means: widen requirements-app.txt, run the tests, and mend this file alone.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from email.utils import formatdate
from pathlib import Path
from typing import Any

from streamlit import config, net_util
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime import RuntimeState
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx
from streamlit.runtime.state.common import user_key_from_element_id
from streamlit.runtime.uploaded_file_manager import UploadedFile
from streamlit.web.server.starlette import starlette_app, starlette_routes, starlette_server

from nspca.dashboard.app import allocator, connections, log
from nspca.dashboard.app.access import HEALTH, AccessControl, Settings, read_settings
from nspca.dashboard.app.hosts import AllowedHosts, list_allowed

YEAR = 365 * 24 * 3600  # seconds
OK = 200  # the file is there; that it is not may be over in a moment


def listen(note: Callable[[AppSession, set[str], set[str]], None]) -> None:
    """Call ``note(session, keys of the buttons clicked, keys of all widgets that the browser has)`` as each
    message of a browser arrives, before Streamlit sees it.
    """
    pass_on = AppSession.request_rerun

    def request_rerun(session: AppSession, client_state: ClientState | None) -> None:
        if client_state is not None:
            widgets = client_state.widget_states.widgets
            there = {user_key_from_element_id(widget.id): widget.trigger_value for widget in widgets}
            named = {key: clicked for key, clicked in there.items() if key is not None}
            note(session, {key for key, clicked in named.items() if clicked}, set(named))
        pass_on(session, client_state)

    AppSession.request_rerun = request_rerun  # type: ignore[method-assign, assignment]


def went_back() -> bool:
    """Tell whether this run shows an address that the browser went back, or on, to."""
    now = get_script_run_ctx(suppress_warning=True)
    return now is not None and now.is_history_navigation


def hand_out(
    package: str, component: str, top: Path, folder: str, manager: BidiComponentManager | None = None
) -> bool:
    """Let the server hand out `folder` of `top` under ``_stcore/bidi-components/{package}.{component}``;
    nothing without a server. Whether it does so from now on.

    Streamlit serves the asset folder of a registered component without a copy or another route; a manifest in
    code says the same as one in an installed pyproject.toml, whose folder would need a copy of the files.
    """
    if manager is None:
        if not Runtime.exists():
            return False
        manager = Runtime.instance().bidi_component_registry
    if manager.get(f"{package}.{component}") is not None:
        return False
    manager.register_from_manifest(ComponentManifest(package, "1", [ComponentConfig(component, folder)]), top)
    return True


def keep(package: str) -> None:
    """Let browsers keep what `hand_out` serves of a package for a year, under an address that changes with
    its version: Streamlit says of no such file how long it is good, so each page would fetch it again.
    """
    pass_on = starlette_routes._set_cors_headers

    async def dated(request: Any, response: Any) -> None:
        await pass_on(request, response)
        if f"/bidi-components/{package}." in request.url.path and response.status_code == OK:
            response.headers["Expires"] = formatdate(time.time() + YEAR, usegmt=True)

    starlette_routes._set_cors_headers = dated


def stay_home() -> None:
    """Nobody is asked for this machine's address.

    A browser that connects under a name the server does not know makes Streamlit ask an outside service for
    it, to compare the two. Here the answer is no, without asking: a name that is meant to work is given by
    ``--address``.
    """
    net_util.get_external_ip = _nobody_asked


def _nobody_asked() -> None:
    """Streamlit skips an address that is None."""


def guard_server() -> None:
    """Put access control before all that the server of this process answers, and limits on its connections.

    Raises
    ------
    InvalidOption
        If a setting of the environment is malformed.
    """
    settings = read_settings()
    list_allowed(None, None, settings.hosts, settings.origins)  # refuses what is malformed, before the start
    middleware_inside = starlette_app.create_streamlit_middleware
    options_inside = starlette_server._get_uvicorn_config_kwargs

    def create_middleware() -> list[Any]:
        config.set_option("client.allowedOrigins", [])  # Streamlit would trust pages of its company
        others = middleware_inside()
        make: Any = type(others[0])
        control = make(
            AccessControl,
            allowed=_allow_hosts(settings),
            held=_held,
            password=settings.password,
            metrics=settings.metrics,
            health=f"/{config.get_option('server.baseUrlPath').strip('/')}".rstrip("/") + HEALTH,
        )
        return [control, *others]

    def get_options() -> dict[str, Any]:
        return options_inside() | server_options(settings)

    starlette_app.create_streamlit_middleware = create_middleware
    starlette_server._get_uvicorn_config_kwargs = get_options


def server_options(settings: Settings) -> dict[str, Any]:
    """Return the options of uvicorn that limit connections and say which proxies are believed.

    From a peer among the proxies, ``X-Forwarded-For`` and ``X-Forwarded-Proto`` name client and scheme.
    """
    most = connections.count_connections(connections.raise_descriptor_limit())
    return {
        "http": type("Connection", (connections.GuardedConnection,), {"most": most}),
        "backlog": connections.BACKLOG,
        "proxy_headers": True,
        "forwarded_allow_ips": list(settings.proxies),
    }


def _allow_hosts(settings: Settings) -> AllowedHosts:
    address, shown = config.get_option("server.address"), config.get_option("browser.serverAddress")
    return list_allowed(address, shown, settings.hosts, settings.origins)


def _held(session: str) -> tuple[int, int]:
    """Bytes of uploads in memory: of a session, and of all."""
    manager: Any = Runtime.instance().uploaded_file_mgr
    files = manager.file_storage
    sizes = {name: sum(len(file.data) for file in [*held.values()]) for name, held in [*files.items()]}
    return sizes.get(session, 0), sum(sizes.values())


def let_go(file: UploadedFile) -> None:
    """The server need not hold an uploaded file any longer; Streamlit would until the page is closed."""
    now = get_script_run_ctx(suppress_warning=True)
    if now is not None and Runtime.exists():
        manager: Any = Runtime.instance().uploaded_file_mgr
        manager.remove_file(now.session_id, file.file_id)


def is_page_open() -> bool:
    """Return whether a browser is connected to the server of this process."""
    return Runtime.exists() and Runtime.instance().state is RuntimeState.ONE_OR_MORE_SESSIONS_CONNECTED


def forget_closed_sessions() -> None:
    """Let go of the sessions whose browser has been gone for two minutes.

    Streamlit keeps up to 128 of them until others come, with all that their pages held.
    """
    if not Runtime.exists():
        return
    stored = getattr(Runtime.instance()._session_mgr, "_session_storage", None)
    kept = getattr(stored, "_cache", None)
    if kept is not None:
        with suppress(RuntimeError):  # the server is about to end
            done = threading.Event()
            # To ask for the length lets go of those whose time is over; only the thread of the loop may.
            ask = lambda: done.set() if len(kept) >= 0 else None  # noqa: E731
            Runtime.instance()._get_async_objs().eventloop.call_soon_threadsafe(ask)
            done.wait(5)


def command_line() -> None:
    """Run Streamlit's own command line, in a process that asks no other host, guards its server and keeps its
    memory from growing.
    """
    from streamlit.web.cli import main  # starts a good deal, which a page does not need

    allocator.limit_arenas()
    log.begin()
    stay_home()
    guard_server()
    main(prog_name="streamlit")
