"""The settings of the site: where the world sees it, and what one client may take."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import BeforeValidator, Field, IPvAnyNetwork, field_validator
from pydantic_settings import BaseSettings, NoDecode

from workers.night_settings import Duration


def _listed(value: object) -> object:
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


class WebSettings(BaseSettings):
    """A part of `Settings`, of which there is one."""

    web_url: str = Field(
        default="http://127.0.0.1:8080",
        description="Where the world sees the site, as `https://hallmark.example`. Absolute links are made from it and "
        "from nothing that a request says. `hallmark web` takes the address that it listens at if this is not set.",
    )
    web_rate: float = Field(
        default=10.0,
        ge=0,
        description="Requests a second that one client may send to the site and its API in the long run. 0: no limit.",
    )
    web_burst: int = Field(default=200, ge=1, description="How many it may send at once after it was silent.")
    web_proxies: Annotated[tuple[IPvAnyNetwork, ...], NoDecode, BeforeValidator(_listed)] = Field(
        default=(),
        description="Networks of the proxies before the site, separated by commas, as `10.0.0.0/8`. Only what they "
        "append to X-Forwarded-For says whose request it is. Default: none, so the peer's address counts.",
    )
    web_hsts: Duration = Field(
        default=timedelta(0),
        description="How long browsers remember to use HTTPS only (Strict-Transport-Security). 0: it is not sent.",
    )
    web_body: int = Field(default=64, ge=1, le=65_536, description="KiB that a request to the site may bring.")
    web_query_time: Duration = Field(
        default=timedelta(seconds=5),
        description="After this long PostgreSQL gives up a query of the site, which then answers 503. 0: never.",
    )
    web_threads: int = Field(
        default=2,
        ge=1,
        le=256,
        description="Pages that a process of the site makes at the same time, each with a connection to the database. "
        "More of them wait for each other at every question to the database: start more processes instead.",
    )
    web_metrics: str = Field(
        default="",
        description="Address and port at which a process of the site shows its metrics to Prometheus, as "
        "`127.0.0.1:9465`. It is a listener of its own: never make it public. Default: none.",
    )

    @field_validator("web_url")
    @classmethod
    def _an_origin(cls, value: str) -> str:
        if not value.startswith(("https://", "http://")) or "?" in value or "#" in value:
            raise ValueError("expected an address like https://hallmark.example")
        return value.rstrip("/")
