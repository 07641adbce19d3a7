"""All settings, read from `HALLMARK_*` environment variables; no other module reads the environment."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, Final, Literal, get_type_hints

from msgspec import Meta, Struct, field
from msgspec.structs import fields

from crawler.container_engine_variables import ENGINE_VARIABLES
from workers.settings.community import CommunitySettings
from workers.settings.reading import construct, read_meaning, read_value, split_list
from workers.settings.secret import Secret

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


class RegistrySetting(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One registry: a short name, its address, and headers that may hold a token."""

    name: str
    url: str
    headers: dict[str, Secret] = {}


DEFAULT_BROKER: Final = "redis://127.0.0.1:6379/0"

ALL_SOURCES: Final = "all"
"""In HALLMARK_SOURCES: every source of evidence."""


def _data_home() -> Path:
    return _xdg("XDG_DATA_HOME", ".local/share") / "hallmark"


def _cache_home() -> Path:
    return _xdg("XDG_CACHE_HOME", ".cache") / "hallmark"


def _xdg(name: str, fallback: str) -> Path:
    value = os.environ.get(name, "")  # noqa: TID251
    return Path(value) if Path(value).is_absolute() else Path.home() / fallback


def _read_tokens(given: object) -> tuple[Secret, ...]:
    return tuple(construct(Secret, token) for token in split_list(given))


class Settings(CommunitySettings, frozen=True, kw_only=True):
    """All settings, which only `read_settings` makes: it checks them. The variable of each is `HALLMARK_` and its name
    in capitals.
    """

    home: Annotated[
        Path, "Folder of the embedded database. Default: `hallmark` in `$XDG_DATA_HOME` or `~/.local/share`."
    ] = field(default_factory=_data_home)
    cache: Annotated[
        Path,
        "Folder of the sandbox and installed packages; may be deleted. Default:"
        " `hallmark` in `$XDG_CACHE_HOME` or `~/.cache`.",
    ] = field(default_factory=_cache_home)
    database_url: Annotated[
        Secret | None,
        "`postgresql+psycopg://USER:PASSWORD@HOST/NAME` or `sqlite:////path/to/file.db`. "
        "Default: `hallmark.db` in the home folder.",
    ] = None
    redis_url: Annotated[Secret, "Broker of the Celery mode; unused in embedded mode."] = Secret(DEFAULT_BROKER)
    registries: Annotated[
        tuple[str | RegistrySetting, ...],
        Meta(min_length=1),
        "JSON list of registries: `starter`, `official`, `docker`, a URL, a file or folder of "
        'server.json documents, or `{"name": ..., "url": ..., "headers": {...}}`.',
    ] = ("starter",)
    credentials: Annotated[
        Path | None, "TOML or JSON file with credentials per address; it names variables and files and holds no secret."
    ] = None
    contact_url: Annotated[
        str, "Page that says who runs this crawler. Part of the User-Agent; set it before crawling."
    ] = ""
    allow_private: Annotated[bool, "Also contact loopback and private addresses: for tests and own networks."] = False
    host_gap: Annotated[float, Meta(ge=0), "Seconds between two requests to one host. 0 for loopback."] = 0.6
    connect_timeout: Annotated[float, Meta(gt=0), "Seconds to connect, TLS included."] = 10.0
    first_byte_timeout: Annotated[float, Meta(gt=0), "Seconds to the first byte of an answer."] = 30.0
    read_timeout: Annotated[float, Meta(gt=0), "Seconds without a byte inside an answer."] = 15.0
    server_timeout: Annotated[float, Meta(gt=0), "Seconds of one collector for one remote server."] = 120.0
    retry_pause: Annotated[float, Meta(ge=0), "Seconds before a transient failure is asked again."] = 5.0
    depth: Annotated[
        Literal["core", "full", "weekly"],
        "Protocol questions of a run: `core` about 7 requests, `full` at most 110, `weekly` "
        "full once a week. A core probe keeps full results for 14 days.",
    ] = "weekly"
    interop: Annotated[
        Literal["off", "full", "weekly"],
        "When the official SDK's client probes a server in runs: `off`, `weekly`, or with `full` probes.",
    ] = "off"
    listen: Annotated[
        bool, "A full probe also opens a subscription (`subscriptions/listen`) for at most 3 seconds."
    ] = False
    trials: Annotated[
        Literal["off", "annotated", "read"],
        "Tools that may be called: none (`off`), those that declare `readOnlyHint` "
        "(`annotated`), or all classed as reading (`read`). In the sandbox `annotated` calls "
        "every tool.",
    ] = "annotated"
    trials_opt_out: Annotated[
        tuple[str, ...], "JSON list of registries, servers and URLs whose tools are never called."
    ] = ()
    sources: Annotated[
        tuple[str, ...],
        "JSON list of what is collected besides the server's own answers: `package` (its index), "
        "`repository`, `source` (with secrets and dependencies), `advisories`; `all` of them, or none: `[]`.",
    ] = (ALL_SOURCES,)
    github_api: Annotated[str, "GitHub's REST API; `https://HOST/api/v3` for an Enterprise Server."] = (
        "https://api.github.com"
    )
    github_tokens: Annotated[
        tuple[Secret, ...],
        _read_tokens,
        "GitHub tokens for public data, separated by commas, used in rotation. Without one: 60 requests an hour.",
    ] = ()
    osv_export: Annotated[str, "OSV's export for the local mirror."] = (
        "https://storage.googleapis.com/osv-vulnerabilities"
    )
    osv_api: Annotated[str, "OSV's API, used without a mirror except by Celery workers; empty: never."] = (
        "https://api.osv.dev"
    )
    known_exploited: Annotated[
        str, "CISA's catalogue of known exploited vulnerabilities: a URL or a file; empty: none."
    ] = "https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json"
    advisories: Annotated[
        Path | None, "File of the advisory mirror. Default: `advisories.sqlite` in the cache folder."
    ] = None
    ecosystems: Annotated[tuple[str, ...], "JSON list of OSV ecosystems in the mirror."] = (
        "npm",
        "PyPI",
        "Go",
        "crates.io",
        "RubyGems",
        "Packagist",
        "NuGet",
        "Maven",
    )
    advisories_every: Annotated[timedelta, "How often beat refreshes the mirror. 0: never."] = timedelta(hours=1)
    advisories_stale_after: Annotated[timedelta, "Age from which evidence calls the mirror stale."] = timedelta(days=7)
    secret_rules: Annotated[Path | None, "Rule file in gitleaks' format that replaces our secret patterns."] = None
    secret_salt: Annotated[
        Secret,
        "Salt of secret hashes; equal in a whole fleet. Default: random, in the file `secret-salt` of the home folder.",
    ] = Secret("")
    npm_downloads: Annotated[str, "Address with `{name}` for npm downloads of the last month. Default: none."] = ""
    embargo: Annotated[timedelta, "Time for a vendor before `hallmark findings` reminds of publication."] = timedelta(
        days=90
    )
    in_flight: Annotated[int, Meta(ge=1, le=4000), "Servers probed at the same time per process."] = 200
    sandbox: Annotated[Literal["auto", "off"], "`off` starts no package; each is `no_sandbox`."] = "auto"
    sandbox_slots: Annotated[
        int,
        Meta(ge=0, le=64),
        "Packages installed or running at once on this machine. 0: two per processor, within `sandbox_memory`.",
    ] = 0
    sandbox_memory: Annotated[
        int, Meta(ge=0), "Bytes for all running packages, up to 1 GiB each. 0: three quarters of the memory."
    ] = 0
    write_batch: Annotated[int, Meta(ge=1, le=2000), "Servers written in one transaction; a kill can lose them."] = 50
    stop_grace: Annotated[float, Meta(ge=0), "Seconds for servers in flight after Ctrl-C."] = 3.0
    publish_processes: Annotated[
        int, Meta(ge=1, le=64), "Processes that export a run's files, one per 2,000 servers at most."
    ] = 2
    log_level: Annotated[Literal["debug", "info", "warning", "error"], "Least severe logged event."] = "info"
    log_format: Annotated[Literal["auto", "json", "console"], "`auto`: `console` on a terminal, else `json`."] = "auto"
    commit: Annotated[str, "Commit of the code, pinned in runs. Default: from git, else a digest of the code."] = ""
    clock: Annotated[datetime | None, "For tests: the date of evidence and scorecards."] = None

    @property
    def store_url(self) -> str:
        """URL of the store, including its password: not for logs."""
        if self.database_url is not None:
            return self.database_url.reveal()
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


def read_settings(**given: object) -> Settings:
    """The settings that the environment sets and those `given`, which come first; raise InvalidSetting for the wrong.

    Case of variables does not matter, and unknown ones are ignored.
    """
    stated = _read_variables() | given
    annotations = get_type_hints(Settings, include_extras=True) if stated else {}
    values: dict[str, Any] = {}
    wrong = []
    for name, value in stated.items():
        try:
            values[name] = read_value(annotations[name], value)
        except ValueError as error:
            wrong.append(f"{name_variable(name)}: {error}\n    {read_meaning(annotations[name])}")
    if not wrong:
        try:
            return Settings(**values)
        except ValueError as error:  # of settings that do not fit together
            wrong.append(str(error))
    raise InvalidSetting("\n".join(["a setting is not valid:", *(f"  {line}" for line in wrong)]))


def list_settings() -> Iterator[tuple[str, str]]:
    """The name and meaning of each setting."""
    return ((one.name, read_meaning(one.type)) for one in fields(Settings))


def is_set(name: str) -> bool:
    """Whether the environment sets this setting."""
    return name in _read_variables()


def name_variable(name: str) -> str:
    """The variable of a setting."""
    return f"{VARIABLE_PREFIX}{name.upper()}"


def _read_variables() -> dict[str, str]:
    """The variables of settings, by the setting."""
    known = {name_variable(name): name for name in Settings.__struct_fields__}
    return {
        known[variable.upper()]: text
        for variable, text in os.environ.items()  # noqa: TID251
        if variable.upper() in known
    }


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


def replace_environment(variables: Mapping[str, str]) -> None:
    """Give this process the variables of a program that it is about to run."""
    os.environ.clear()  # noqa: TID251
    os.environ.update(variables)  # noqa: TID251
