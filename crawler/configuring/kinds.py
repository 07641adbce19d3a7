"""What kind of value an input wants: told by its declared format, its name, and what its author says about it."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from evidence.inputs import Input, Place


class Kind(StrEnum):
    """A kind of placeholder, as it is recorded."""

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
    CHOICE = "choice"  # the first that is declared
    FORM = "form"  # a declared text with variables
    TEXT = "text"


_LOOKED_AT: Final = 300
# The first that fits a name in capitals decides: what a name ends with says more than what it holds.
_BY_NAME: Final = tuple(
    (kind, re.compile(rf"(?:^|_)(?:{words})$"))
    for kind, words in (
        (Kind.DATABASE, r"(?:DATABASE|DB|POSTGRES(?:QL)?|PG|MYSQL|MONGO(?:DB)?|REDIS|AMQP|NEO4J)_(?:URL|URI|DSN)"),
        (Kind.DATABASE, r"DSN|CONN(?:ECTION)?_?(?:STR(?:ING)?|URL|URI)|CONNECTIONSTRING"),
        (Kind.NUMBER, r"(?:TELEGRAM|TG)_(?:API|APP|CHAT)_ID"),
        (Kind.UUID, r"UUID|GUID|(?:AZURE|ARM|TENANT|ENTRA|MS|GRAPH)(?:_\w+)?_(?:TENANT|CLIENT|SUBSCRIPTION|APP)_ID"),
        (Kind.URL, r"\w*UR[IL]|\w*ENDPOINT|\w*WEBHOOK|ADDRESS|ORIGIN|ISSUER|INSTANCE_?URL|API_BASE|BASE"),
        (
            Kind.FOLDER,
            r"\w*DIR(?:ECTORY|ECTORIES|S)?|\w*FOLDERS?|WORKSPACE|ROOT|REPOSITORY|REPO|\w*(?:REPO|VAULT)_PATH",
        ),
        (Kind.FILE, r"\w*FILE(?:NAME|_?PATH)?|GOOGLE_APPLICATION_CREDENTIALS|(?:DB|DATABASE|CONFIG)_PATH|CONFIG"),
        (Kind.FOLDER, r"\w*PATHS?"),
        (Kind.PORT, r"PORT"),
        (Kind.SECRET, r"(?:ACCESS_)?KEY_ID|(?:ACCOUNT|TWILIO|AUTH)_SID"),
        (Kind.EMAIL, r"E?MAIL(?:_ADDRESS)?"),
        (Kind.HOST, r"HOST(?:NAME)?|DOMAIN|SERVER|SUBDOMAIN|SHOP"),
        (Kind.REGION, r"REGION|LOCATION|ZONE"),
        (Kind.NUMBER, r"TIMEOUT|LIMIT|SIZE|COUNT|SECONDS|MS|RETRIES|MAX|MIN|TOKENS|DIMENSIONS?|NUMBER|CHAIN_ID|DEPTH"),
        (Kind.BOOLEAN, r"ENABLED?|DISABLED?|DEBUG|VERBOSE|READ_?ONLY|INSECURE|SECURE|SSL|TLS|VERIFY"),
        (Kind.DATE, r"DATE|SINCE|UNTIL"),
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
        (Kind.DATABASE, r"(?:postgres(?:ql)?|mysql|mongodb(?:\+srv)?|rediss?|amqps?|neo4j|bolt)://|connection string"),
        (Kind.DATABASE, r"database (?:url|uri|connection)"),
        (Kind.URL, r"https?://|\burl\b"),
        (Kind.EMAIL, r"\be-?mail\b"),
        (Kind.FOLDER, r"\bdirector(?:y|ies)\b|\bfolder\b"),
        (Kind.FILE, r"\bfile\b|\bpath\b"),
        (Kind.SECRET, r"api[ _-]?key|access[ _-]?token|\btoken\b|\bsecret\b|password|credential"),
        (Kind.UUID, r"\buuid\b|\bguid\b"),
        (Kind.DATE, r"yyyy-mm-dd|iso 8601"),
        (Kind.NUMBER, r"^\d{1,9}$|\bnumber of\b|\binteger\b"),
        (Kind.BOOLEAN, r"^(?:true|false)$"),
    )
)
_FORMATS: Final = {"number": Kind.NUMBER, "boolean": Kind.BOOLEAN, "integer": Kind.NUMBER}


def kind_of(asked: Input) -> Kind:
    """The kind of value that an input wants; `text` where nothing tells."""
    if asked.choices:
        return Kind.CHOICE
    if asked.form:
        return Kind.FORM
    told = kind_by_name(plain_name(asked.name))
    if asked.format in _FORMATS:
        return told if told is Kind.PORT else _FORMATS[asked.format]
    by_hint = next((kind for kind, hint in _BY_HINT if hint.search(asked.hint[:_LOOKED_AT])), None)
    if asked.format == "filepath":
        return Kind.FOLDER if Kind.FOLDER in {told, by_hint} else Kind.FILE
    if asked.secret and told not in {Kind.DATABASE, Kind.URL, Kind.FILE, Kind.UUID}:
        return Kind.SECRET
    # The name of a positional argument is a label, such as `arg`.
    return (by_hint if asked.place is Place.WORD and told is None else told or by_hint) or Kind.TEXT


def kind_by_name(name: str) -> Kind | None:
    """The kind that a name in capitals tells by itself."""
    for kind, pattern in _BY_NAME:
        if pattern.search(name):
            return kind
    if _SECRET.search(name):
        return Kind.SECRET
    return Kind.BOOLEAN if _BOOLEAN.search(name) else None


def plain_name(name: str) -> str:
    """A variable's or option's name in capitals: `--api-key`, `apiKey` and `API_KEY` are all `API_KEY`."""
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name[:_LOOKED_AT])
    return re.sub(r"[^A-Za-z0-9]+", "_", parted).strip("_").upper()
