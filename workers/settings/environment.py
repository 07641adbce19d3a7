"""All settings, read from `HALLMARK_*` environment variables; no other module reads the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, SecretStr
from pydantic_settings import NoDecode, SettingsConfigDict

from crawler.container_engine_variables import ENGINE_VARIABLES
from workers.settings.community import CommunitySettings
from workers.settings.datasets import DatasetSettings
from workers.settings.fleet import FleetSettings
from workers.settings.judge import JudgeSettings
from workers.settings.nightly import Duration
from workers.settings.package_cache import PackageCacheSettings
from workers.settings.probes import ProbeSettings
from workers.settings.sandbox import SandboxSettings
from workers.settings.web import WebSettings, split_list

VARIABLE_PREFIX: Final = "HALLMARK_"
DISTRIBUTION: Final = "mcp-hallmark"

# The variables with which pip, uv, npm and bun find their index; the sandbox uses the same indexes.
_TOOL_PREFIXES = ("pip_", "uv_", "npm_config_", "bun_config_")
_TOOL_NAMES = frozenset(
    {"PATH", "HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "NETRC", "SSL_CERT_FILE", "SSL_CERT_DIR", *ENGINE_VARIABLES}
    | {"PYENV_ROOT", "XDG_DATA_HOME"}  # where pyenv and uv install Pythons
)


class InvalidSetting(ValueError):
    """A setting has a value that cannot be used; the message names the setting."""


class RegistrySetting(BaseModel):
    """One registry: a short name, its address, and headers that may hold a token."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    url: str
    headers: dict[str, SecretStr] = Field(default_factory=dict)


ALL_SOURCES: Final = "all"
"""In HALLMARK_SOURCES: every source of evidence."""


def _data_home() -> Path:
    return _xdg("XDG_DATA_HOME", ".local/share") / "hallmark"


def _cache_home() -> Path:
    return _xdg("XDG_CACHE_HOME", ".cache") / "hallmark"


def _xdg(name: str, fallback: str) -> Path:
    value = os.environ.get(name, "")  # noqa: TID251
    return Path(value) if Path(value).is_absolute() else Path.home() / fallback


class Settings(
    CommunitySettings,
    WebSettings,
    ProbeSettings,
    FleetSettings,
    DatasetSettings,
    JudgeSettings,
    PackageCacheSettings,
    SandboxSettings,
):
    """All settings. Each is the environment variable `HALLMARK_` and the field's name in capitals."""

    model_config = SettingsConfigDict(env_prefix=VARIABLE_PREFIX, extra="ignore", frozen=True)

    home: Path = Field(
        default_factory=_data_home,
        description="Folder of the embedded database. Default: `hallmark` in `$XDG_DATA_HOME` or `~/.local/share`.",
    )
    cache: Path = Field(
        default_factory=_cache_home,
        description="Folder of the sandbox and of installed packages; may be deleted at any time. Default:"
        " `hallmark` in `$XDG_CACHE_HOME` or `~/.cache`.",
    )
    database_url: SecretStr | None = Field(
        default=None,
        description="`postgresql+psycopg://USER:PASSWORD@HOST/NAME` or `sqlite:////path/to/file.db`. "
        "Default: `hallmark.db` in the home folder.",
    )
    redis_url: SecretStr = Field(
        default=SecretStr("redis://127.0.0.1:6379/0"), description="Broker of the Celery mode; unused in embedded mode."
    )
    registries: tuple[str | RegistrySetting, ...] = Field(
        default=("starter",),
        min_length=1,
        description="JSON list of registries: `starter`, `official`, `docker`, a URL, a file or folder of "
        'server.json documents, or `{"name": ..., "url": ..., "headers": {...}}`.',
    )
    credentials: Path | None = Field(
        default=None,
        description="TOML or JSON file with credentials per address; it names variables and files and holds no secret.",
    )
    contact_url: str = Field(
        default="", description="Page that says who runs this crawler. Part of the User-Agent; set it before crawling."
    )
    allow_private: bool = Field(
        default=False, description="Also contact loopback and private addresses: for tests and own networks."
    )
    host_gap: float = Field(default=0.6, ge=0, description="Seconds between two requests to one host. 0 for loopback.")
    connect_timeout: float = Field(default=10.0, gt=0, description="Seconds to connect, TLS included.")
    first_byte_timeout: float = Field(default=30.0, gt=0, description="Seconds to the first byte of an answer.")
    read_timeout: float = Field(default=15.0, gt=0, description="Seconds without a byte inside an answer.")
    server_timeout: float = Field(
        default=120.0, gt=0, description="Seconds that one collector may spend on one remote server."
    )
    retry_pause: float = Field(default=5.0, ge=0, description="Seconds before a transient failure is asked again.")
    depth: Literal["core", "full", "weekly"] = Field(
        default="weekly",
        description="Protocol questions of a run: `core` about 7 requests, `full` at most 65, `weekly` "
        "full once a week. A core probe keeps full results for 14 days.",
    )
    interop: Literal["off", "full", "weekly"] = Field(
        default="off",
        description="When the official SDK's client probes a server in runs: `off`, `weekly`, or with `full` probes.",
    )
    listen: bool = Field(
        default=False,
        description="A full probe also opens a subscription (`subscriptions/listen`) for at most 3 seconds.",
    )
    trials: Literal["off", "annotated", "read"] = Field(
        default="annotated",
        description="Tools that may be called: none (`off`), those that declare `readOnlyHint` "
        "(`annotated`), or all classed as reading (`read`). In the sandbox `annotated` calls "
        "every tool.",
    )
    trials_opt_out: tuple[str, ...] = Field(
        default=(), description="JSON list of registries, servers and URLs whose tools are never called."
    )
    sources: tuple[str, ...] = Field(
        default=(ALL_SOURCES,),
        description="JSON list of what is collected besides the server's own answers: `package` (its index), "
        "`repository`, `source` (with secrets and dependencies), `advisories`; `all` of them, or none: `[]`.",
    )
    github_api: str = Field(
        default="https://api.github.com",
        description="GitHub's REST API; `https://HOST/api/v3` for an Enterprise Server.",
    )
    github_tokens: Annotated[tuple[SecretStr, ...], NoDecode, BeforeValidator(split_list)] = Field(
        default=(),
        description="GitHub tokens for public data, separated by commas, used in rotation. Without one: 60"
        " requests an hour.",
    )
    osv_export: str = Field(
        default="https://storage.googleapis.com/osv-vulnerabilities", description="OSV's export for the local mirror."
    )
    osv_api: str = Field(
        default="https://api.osv.dev",
        description="OSV's API, used without a mirror except by Celery workers; empty: never.",
    )
    known_exploited: str = Field(
        default="https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json",
        description="CISA's catalogue of known exploited vulnerabilities: a URL or a file; empty: none.",
    )
    advisories: Path | None = Field(
        default=None, description="File of the advisory mirror. Default: `advisories.sqlite` in the cache folder."
    )
    ecosystems: tuple[str, ...] = Field(
        default=("npm", "PyPI", "Go", "crates.io", "RubyGems", "Packagist", "NuGet", "Maven"),
        description="JSON list of OSV ecosystems in the mirror.",
    )
    advisories_every: Duration = Field(
        default=timedelta(hours=1), description="How often beat refreshes the mirror. 0: never."
    )
    advisories_stale_after: Duration = Field(
        default=timedelta(days=7), description="Age from which evidence calls the mirror stale."
    )
    secret_rules: Path | None = Field(
        default=None, description="Rule file in gitleaks' format that replaces our secret patterns."
    )
    secret_salt: SecretStr = Field(
        default=SecretStr(""),
        description="Salt of secret hashes; equal on all machines of a fleet. Default: random, in the file"
        " `secret-salt` of the home folder.",
    )
    npm_downloads: str = Field(
        default="", description="Address with `{name}` for npm downloads of the last month. Default: none."
    )
    embargo: Duration = Field(
        default=timedelta(days=90), description="Time for a vendor before `hallmark findings` reminds of publication."
    )
    in_flight: int = Field(default=200, ge=1, le=4000, description="Servers probed at the same time per process.")
    sandbox: Literal["auto", "off"] = Field(
        default="auto", description="`off` starts no package; each is `no_sandbox`."
    )
    sandbox_slots: int = Field(
        default=0,
        ge=0,
        le=64,
        description="Packages installed or running at once on this machine. 0: two per processor, within "
        "`sandbox_memory`.",
    )
    sandbox_memory: int = Field(
        default=0,
        ge=0,
        description="Bytes for all running packages, up to 1 GiB each. 0: three quarters of the memory.",
    )
    write_batch: int = Field(
        default=50, ge=1, le=2000, description="Servers written in one transaction; a kill can lose them."
    )
    stop_grace: float = Field(default=3.0, ge=0, description="Seconds for servers in flight after Ctrl-C.")
    publish_processes: int = Field(
        default=2, ge=1, le=64, description="Processes that export a run's files, one per 2,000 servers at most."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Least severe logged event."
    )
    log_format: Literal["auto", "json", "console"] = Field(
        default="auto", description="`auto`: `console` on a terminal, else `json`."
    )
    commit: str = Field(
        default="", description="Commit of the code, pinned in runs. Default: from git, else a digest of the code."
    )
    clock: AwareDatetime | None = Field(default=None, description="For tests: the date of evidence and scorecards.")

    @property
    def store_url(self) -> str:
        """URL of the store, including its password: not for logs."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        return f"sqlite:///{self.home.absolute() / 'hallmark.db'}"

    @property
    def advisories_file(self) -> Path:
        return self.advisories or self.cache / "advisories.sqlite"

    @property
    def registry_names(self) -> tuple[str, ...]:
        """The registries as the options of a run name them: by name where they have one, never with headers."""
        return tuple(source if isinstance(source, str) else source.name for source in self.registries)

    @property
    def user_agent(self) -> str:
        return f"hallmark/{read_code_version()}" + (f" (+{self.contact_url})" if self.contact_url else "")


@cache
def read_code_version() -> str:
    """Version of the installed distribution; `0+source` when it is not installed."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "0+source"


def read_tool_environment() -> Mapping[str, str]:
    """The variables for package indexes and container engines: the only ones that the sandbox may see."""
    return {
        name: value
        for name, value in os.environ.items()  # noqa: TID251
        if name in _TOOL_NAMES or name.lower().startswith(_TOOL_PREFIXES)
    }


def read_environment_variable(name: str) -> str | None:
    """One variable that holds a credential of the operator."""
    return os.environ.get(name)  # noqa: TID251


def read_telemetry_environment() -> Mapping[str, str]:
    """The standard variables of OpenTelemetry, some of which may hold credentials."""
    return {name: value for name, value in os.environ.items() if name.startswith("OTEL_")}  # noqa: TID251


def read_user_environment() -> Mapping[str, str]:
    """All variables; only for a command that its user asked to run without a sandbox, and for our own processes."""
    return dict(os.environ)  # noqa: TID251
