"""`hallmark web`."""

from __future__ import annotations

import socket
from ipaddress import ip_address

import click
from msgspec.structs import replace

from workers.cli.display.console import exit_with_error, open_stderr, print_note
from workers.cli.error_boundary import explain_failures
from workers.cli.extras import SITE, require_extra
from workers.settings.environment import Settings, is_set, read_settings

_BACKLOG = 2048


@click.command()
@click.option("--host", default="127.0.0.1", help="Address to listen at; 0.0.0.0: all addresses of the machine.")
@click.option(
    "--port", type=click.IntRange(min=0, max=65_535), default=8080, help="Port to listen at; 0: any free port."
)
@click.option("--processes", type=click.IntRange(min=1, max=64), default=1, help="Number of server processes.")
def web(*, host: str, port: int, processes: int) -> None:
    """Serve the site, the API and the badges of published results, until Ctrl-C.

    It reads the database of the settings; after `hallmark run` nothing else is needed. Pages are updated when another
    run is published. The site contacts no MCP server; requests of visitors wait for workers or for `hallmark attend`.

    Before you make it public, set HALLMARK_WEB_URL to its public address (default: the address that it listens at),
    which is used in links, and put a proxy with TLS in front of it, named in HALLMARK_WEB_PROXIES. See
    docs/guide/site.md.

    Example: hallmark web --port 8080, then open http://127.0.0.1:8080
    """
    with explain_failures():
        require_extra(SITE)
        settings = read_settings()
        listeners = _open_listeners(host, port, processes)
        print_note("opening the database")
        content = _prepare_database(settings)
        listening, port = listeners[0].getsockname()[:2]
        settings = _set_address(settings, host, listening, port)
        print_note(f"Serving {content} at {_address(host, port)} (Ctrl-C stops)")
        _serve(settings, listeners)


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def _set_address(settings: Settings, host: str, listening: str, port: int) -> Settings:
    """The settings with the listening address as web_url, unless that is set or the site listens at all addresses."""
    if is_set("web_url") or ip_address(listening).is_unspecified:
        return settings
    return replace(settings, web_url=_address(host, port))


def _open_listeners(host: str, port: int, count: int) -> list[socket.socket]:
    """Several listeners on one port. The port is first bound exclusively, so no other program shares it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        first = socket.create_server((host, port), family=family, backlog=_BACKLOG)
        if count == 1:
            return [first]
        at = (host, first.getsockname()[1])
        first.close()
        return [socket.create_server(at, family=family, backlog=_BACKLOG, reuse_port=True) for _ in range(count)]
    except OSError as error:
        exit_with_error(
            f"cannot listen at port {port} of {host}: {error.strerror or error}. Use another: hallmark web --port N"
        )


def _prepare_database(settings: Settings) -> str:
    """Migrate the database and write a missing listing index; return a description of what is served."""
    # Imported late, after the note about the database is printed.
    from evidence.store import open_store  # noqa: PLC0415
    from workers.publication import listing_index  # noqa: PLC0415

    if settings.database_url is None:
        settings.home.mkdir(parents=True, exist_ok=True)
    store = open_store(settings.store_url)
    try:
        store.migrate()
        with open_stderr().status("writing the listing index"):
            listing_index.ensure_listing_index(settings, store)
        found = store.listing.read_dashboard()
    finally:
        store.close()
    if found is None:
        print_note("nothing is published yet: after `hallmark run` the pages of its servers appear here")
        return "an empty site"
    return f"{found[1].get('servers', 0)} servers of run {found[0]}"


def _serve(settings: Settings, listeners: list[socket.socket]) -> None:
    from workers.web.processes import SiteStartFailed, serve_by_processes, serve_site  # noqa: PLC0415

    try:
        if len(listeners) == 1:
            serve_site(settings, listeners[0])
        else:
            serve_by_processes(settings, listeners, print_note)
    except SiteStartFailed as error:
        exit_with_error(f"{error}. `hallmark web --processes 1` shows the cause")
