"""Masks secrets in what `scan` prints and saves: user information of URLs, and query values that are credentials."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from urllib.parse import unquote, unquote_plus

from msgspec.structs import replace

from evidence.canonical import Json
from evidence.model import Absent, Dossier, Observed, Record, Server, Target
from scoring.text.secret_names import is_secret_name

MASK: Final = "***"

MIN_VALUE_LENGTH: Final = 8
"""Shortest secret that is searched by itself; shorter ones occur in too many innocent places."""

_USERINFO: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)([^/?#\s]*)@")
_PAIR: Final = re.compile(r"([?&;#])([^?&;#=\s]+)=([^&;#\s\"'<>]*)")
_ALSO: Final = frozenset(["auth", "code", "cookie", "jwt", "pass", "pwd", "session", "sessionid", "sid", "sig"])
_ENDINGS: Final = ("key", "token", "secret", "password", "signature")
_VALUE: Final = re.compile(r"(?:sk|pk|rk)[-_]|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|eyJ|AKIA")


def mask_text(text: str) -> str:
    """The text with the credentials of every URL masked, also of malformed ones."""
    return _PAIR.sub(_masked_pair, _USERINFO.sub(rf"\1{MASK}@", text))


def mask_server(server: Server) -> Server:
    """The server with masked reference and name; its targets keep the real addresses for connecting."""
    return replace(server, ref=mask_text(server.ref), name=mask_text(server.name))


def mask_dossier(dossier: Dossier) -> Dossier:
    """The dossier without credentials of addresses, including their repetitions in evidence."""
    known = _replacements(dossier.server.targets)
    server = replace(mask_server(dossier.server), targets=tuple(map(_target, dossier.server.targets)))
    records = {kind: _record(record, server, known) for kind, record in dossier.records.items()}
    return replace(dossier, server=server, records=records)


def _target(target: Target) -> Target:
    headers = tuple((name, MASK if _is_named(name) else mask_text(value)) for name, value in target.headers)
    return replace(
        target,
        identifier=mask_text(target.identifier),
        arguments=tuple(map(mask_text, target.arguments)),
        headers=headers,
        launch=replace(target.launch, url=mask_text(target.launch.url)),
    )


def _record(record: Record, server: Server, known: Mapping[str, str]) -> Record:
    content = record.content
    if isinstance(content, Absent):
        return replace(
            record,
            server=server.id,
            content=Absent(content.reason, mask_text(_swap(content.detail, known))),
            observation=_object(record.observation, known),
        )
    body = content.body
    for secret, mask in known.items():
        body = body.replace(json.dumps(secret)[1:-1].encode(), mask.encode())
        body = body.replace(secret.encode("utf-8", "surrogatepass"), mask.encode())
    return replace(
        record,
        server=server.id,
        content=content if body == content.body else Observed(body),
        observation=_object(record.observation, known),
    )


def _object(value: Mapping[str, Json], known: Mapping[str, str]) -> dict[str, Json]:
    return {name: _value(member, known) for name, member in value.items()}


def _value(value: Json, known: Mapping[str, str]) -> Json:
    if isinstance(value, str):
        return mask_text(_swap(value, known))
    if isinstance(value, Mapping):
        return _object(value, known)
    return [_value(member, known) for member in value] if isinstance(value, (list, tuple)) else value


def _swap(text: str, known: Mapping[str, str]) -> str:
    for secret, mask in known.items():
        text = text.replace(secret, mask)
    return text


def _replacements(targets: Iterable[Target]) -> dict[str, str]:
    """Replacements in evidence, longest first: whole addresses with a secret, then the secrets themselves."""
    found: dict[str, str] = {}
    for target in targets:
        if (address := mask_text(target.identifier)) != target.identifier:
            found[target.identifier] = address
        found |= dict.fromkeys((secret for secret in _secrets(target) if len(secret) >= MIN_VALUE_LENGTH), MASK)
    return dict(sorted(found.items(), key=lambda pair: -len(pair[0])))


def _secrets(target: Target) -> Iterator[str]:
    for match in _PAIR.finditer(target.identifier):
        if _is_credential(match[2], match[3]):
            yield from (match[3], unquote(match[3]), unquote_plus(match[3]))
    for match in _USERINFO.finditer(target.identifier):
        yield from (match[2], *match[2].split(":"), *unquote(match[2]).split(":"))
    yield from (value for name, value in target.headers if _is_named(name))


def _masked_pair(match: re.Match[str]) -> str:
    return f"{match[1]}{match[2]}={MASK}" if _is_credential(match[2], match[3]) else match[0]


def _is_credential(name: str, value: str) -> bool:
    """Whether a query value is a credential; a placeholder such as `{API_KEY}` is not."""
    return bool(value) and not value.startswith(("{", "%7B")) and (_is_named(name) or bool(_VALUE.match(value)))


def _is_named(name: str) -> bool:
    """Whether the name is that of a secret. Masking too much is harmless: the user typed the address."""
    plain = re.sub(r"[^a-z0-9]", "", unquote(name).lower())
    return is_secret_name(unquote(name)) or plain in _ALSO or plain.endswith(_ENDINGS)
