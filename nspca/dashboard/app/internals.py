"""All uses of Streamlit's private interfaces. pyproject.toml has the versions that were tested.

Streamlit has no public way to do the following:

- record a click before a script runs, and notice the back button of the browser
- serve a folder of an installed package without a copy, and let browsers cache its files
- start without asking another host for the address of this machine
- put access control in front of the server, and limit its connections
- release an uploaded file, and notice that no page is open
- read the theme of the settings once, not at every rerun

For a new version of Streamlit, widen pyproject.toml, run the tests, and repair this file only.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from email.utils import formatdate
from functools import cache
from pathlib import Path
from typing import Any

from streamlit import config, net_util
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.NewSession_pb2 import CustomThemeConfig, NewSession
from streamlit.runtime import Runtime, app_session
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
    """Call `note` for each message of a browser, before Streamlit handles it.

    The arguments of `note` are the session, the keys of the clicked buttons, and the keys of all widgets in
    the browser.
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
    """Tell whether the address of this run comes from the back or forward button of the browser."""
    now = get_script_run_ctx(suppress_warning=True)
    return now is not None and now.is_history_navigation


def hand_out(
    package: str, component: str, top: Path, folder: str, manager: BidiComponentManager | None = None
) -> bool:
    """Serve `folder` of `top` under ``_stcore/bidi-components/{package}.{component}``.

    Returns True at the first call, and False when the folder is served already or no server runs.

    Streamlit serves the asset folder of a registered component. Registering a manifest in code avoids a copy
    of the files, which a manifest in an installed pyproject.toml would need.
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
    """Let browsers cache the files that `hand_out` serves for a package, for a year.

    Their address changes with the version of the package. Without this, every page would fetch them again.
    """
    pass_on = starlette_routes._set_cors_headers

    async def dated(request: Any, response: Any) -> None:
        await pass_on(request, response)
        if f"/bidi-components/{package}." in request.url.path and response.status_code == OK:
            response.headers["Expires"] = formatdate(time.time() + YEAR, usegmt=True)

    starlette_routes._set_cors_headers = dated


def stay_home() -> None:
    """Keep Streamlit from asking an outside service for the public address of this machine.

    Streamlit would ask when a browser connects under an unknown host name, and allow the name if it is that
    address. Such a name is refused here. Names that should work are given by ``--address``.
    """
    net_util.get_external_ip = _nobody_asked


def _nobody_asked() -> None:
    """Return None in place of the public address of this machine; see `stay_home`."""


def guard_server() -> None:
    """Put access control in front of the server of this process, and limit its connections.

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


def remember_theme() -> None:
    """Let Streamlit read the theme of the settings once, until the settings are read again.

    Every rerun begins with a message that has the theme. With 60 sessions, to read it anew takes the server a
    quarter of its CPU time: 7.5 ms per update instead of 5.6, and 95 % of the updates within .57 s instead of
    .42 (``benchmarks.load 60``). A Streamlit without this function is left as it is.
    """
    read = getattr(app_session, "_populate_theme_msg", None)
    if read is None:
        return

    @cache
    def read_once(section: str) -> CustomThemeConfig | None:
        holder = NewSession()
        read(holder.custom_theme, section)
        return holder.custom_theme if holder.HasField("custom_theme") else None

    def populate(msg: CustomThemeConfig, section: str = "theme") -> None:
        made = read_once(section)
        if made is not None:
            msg.MergeFrom(made)
            msg.SetInParent()

    app_session._populate_theme_msg = populate
    config.on_config_parsed(read_once.cache_clear, force_connect=True)


def server_options(settings: Settings) -> dict[str, Any]:
    """Return the options of uvicorn that limit connections and name the trusted proxies.

    Headers ``X-Forwarded-For`` and ``X-Forwarded-Proto`` are used only from these proxies.
    """
    most = connections.count_connections(connections.raise_descriptor_limit())
    return {
        "http": type("Connection", (connections.GuardedConnection,), {"most": most}),
        "backlog": connections.BACKLOG,
        "proxy_headers": True,
        "forwarded_allow_ips": list(settings.proxies),
    }


def _allow_hosts(settings: Settings) -> AllowedHosts:
    """Return the hosts and origins that this server answers, from Streamlit's options and the settings."""
    address, shown = config.get_option("server.address"), config.get_option("browser.serverAddress")
    return list_allowed(address, shown, settings.hosts, settings.origins)


def _held(session: str) -> tuple[int, int]:
    """Return the bytes of uploads in memory: of one session, and of all sessions."""
    manager: Any = Runtime.instance().uploaded_file_mgr
    files = manager.file_storage
    sizes = {name: sum(len(file.data) for file in [*held.values()]) for name, held in [*files.items()]}
    return sizes.get(session, 0), sum(sizes.values())


def let_go(file: UploadedFile) -> None:
    """Release an uploaded file, which Streamlit would keep in memory until the page is closed."""
    now = get_script_run_ctx(suppress_warning=True)
    if now is not None and Runtime.exists():
        manager: Any = Runtime.instance().uploaded_file_mgr
        manager.remove_file(now.session_id, file.file_id)


def is_page_open() -> bool:
    """Tell whether a browser is connected to the server of this process."""
    return Runtime.exists() and Runtime.instance().state is RuntimeState.ONE_OR_MORE_SESSIONS_CONNECTED


def forget_closed_sessions() -> None:
    """Drop the sessions whose browser disconnected more than two minutes ago.

    Streamlit keeps up to 128 of them, with all their data, until other sessions come.
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
    """Run Streamlit's command line after installing the guards of this module and the memory limits."""
    from streamlit.web.cli import main  # starts a good deal, which a page does not need

    allocator.limit_arenas()
    log.begin()
    stay_home()
    guard_server()
    remember_theme()
    main(prog_name="streamlit")
