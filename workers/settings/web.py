"""Settings of the site: its public address, limits per client, and its processes."""

from __future__ import annotations

from datetime import timedelta
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated

from msgspec import Meta

from workers.settings.probes import ProbeSettings
from workers.settings.reading import split_list


def _read_origin(value: object) -> str:
    address = str(value)
    if not address.startswith(("https://", "http://")) or "?" in address or "#" in address:
        raise ValueError(f"expected an address like https://hallmark.example, found {address!r:.80}")
    return address.rstrip("/")


def _read_networks(value: object) -> tuple[IPv4Network | IPv6Network, ...]:
    return tuple(ip_network(network) for network in split_list(value))


class WebSettings(ProbeSettings, frozen=True, kw_only=True):
    """A part of `Settings`, with those before it."""

    web_url: Annotated[
        str,
        _read_origin,
        "Public address of the site, as `https://hallmark.example`; the only source of "
        "absolute links. Default of `hallmark web`: its own address.",
    ] = "http://127.0.0.1:8080"
    web_rate: Annotated[float, Meta(ge=0), "Requests per second and client in the long run. 0: no limit."] = 10.0
    web_burst: Annotated[int, Meta(ge=1), "Requests of a client at once."] = 200
    web_proxies: Annotated[
        tuple[IPv4Network | IPv6Network, ...],
        _read_networks,
        "Networks of trusted proxies, separated by commas, as `10.0.0.0/8`. Only what they "
        "append to X-Forwarded-For names the client. Default: none.",
    ] = ()
    web_hsts: Annotated[timedelta, "Max-age of Strict-Transport-Security. 0: not sent."] = timedelta(0)
    web_body: Annotated[int, Meta(ge=1, le=65_536), "Largest request body in KiB."] = 64
    web_query_time: Annotated[
        timedelta, "Limit of a PostgreSQL query of the site, half that of an answer; then 503. 0: none."
    ] = timedelta(seconds=5)
    web_threads: Annotated[
        int,
        Meta(ge=1, le=256),
        "Pages that one process makes at once, each with a database connection. Start more processes instead.",
    ] = 2
    web_metrics: Annotated[
        str,
        "Address and port of the site's Prometheus metrics, as `127.0.0.1:9465`; must not be public. Default: none.",
    ] = ""
