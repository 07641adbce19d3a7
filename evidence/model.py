"""The values of evidence: servers, targets, records, dossiers and runs. All are immutable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from evidence.canonical import Json, NotJson, canonical_digest, canonical_json, sha256
from evidence.launch_options import LaunchOptions
from evidence.package_inputs import PackageInput

Parsed = TypeVar("Parsed")

ServerId: TypeAlias = str


class Reason(StrEnum):
    """Why there is no payload. A closed list: a new reason bumps the evidence schema's minor version."""

    OAUTH_REQUIRED = "oauth_required"
    PAYMENT_REQUIRED = "payment_required"
    SANDBOX_RESTRICTED = "sandbox_restricted"
    NO_SANDBOX = "no_sandbox"
    TRANSPORT_UNSUPPORTED = "transport_unsupported"
    WRITE_ONLY = "write_only"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    BLOCKED_BY_WAF = "blocked_by_waf"
    NOT_MCP = "not_mcp"
    NO_REPOSITORY = "no_repository"
    NO_PACKAGE = "no_package"
    NO_VERSION = "no_version"
    TOO_LARGE = "too_large"
    OPTED_OUT = "opted_out"
    CREDENTIALS_REQUIRED = "credentials_required"
    FORBIDDEN = "forbidden"
    INSTALL_FAILED = "install_failed"
    INSTALL_SCRIPTS_REQUIRED = "install_scripts_required"
    RUNTIME_UNSUPPORTED = "runtime_unsupported"
    START_FAILED = "start_failed"
    TLS_ERROR = "tls_error"
    BLOCKED_ADDRESS = "blocked_address"
    INVALID_REGISTRATION = "invalid_registration"
    QUARANTINED = "quarantined"
    COLLECTOR_ERROR = "collector_error"
    COLLECTOR_OFFLINE = "collector_offline"
    NOT_COLLECTED = "not_collected"


_REASON_WORDS: Final = {
    Reason.OAUTH_REQUIRED: "the server asks for a token",
    Reason.PAYMENT_REQUIRED: "the server asks for a payment",
    Reason.SANDBOX_RESTRICTED: "the sandbox does not give what the server needs",
    Reason.NO_SANDBOX: "this machine has no sandbox",
    Reason.TRANSPORT_UNSUPPORTED: "the transport is not supported",
    Reason.WRITE_ONLY: "everything that the server offers changes something",
    Reason.UNREACHABLE: "the connection failed",
    Reason.TIMEOUT: "no complete answer came in time",
    Reason.RATE_LIMITED: "the server asked for fewer requests",
    Reason.BLOCKED_BY_WAF: "a firewall or bot filter answered instead of the server",
    Reason.NOT_MCP: "the answer is not one of MCP",
    Reason.NO_REPOSITORY: "there is no repository to read",
    Reason.NO_PACKAGE: "there is no package to read",
    Reason.NO_VERSION: "the package has no such version",
    Reason.TOO_LARGE: "the answer is larger than the limits",
    Reason.OPTED_OUT: "the maintainer asked not to be measured",
    Reason.CREDENTIALS_REQUIRED: "the server asks for credentials",
    Reason.FORBIDDEN: "the server refused the request",
    Reason.INSTALL_FAILED: "the package could not be installed",
    Reason.INSTALL_SCRIPTS_REQUIRED: "the package needs its install scripts, which are not run",
    Reason.RUNTIME_UNSUPPORTED: "a package of this type is not started",
    Reason.START_FAILED: "the process did not start",
    Reason.TLS_ERROR: "the TLS handshake failed",
    Reason.BLOCKED_ADDRESS: "the address may not be contacted",
    Reason.INVALID_REGISTRATION: "the registry entry is not valid",
    Reason.QUARANTINED: "the package is held back because it may be malicious",
    Reason.COLLECTOR_ERROR: "Hallmark itself failed",
    Reason.COLLECTOR_OFFLINE: "this machine was offline",
    Reason.NOT_COLLECTED: "it was not collected in this run",
}


def describe_reason(reason: str) -> str:
    """What a reason says by itself: in words, also for one that is not of `Reason`."""
    return _REASON_WORDS[Reason(reason)] if reason in _REASON_WORDS else reason.replace("_", " ")


class TargetType(StrEnum):
    """How a server is reached: over HTTP, or by starting a package or command."""

    STREAMABLE_HTTP = "streamable-http"
    SSE = "sse"
    NPM = "npm"
    PYPI = "pypi"
    OCI = "oci"
    NUGET = "nuget"
    CARGO = "cargo"
    MCPB = "mcpb"
    COMMAND = "command"

    @property
    def is_remote(self) -> bool:
        return self in {TargetType.STREAMABLE_HTTP, TargetType.SSE}


class Target(Struct, frozen=True, kw_only=True):
    """One way to reach a server.

    `identifier` is the URL of a remote, the name of a package, or the working directory of a command.
    `arguments` follow the package's own entry point (or are the command itself); `environment` holds declared,
    non-secret values; `headers` are declared literal headers of a remote. `inputs` are declared without a value.
    `launch`: what a registration says about the start of a package. `as_of_release`: the dependencies of a package are
    those of its release date; only set while a probe starts it.
    """

    type: TargetType
    identifier: str
    version: str | None = None
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    inputs: tuple[PackageInput, ...] = ()
    launch: LaunchOptions = field(default_factory=LaunchOptions)
    as_of_release: bool = False


class Status(StrEnum):
    """Lifecycle status of a registry entry, and `invalid` for an entry that does not match its schema."""

    ACTIVE = "active"
    DEPRECATED = "deprecated"
    DELETED = "deleted"
    INVALID = "invalid"


class ServerRef(Struct, frozen=True, kw_only=True):
    """One registry's entry for a server, as it was received.

    `entry` holds the entry's bytes verbatim. `error` is the schema error of an invalid entry, or a flaw that leaves the
    server reachable. `targets` are in order of preference; the first one decides the server's identity.
    """

    registry: str
    name: str
    version: str
    status: Status
    entry: bytes
    targets: tuple[Target, ...] = ()
    repository: str | None = None
    updated_at: datetime | None = None
    error: str | None = None


class Server(Struct, frozen=True, kw_only=True):
    """One server to score. `ref` is the canonical reference (`npm:NAME`, `pypi:NAME`, a URL, ...).

    `id` is derived from `ref`, so a server has the same id in every database.
    """

    ref: str
    name: str
    targets: tuple[Target, ...] = ()
    repository: str | None = None
    seen_in: tuple[str, ...] = ()

    @property
    def id(self) -> ServerId:
        return server_id(self.ref)


@lru_cache(maxsize=1024)
def server_id(ref: str) -> ServerId:
    """`srv_` and the first 20 hexadecimal digits of the SHA-256 of a canonical reference."""
    return f"srv_{sha256(ref.encode('utf-8'))[:20]}"


class Observed(Struct, frozen=True, dict=True):
    """A payload: the body's bytes as received after framing, without request ids, dates or timings."""

    body: bytes

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the body; identifies the blob."""
        return sha256(self.body)

    @cached_property
    def canonical(self) -> str | None:
        """SHA-256 of the body's RFC 8785 form, or None when it has none."""
        return canonical_digest(self.body)


class Absent(Struct, frozen=True, dict=True):
    """Why there is no payload. `detail` is stable between runs: no ids, dates, timings or secrets; never empty."""

    reason: Reason
    detail: str = ""

    def __post_init__(self) -> None:
        """Without a detail of its own, an absence has the words of its reason."""
        if not self.detail.strip():
            force_setattr(self, "detail", describe_reason(self.reason))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of reason and detail, so that an absence can be cited like a body."""
        return sha256(canonical_json({"absent": self.reason.value, "detail": self.detail}))


class Record(Struct, frozen=True, kw_only=True):
    """One piece of evidence. `observation` holds what differs in every run (durations, ids, volatile headers)."""

    server: ServerId
    kind: str
    schema: int
    collector: str
    collector_version: int
    observed_at: datetime
    content: Observed | Absent
    observation: Mapping[str, Json] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Digest of the content, by which findings and scorecards cite this record."""
        return self.content.digest


class Dossier(Struct, frozen=True, kw_only=True, dict=True):
    """All records of one server in one run, at most one per kind."""

    server: Server
    as_of: datetime
    records: Mapping[str, Record] = field(default_factory=dict)

    @cached_property
    def _views(self) -> dict[tuple[str, object], tuple[Observed, Any]]:
        return {}

    def read(self, kind: str) -> Observed | Absent:
        """The content of a kind; a kind that was not collected is absent, never empty."""
        record = self.records.get(kind)
        return record.content if record else Absent(Reason.NOT_COLLECTED, f"no {kind} record in this run")

    def parsed(self, kind: str, parse: Callable[[bytes], Parsed]) -> Parsed | None:
        """The content of a kind as `parse` returns it; None when it is absent or `parse` raises NotJson.

        The result is kept, because one listing is read for many purposes.
        """
        content = self.read(kind)
        if isinstance(content, Absent):
            return None
        known, view = self._views.get((kind, parse), (None, None))
        if known is not content:
            view = _parse(content.body, parse)
            self._views[kind, parse] = (content, view)
        return view

    def with_records(self, records: Mapping[str, Record]) -> Dossier:
        """The same server and time with other records; contents that stay are not parsed again."""
        changed = replace(self, records=records)
        changed._views.update(self._views)  # noqa: SLF001  of the same class
        return changed


def _parse(body: bytes, parse: Callable[[bytes], Parsed]) -> Parsed | None:
    try:
        return parse(body)
    except NotJson:
        return None


class Trigger(StrEnum):
    """What started a run."""

    NIGHTLY = "nightly"
    RETEST = "retest"
    LOCAL = "local"


class Run(Struct, frozen=True, kw_only=True):
    """One run with pinned versions. `id` sorts by time; `pins` maps each versioned part to its version."""

    id: str
    trigger: Trigger
    as_of: datetime
    pins: Mapping[str, str]
