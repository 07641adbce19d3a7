"""Settings of the site: its public address, limits per client, and its processes."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field, IPvAnyNetwork, field_validator
from pydantic_settings import NoDecode

from workers.settings.nightly import Duration
from workers.settings.part import SettingsPart


def split_list(value: object) -> object:
    """Text with commas as a list of values; anything else unchanged."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


class WebSettings(SettingsPart):
    """A part of `Settings`."""

    web_url: str = Field(
        default="http://127.0.0.1:8080",
        description="Public address of the site, as `https://hallmark.example`; the only source of "
        "absolute links. Default of `hallmark web`: its own address.",
    )
    web_rate: float = Field(
        default=10.0, ge=0, description="Requests per second and client in the long run. 0: no limit."
    )
    web_burst: int = Field(default=200, ge=1, description="Requests that a client may send at once.")
    web_proxies: Annotated[tuple[IPvAnyNetwork, ...], NoDecode, BeforeValidator(split_list)] = Field(
        default=(),
        description="Networks of trusted proxies, separated by commas, as `10.0.0.0/8`. Only what they "
        "append to X-Forwarded-For names the client. Default: none.",
    )
    web_hsts: Duration = Field(default=timedelta(0), description="Max-age of Strict-Transport-Security. 0: not sent.")
    web_body: int = Field(default=64, ge=1, le=65_536, description="Maximum size of a request body in KiB.")
    web_query_time: Duration = Field(
        default=timedelta(seconds=5), description="Limit of a PostgreSQL query of the site; then 503. 0: none."
    )
    web_threads: int = Field(
        default=2,
        ge=1,
        le=256,
        description="Pages that one process makes at the same time, each with a database connection. Start"
        " more processes instead.",
    )
    web_metrics: str = Field(
        default="",
        description="Address and port of the site's Prometheus metrics, as `127.0.0.1:9465`; must not be "
        "public. Default: none.",
    )

    @field_validator("web_url")
    @classmethod
    def _an_origin(cls, value: str) -> str:
        if not value.startswith(("https://", "http://")) or "?" in value or "#" in value:
            raise ValueError("expected an address like https://hallmark.example")
        return value.rstrip("/")
