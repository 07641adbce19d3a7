"""Parses the members of an OSV record that matching and receipts need (OSV schema 1.7), from untrusted JSON under
bounds.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeGuard

from msgspec import Struct

from evidence.lockfiles.lockfile import Ecosystem
from evidence.lockfiles.versions import normalize_package_name

MAX_SUMMARY: Final = 200
MAX_ALIASES: Final = 50
MAX_EVENTS: Final = 5_000
MAX_VERSIONS: Final = 100_000
MAX_VERSION: Final = 256

SEMVER: Final = "SEMVER"
_RANGES: Final = frozenset({SEMVER, "ECOSYSTEM"})
EVENTS: Final = ("introduced", "last_affected", "fixed", "limit")
"""Kinds of events in the order in which events at the same version apply."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}")
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_SPACES = re.compile(r"\s+")
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_KNOWN: Final = {ecosystem.value: ecosystem for ecosystem in Ecosystem}


class InvalidAdvisory(ValueError):
    """The value is not an OSV record; the message states the expectation."""


class Event(Struct, frozen=True):
    """A version at which a range changes; `kind` is one of EVENTS."""

    kind: str
    version: str


class Range(Struct, frozen=True):
    """A range of versions. `semver`: ordered by SemVer 2.0; otherwise in the order of its ecosystem."""

    semver: bool
    events: tuple[Event, ...]


class Affected(Struct, frozen=True, kw_only=True):
    """The statement of an advisory about one package. `ecosystem` has no suffix, `name` is normalised."""

    ecosystem: str
    name: str
    versions: frozenset[str] = frozenset()
    ranges: tuple[Range, ...] = ()


class Vector(Struct, frozen=True, kw_only=True):
    """A CVSS vector; `type` is CVSS_V2, CVSS_V3 or CVSS_V4."""

    type: str
    score: str


class Advisory(Struct, frozen=True, kw_only=True):
    """A record. Dates are RFC 3339 texts, empty when missing; `word` is the database's own severity.

    `informational` is RustSec's class of records that are not vulnerabilities by themselves: unmaintained, unsound,
    notice.
    """

    id: str
    modified: str
    published: str = ""
    withdrawn: bool = False
    aliases: tuple[str, ...] = ()
    summary: str = ""
    vectors: tuple[Vector, ...] = ()
    word: str = ""
    informational: str = ""
    malicious: bool = False
    affected: tuple[Affected, ...] = ()

    def about(self, ecosystem: str, name: str) -> tuple[Affected, ...]:
        """The statements about one package, given as in `Affected`."""
        return tuple(part for part in self.affected if part.ecosystem == ecosystem and part.name == name)


def parse_advisory(raw: object) -> Advisory:
    """The record in a parsed JSON value; raise InvalidAdvisory. Unknown members and values are left out."""
    if not isinstance(raw, Mapping):
        raise InvalidAdvisory(f"a record is an object, found {type(raw).__name__}")
    name, modified = raw.get("id"), raw.get("modified")
    if not isinstance(name, str) or not _ID.fullmatch(name):
        raise InvalidAdvisory("a record has an id of letters, digits and dashes")
    if not is_timestamp(modified):
        raise InvalidAdvisory("a record has a date in `modified`")
    affected = _objects(raw.get("affected"))
    return Advisory(
        id=name,
        modified=modified,
        published=_time(raw.get("published")),
        withdrawn=bool(raw.get("withdrawn")),
        aliases=tuple(_ids(raw.get("aliases"), but=name)),
        summary=_summary(raw),
        vectors=tuple(_vectors(raw, affected)),
        word=_word(raw, affected),
        informational=next(filter(None, (_specific(part, "informational") for part in affected)), ""),
        malicious=name.startswith("MAL-") or any(_is_malicious(part) for part in affected),
        affected=tuple(part for part in map(_affected, affected) if part is not None),
    )


def normalize_name(ecosystem: str, name: str) -> str:
    """The name in the form in which its ecosystem compares names."""
    known = _KNOWN.get(ecosystem)
    return normalize_package_name(known, name) if known else name


def is_timestamp(value: object) -> TypeGuard[str]:
    """Whether the value is an RFC 3339 date and time since 1970, as OSV writes them."""
    if not isinstance(value, str) or not 19 <= len(value) <= 40 or value[4] != "-" or "T" not in value:
        return False
    try:
        return parse_timestamp(value).year >= 1970
    except ValueError:
        return False


def parse_timestamp(text: str) -> datetime:
    """A date and time, to the microsecond; raise ValueError on anything else. Without an offset it is in UTC."""
    whole, _, rest = text.partition(".")
    digits = re.match(r"\d*", rest)
    end = digits.end() if digits else 0
    fraction, offset = rest[:end][:6], rest[end:]
    value = datetime.fromisoformat(f"{whole}.{fraction:0<6}{offset}" if fraction else f"{whole}{offset}")
    return value if value.tzinfo else datetime.fromisoformat(f"{value.isoformat()}+00:00")


def _affected(raw: Mapping[str, Any]) -> Affected | None:
    package = raw.get("package")
    if not isinstance(package, Mapping):
        return None
    ecosystem, name = package.get("ecosystem"), package.get("name")
    if not isinstance(ecosystem, str) or not isinstance(name, str) or not name or len(name) > 512:
        return None
    bare = ecosystem.partition(":")[0]
    return Affected(
        ecosystem=bare,
        name=normalize_name(bare, name),
        versions=frozenset(text for text in _texts(raw.get("versions"))[:MAX_VERSIONS] if len(text) <= MAX_VERSION),
        ranges=tuple(found for part in _objects(raw.get("ranges")) if (found := _range(part))),
    )


def _range(raw: Mapping[str, Any]) -> Range | None:
    """The range; None for a range of commits and for one without known events."""
    kind = raw.get("type")
    if not isinstance(kind, str) or kind not in _RANGES:
        return None
    events = tuple(event for part in _objects(raw.get("events"))[:MAX_EVENTS] for event in _events(part))
    return Range(kind == SEMVER, events) if events else None


def _events(raw: Mapping[str, Any]) -> Iterator[Event]:
    for kind in EVENTS:
        version = raw.get(kind)
        if isinstance(version, str):
            yield Event(kind, version[: MAX_VERSION + 1])


def _vectors(raw: Mapping[str, Any], affected: Sequence[Mapping[str, Any]]) -> Iterator[Vector]:
    """Vectors of the record, of its packages, and of RustSec's own members."""
    for holder in (raw, *affected[:20]):
        for part in _objects(holder.get("severity"))[:10]:
            kind, score = part.get("type"), part.get("score")
            if isinstance(kind, str) and isinstance(score, str) and len(score) <= 300:
                yield Vector(type=kind, score=score)
    for part in affected[:20]:
        score = _specific(part, "cvss")
        if score.startswith("CVSS:") and len(score) <= 300:
            yield Vector(type=f"CVSS_V{score[5]}", score=score)


def _word(raw: Mapping[str, Any], affected: Sequence[Mapping[str, Any]]) -> str:
    return next(filter(None, (_specific(holder, "severity") for holder in (raw, *affected[:20]))), "")[:20].lower()


def _is_malicious(part: Mapping[str, Any]) -> bool:
    own = part.get("database_specific")
    return isinstance(own, Mapping) and "malicious" in _texts(own.get("categories"))


def _specific(holder: Mapping[str, Any], name: str) -> str:
    """A text among the members that a database adds."""
    for place in ("database_specific", "ecosystem_specific"):
        own = holder.get(place)
        if isinstance(own, Mapping) and isinstance(value := own.get(name), str):
            return value
    return ""


def _summary(raw: Mapping[str, Any]) -> str:
    """One line without invisible characters and mail addresses: the summary, or the first line of the details."""
    for member in ("summary", "details"):
        value = raw.get(member)
        if isinstance(value, str) and (line := value[:4000].strip().partition("\n")[0].strip().lstrip("# ")):
            text = _visible(line[: 2 * MAX_SUMMARY])
            text = _MAIL.sub("…", _SPACES.sub(" ", text).strip())
            return text if len(text) <= MAX_SUMMARY else f"{text[: MAX_SUMMARY - 1].rstrip()}…"
    return ""


def _visible(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(" " if unicodedata.category(one) in _INVISIBLE else one for one in text)


def _ids(value: object, *, but: str) -> Iterator[str]:
    seen = {but}
    for text in _texts(value)[:MAX_ALIASES]:
        if text not in seen and _ID.fullmatch(text):
            seen.add(text)
            yield text


def _time(value: object) -> str:
    return value if is_timestamp(value) else ""


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
