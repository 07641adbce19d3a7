"""Texts for calls of a reading tool: they fit the schema and name nothing real that could be opened, run or reached."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from crawler.collectors.protocol.trials import pattern_samples, schema_validation
from crawler.collectors.protocol.trials.change_words import mentions_change
from evidence.canonical import Json
from evidence.compiled_on_use import compile_on_use

EXAMPLE: Final = "example"
ADDRESS: Final = "https://example.com/"

_LONGEST: Final = 1_000
_FORMATS: Final[Mapping[str, str]] = {
    "date": "2024-01-01",
    "date-time": "2024-01-01T00:00:00Z",
    "time": "12:00:00Z",
    "duration": "P1D",
    "email": "user@example.com",
    "idn-email": "user@example.com",
    "hostname": "example.com",
    "idn-hostname": "example.com",
    "ipv4": "192.0.2.1",  # RFC 5737 and RFC 3849: addresses of documentation
    "ipv6": "2001:db8::1",
    "uri": ADDRESS,
    "url": ADDRESS,
    "iri": ADDRESS,
    "uri-reference": EXAMPLE,
    "iri-reference": EXAMPLE,
    "uri-template": ADDRESS,
    "uuid": "00000000-0000-4000-8000-000000000000",
    "json-pointer": "",
    "relative-json-pointer": "0",
    "regex": EXAMPLE,
}
_NAMES: Final[tuple[tuple[str, str], ...]] = (
    (r"e_?mail", "user@example.com"),
    (r"ur[il]|href|link|endpoint|webhook|callback", ADDRESS),
    (r"host|domain", "example.com"),
    (r"ip|ip_?addr(?:ess)?", "192.0.2.1"),
    (r"time_?zone|tz", "UTC"),
    (r"lang|language|locale", "en"),
    (r"country", "US"),
    (r"currency", "USD"),
    (r"time|start_?time|end_?time", "12:00"),
    (r"date|since|until|day|start_?date|end_?date", "2024-01-01"),
    (r"uuid|guid", "00000000-0000-4000-8000-000000000000"),
)
_OTHERS: Final = (EXAMPLE, "Example", "EXAMPLE", "1", "a", "2024-01-01", "12:00", "1.0.0", "#000000", "example.com")

_RISKY_NAME: Final = compile_on_use(
    r"ur[il]|href|link|endpoint|webhook|callback|host|domain|server|address|proxy"
    r"|path|file|dir|folder|root|cwd|workspace|mount|volume"
    r"|command|cmd|shell|script|sql|code|expression|statement|exec|eval|program|binary",
    re.IGNORECASE,
)
_RISKY_TEXT: Final = compile_on_use(
    r"^[/~.]|\.\.|\\|^[A-Za-z]:|[;|&$`<>\n\r\0]|^(?:file|data|javascript):|://"
    r"|\b(?:localhost|metadata|127\.|10\.|169\.254|192\.168)",
    re.IGNORECASE,
)


def make_sample_texts(name: str, schema: Mapping[str, Json]) -> Iterator[str]:
    """Texts for a parameter of this name, each within the schema's format, pattern and lengths, the best first."""
    constraints = {key: schema[key] for key in ("format", "pattern", "minLength", "maxLength") if key in schema}
    for text in _candidates(name, constraints):
        try:
            fits = len(text) <= _LONGEST and schema_validation.find_violation(constraints, text, formats=True) is None
        except schema_validation.SchemaNotDecidable:
            return
        if fits and (text in _SAFE or is_harmless_text(text)):
            yield text


def is_risky_parameter(name: str) -> bool:
    """True for a parameter that names a place or holds code: its author's examples are not used."""
    return bool(_RISKY_NAME.search(name))


def is_harmless_text(text: str) -> bool:
    """True for a text that is no path, address, command or verb of an action."""
    return not _RISKY_TEXT.search(text) and not mentions_change(text)


def _candidates(name: str, constraints: Mapping[str, Json]) -> Iterator[str]:
    shortest, longest = (_bound(constraints.get(key)) for key in ("minLength", "maxLength"))
    declared = constraints.get("format")
    if isinstance(declared, str) and declared in _FORMATS:
        yield _FORMATS[declared]
    plain = re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()
    yield from (text for shape, text in _NAMES if re.search(rf"(?:^|_){shape}(?:$|_)", plain.replace("-", "_")))
    yield from _OTHERS
    if longest is not None:
        yield EXAMPLE[:longest]
    if shortest is not None and shortest <= _LONGEST:
        yield (EXAMPLE * (shortest // len(EXAMPLE) + 1))[:shortest]
        yield "1" * shortest
    pattern = constraints.get("pattern")
    if isinstance(pattern, str):
        found = pattern_samples.make_matching_text(pattern, min(shortest or 0, _LONGEST))
        yield from () if found is None else (found,)


def _bound(value: Json) -> int | None:
    return int(value) if isinstance(value, (int, float)) and 0 <= value <= _LONGEST else None


_SAFE: Final = frozenset({*_FORMATS.values(), *(text for _, text in _NAMES), *_OTHERS, ""})
