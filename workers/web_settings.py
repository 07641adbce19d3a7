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
        description="Public address of the site, as `https://hallmark.example`; the only source of "
        "absolute links. Default of `hallmark web`: its own address.",
    )
    web_rate: float = Field(
        default=10.0,
        ge=0,
        description="Requests per second and client in the long run. 0: no limit.",
    )
    web_burst: int = Field(default=200, ge=1, description="Requests that a client may send at once.")
    web_proxies: Annotated[tuple[IPvAnyNetwork, ...], NoDecode, BeforeValidator(_listed)] = Field(
        default=(),
        description="Networks of trusted proxies, separated by commas, as `10.0.0.0/8`. Only what they "
        "append to X-Forwarded-For names the client. Default: none.",
    )
    web_hsts: Duration = Field(
        default=timedelta(0),
        description="Max-age of Strict-Transport-Security. 0: not sent.",
    )
    web_cache: int = Field(
        default=64, ge=0, le=65_536, description="MiB of rendered pages that a process of the site keeps."
    )
    web_index: int = Field(
        default=200_000,
        ge=0,
        description="The most servers of which each process of the site has the lists in memory, at one to two "
        "kilobytes each; where there are more, lists and searches ask the database. 0: they always do.",
    )
    web_prepared: int = Field(
        default=512,
        ge=0,
        le=1_048_576,
        description="MiB of pages of servers that the site makes ahead after each publication, with at most half "
        "a core, in the folder `pages` in the home folder, which may be deleted at any time. 0: none.",
    )
    web_fresh: Duration = Field(
        default=timedelta(seconds=1),
        description="How long a page may be shown after a public change.",
    )
    web_body: int = Field(default=64, ge=1, le=65_536, description="Maximum size of a request body in KiB.")
    web_query_time: Duration = Field(
        default=timedelta(seconds=5),
        description="Limit of a PostgreSQL query of the site; then 503. 0: none.",
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
