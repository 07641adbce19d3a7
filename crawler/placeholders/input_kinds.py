"""Infers the kind of value that an input requires from its declared format, its name, and its description."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from evidence.package_inputs import InputPlace, PackageInput


class PlaceholderKind(StrEnum):
    """A kind of placeholder, as recorded."""

    SECRET = "secret"  # noqa: S105  the name of a kind
    URL = "url"
    DATABASE = "database"  # the address of one
    HOST = "host"
    PORT = "port"
    FOLDER = "folder"
    FILE = "file"
    NUMBER = "number"
    BOOLEAN = "boolean"
    DATE = "date"
    EMAIL = "email"
    UUID = "uuid"
    REGION = "region"
    CHOICE = "choice"  # the first declared choice
    FORM = "form"  # a declared text with variables
    TEXT = "text"


_MAX_EXAMINED: Final = 300
# The first match of a name in capitals decides: the end of a name is more specific than its other parts.
_BY_NAME: Final = tuple(
    (kind, re.compile(rf"(?:^|_)(?:{words})$"))
    for kind, words in (
        (
            PlaceholderKind.DATABASE,
            r"(?:DATABASE|DB|POSTGRES(?:QL)?|PG|MYSQL|MONGO(?:DB)?|REDIS|AMQP|NEO4J)_(?:URL|URI|DSN)",
        ),
        (PlaceholderKind.DATABASE, r"DSN|CONN(?:ECTION)?_?(?:STR(?:ING)?|URL|URI)|CONNECTIONSTRING"),
        (PlaceholderKind.NUMBER, r"(?:TELEGRAM|TG)_(?:API|APP|CHAT)_ID"),
        (
            PlaceholderKind.UUID,
            r"UUID|GUID|(?:AZURE|ARM|TENANT|ENTRA|MS|GRAPH)(?:_\w+)?_(?:TENANT|CLIENT|SUBSCRIPTION|APP)_ID",
        ),
        (PlaceholderKind.URL, r"\w*UR[IL]|\w*ENDPOINT|\w*WEBHOOK|ADDRESS|ORIGIN|ISSUER|INSTANCE_?URL|API_BASE|BASE"),
        (
            PlaceholderKind.FOLDER,
            r"\w*DIR(?:ECTORY|ECTORIES|S)?|\w*FOLDERS?|WORKSPACE|ROOT|REPOSITORY|REPO|\w*(?:REPO|VAULT)_PATH",
        ),
        (
            PlaceholderKind.FILE,
            r"\w*FILE(?:NAME|_?PATH)?|GOOGLE_APPLICATION_CREDENTIALS|(?:DB|DATABASE|CONFIG)_PATH|CONFIG",
        ),
        (PlaceholderKind.FOLDER, r"\w*PATHS?"),
        (PlaceholderKind.PORT, r"PORT"),
        (PlaceholderKind.SECRET, r"(?:ACCESS_)?KEY_ID|(?:ACCOUNT|TWILIO|AUTH)_SID"),
        (PlaceholderKind.EMAIL, r"E?MAIL(?:_ADDRESS)?"),
        (PlaceholderKind.HOST, r"HOST(?:NAME)?|DOMAIN|SERVER|SUBDOMAIN|SHOP"),
        (PlaceholderKind.REGION, r"REGION|LOCATION|ZONE"),
        (
            PlaceholderKind.NUMBER,
            r"TIMEOUT|LIMIT|SIZE|COUNT|SECONDS|MS|RETRIES|MAX|MIN|TOKENS|DIMENSIONS?|NUMBER|CHAIN_ID|DEPTH",
        ),
        (PlaceholderKind.BOOLEAN, r"ENABLED?|DISABLED?|DEBUG|VERBOSE|READ_?ONLY|INSECURE|SECURE|SSL|TLS|VERIFY"),
        (PlaceholderKind.DATE, r"DATE|SINCE|UNTIL"),
    )
)
_SECRET: Final = re.compile(
    r"KEY|TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|PASSCODE|CREDENTIALS?|(?:^|_)(?:PASS|PAT|PWD|JWT|BEARER|COOKIES?|AUTH"
    r"|MNEMONIC|SEED_PHRASE)(?:_|$)"
)
_BOOLEAN: Final = re.compile(r"^(?:IS|USE|ENABLE|DISABLE|ALLOW|SKIP)_")
_BY_HINT: Final = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (
            PlaceholderKind.DATABASE,
            r"(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|rediss?|amqps?|neo4j|bolt)://|connection string",
        ),
        (PlaceholderKind.DATABASE, r"database (?:url|uri|connection)"),
        (PlaceholderKind.URL, r"https?://|\burl\b"),
        (PlaceholderKind.EMAIL, r"\be-?mail\b"),
        (PlaceholderKind.FOLDER, r"\bdirector(?:y|ies)\b|\bfolder\b"),
        (PlaceholderKind.FILE, r"\bfile\b|\bpath\b"),
        (PlaceholderKind.SECRET, r"api[ _-]?key|access[ _-]?token|\btoken\b|\bsecret\b|password|credential"),
        (PlaceholderKind.UUID, r"\buuid\b|\bguid\b"),
        (PlaceholderKind.DATE, r"yyyy-mm-dd|iso 8601"),
        (PlaceholderKind.NUMBER, r"^\d{1,9}$|\bnumber of\b|\binteger\b"),
        (PlaceholderKind.BOOLEAN, r"^(?:true|false)$"),
    )
)
_FORMATS: Final = {
    "number": PlaceholderKind.NUMBER,
    "boolean": PlaceholderKind.BOOLEAN,
    "integer": PlaceholderKind.NUMBER,
}


def choose_kind(asked: PackageInput) -> PlaceholderKind:
    """The kind of value of an input; `text` when it cannot be inferred."""
    if asked.choices:
        return PlaceholderKind.CHOICE
    if asked.form:
        return PlaceholderKind.FORM
    by_name = choose_kind_by_name(normalise_input_name(asked.name))
    if asked.format in _FORMATS:
        return by_name if by_name is PlaceholderKind.PORT else _FORMATS[asked.format]
    by_hint = next((kind for kind, hint in _BY_HINT if hint.search(asked.hint[:_MAX_EXAMINED])), None)
    if asked.format == "filepath":
        return PlaceholderKind.FOLDER if PlaceholderKind.FOLDER in {by_name, by_hint} else PlaceholderKind.FILE
    if asked.secret and by_name not in {
        PlaceholderKind.DATABASE,
        PlaceholderKind.URL,
        PlaceholderKind.FILE,
        PlaceholderKind.UUID,
    }:
        return PlaceholderKind.SECRET
    # The name of a positional argument is a label, such as `arg`.
    return (
        by_hint if asked.place is InputPlace.WORD and by_name is None else by_name or by_hint
    ) or PlaceholderKind.TEXT


def choose_kind_by_name(name: str) -> PlaceholderKind | None:
    """The kind that a name in capitals indicates by itself."""
    for kind, pattern in _BY_NAME:
        if pattern.search(name):
            return kind
    if _SECRET.search(name):
        return PlaceholderKind.SECRET
    return PlaceholderKind.BOOLEAN if _BOOLEAN.search(name) else None


def normalise_input_name(name: str) -> str:
    """A variable's or option's name in capitals: `--api-key`, `apiKey` and `API_KEY` all become `API_KEY`."""
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name[:_MAX_EXAMINED])
    return re.sub(r"[^A-Za-z0-9]+", "_", parted).strip("_").upper()
