"""nginx with the cache of `infra/nginx/hallmark.conf` in front of a site on loopback."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers.daemon import Daemon, free_port

CONFIG = Path(__file__).parents[2] / "infra" / "nginx" / "hallmark.conf"
REQUIRED = "nginx" in os.environ.get("HALLMARK_REQUIRE", "").split(",")

_AROUND = """daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/hallmark.conf;
}}
"""


def nginx() -> str | None:
    """The program, None where it is not installed."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


@contextmanager
def cache_before(site: int, folder: Path) -> Iterator[int]:
    """The port of the cache in front of the site at another port of loopback."""
    program, port = nginx(), free_port()
    assert program is not None
    text = CONFIG.read_text()
    for ours, here in (
        ("server web:8080;", f"server 127.0.0.1:{site};"),
        ("listen 8080;", f"listen 127.0.0.1:{port};"),
        ("/var/cache/nginx/hallmark", f"{folder}/cache"),
    ):
        assert text.count(ours) == 1, ours
        text = text.replace(ours, here)
    (folder / "hallmark.conf").write_text(text)
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(_AROUND.format(user=user, folder=folder))
    command = [program, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    daemon = Daemon(command, port=port, log=folder / "output.log", ready=_answers)
    daemon.start()
    try:
        yield port
    finally:
        daemon.stop()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False
