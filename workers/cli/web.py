"""`hallmark web`."""

from __future__ import annotations

from typing import Annotated

import typer
import uvicorn

from evidence.store import RunState, open_store
from workers.cli.boundary import explained
from workers.cli.console import note
from workers.settings import Settings
from workers.web import create_app

app = typer.Typer(add_completion=False)

_LOOK_BACK = 100
_NO_PROXY_HEADERS = False
"""X-Forwarded-For is read by the site itself, as HALLMARK_WEB_PROXIES says."""


@app.command()
def web(
    *,
    host: Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0: every one of the machine.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port to listen at.")] = 8080,
) -> None:
    """Serve the site, the API and the badges of what was published, until Ctrl-C.

    It reads the database of the settings: after `hallmark run` that is all it takes. Pages change by themselves when
    another run is published. Nobody is contacted; re-tests that visitors ask for wait for a fleet, or for
    `hallmark retest`.

    Before others reach it, set HALLMARK_WEB_URL to its public address and put a proxy with TLS before it, named in
    HALLMARK_WEB_PROXIES. The guide is docs/guide/site.md.

    Example: hallmark web --port 8080, then open http://127.0.0.1:8080
    """
    with explained():
        settings = Settings()
        _prepare(settings)
        note(f"http://{f'[{host}]' if ':' in host else host}:{port}  (Ctrl-C ends it)")
        uvicorn.run(
            create_app(settings),
            host=host,
            port=port,
            access_log=False,
            log_config=None,
            proxy_headers=_NO_PROXY_HEADERS,
            server_header=False,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=10,
        )


def _prepare(settings: Settings) -> None:
    """Bring the database to today's tables, and say what to do when nothing is published in it."""
    if settings.database_url is None:
        settings.home.mkdir(parents=True, exist_ok=True)
    store = open_store(settings.store_url)
    try:
        store.migrate()
        if not any(row.state is RunState.PUBLISHED for row in store.runs(_LOOK_BACK)):
            note("nothing is published yet: `hallmark run` measures the starter set, and its pages appear here")
    finally:
        store.close()
