"""Tolerant readers of values in untrusted documents: plain texts, times, names without addresses, web addresses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final, TypeAlias
from urllib.parse import urljoin, urlsplit

from crawler.addresses import UnusableAddress, normalise_folder, normalise_repository_url
from crawler.secret_masking import mask_secrets
from evidence.canonical import Json
from evidence.compiled_on_use import compile_on_use

Members: TypeAlias = Mapping[str, Json]

NAME: Final = 214  # characters: the longest name that npm accepts
VERSION: Final = 256
NOTICE: Final = 500
_URL: Final = 2048
_NAMES: Final = 100

_MAIL: Final = compile_on_use(r"<?[^\s<>@,;()]{1,64}@[^\s<>@,;()]{1,255}>?")
_UNPRINTABLE: Final = compile_on_use(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
# RFC 3339, section 5.6; fromisoformat rejects dates that do not exist.
_TIME: Final = compile_on_use(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)")
_SHORTHAND: Final = compile_on_use(r"[\w.-]+/[\w.-]+")
_MCP_NAME: Final = compile_on_use(r"mcp-name:\s{0,8}([A-Za-z0-9][A-Za-z0-9.-]{0,200}/[A-Za-z0-9._-]{1,200})")
_DESCRIPTION: Final = 1 << 20


def as_object(value: Json) -> Members:
    return value if isinstance(value, Mapping) else {}


def as_plain_text(value: Json, limit: int = NOTICE) -> str | None:
    """The text in one line without control characters, at most `limit` long; None when it is no text or blank."""
    if not isinstance(value, str):
        return None
    return " ".join(_UNPRINTABLE.sub(" ", value[: 4 * limit]).split())[:limit] or None


def as_exact_text(value: Json, limit: int) -> str | None:
    """The unchanged text if it is printable and at most `limit` long; else None, since a part of a name is another
    name.
    """
    if not isinstance(value, str) or not value or len(value) > limit or _UNPRINTABLE.search(value):
        return None
    return value


def as_masked_notice(value: Json) -> str | None:
    """A free text of the publisher, without mail addresses and possible secrets."""
    text = as_plain_text(value)
    return as_plain_text(mask_secrets(_MAIL.sub("", text))) if text else None


def as_timestamp(value: Json) -> str | None:
    """An RFC 3339 time as it was written; None for anything else."""
    return value if isinstance(value, str) and _moment(value) is not None else None


def find_earliest_timestamp(values: Iterable[Json]) -> str | None:
    """The earliest of the values that are times, as it was written."""
    known = [(moment, value) for value in values if isinstance(value, str) and (moment := _moment(value))]
    return min(known)[1] if known else None


def as_person_names(value: Json) -> list[Json] | None:
    """Names from a list of people in the form of npm and others, each once, in order; None when there is no list."""
    if not isinstance(value, list):
        return None
    found = (as_person_name(entry.get("name") if isinstance(entry, Mapping) else entry) for entry in value[:_NAMES])
    return list(dict.fromkeys(name for name in found if name))


def as_person_name(value: Json) -> str | None:
    """The name in `Name <mail>`; None when there is none."""
    text = as_plain_text(value, NAME)
    return as_plain_text(_MAIL.sub("", text).strip(" ,;\"'()"), NAME) if text else None


def resolve_link(base: str, reference: Json) -> str | None:
    """The http(s) URL without credentials of a reference in a document at `base`; None if there is none."""
    try:
        return as_web_url(urljoin(base, reference)) if isinstance(reference, str) and reference else None
    except ValueError:
        return None


def as_web_url(value: Json) -> str | None:
    """An http(s) URL without credentials; None for anything else."""
    text = as_exact_text(value, _URL)
    try:
        parts = urlsplit(text or "")
    except ValueError:
        return None
    return text if parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc else None


def as_repository_url(text: Json, directory: Json = None) -> dict[str, Json] | None:
    """A declared source repository as URL and folder, in the normal form by which servers are identified."""
    declared = as_exact_text(text, _URL)
    if declared is None:
        return None
    if _SHORTHAND.fullmatch(declared):
        declared = f"github:{declared}"  # https://docs.npmjs.com/cli/configuring-npm/package-json#repository
    try:
        # Here a fragment is a branch or an anchor, not a folder.
        url, _, folder = normalise_repository_url(declared.partition("#")[0]).partition("#")
        named = as_exact_text(directory, _URL)
        return {"url": url, "directory": (normalise_folder(named) if named else folder) or None}
    except UnusableAddress:
        return None


def find_mcp_name(description: Json) -> str | None:
    """The server name by which a Python package's description claims a registry entry: `mcp-name: NAME`."""
    found = _MCP_NAME.search(description[:_DESCRIPTION]) if isinstance(description, str) else None
    return found[1].rstrip(".") if found else None


def _moment(text: str) -> datetime | None:
    if not _TIME.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:
        return None
