"""Internals of a server in the text of an error: stack traces, absolute paths, credentials, values of its environment.

Digits may be masked as `0` or `#` in recorded texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from evidence.canonical import Json
from evidence.compiled_on_use import compile_on_use
from evidence.derive.revealed_secrets import mask_revealed_secrets

_MAX_SEARCHED: Final = 8_000
_MAX_TEXTS: Final = 64
_N: Final = r"[\d#]{1,7}"
_SOURCE: Final = r"\.(?:py|pyc|cjs|jsx|ts|mts|tsx|go|rb|java|kt|scala|cs|rs|ex|exs|lua|so|swift)"
_SERVED: Final = (
    r"(?:app|build|code|dist|function|project|repo|server|src|workspaces?)/(?:[\w.@+-]{1,80}/){0,20}[\w.@+-]{1,80}"
    r"\.(?:js|mjs|php|pl|dll|exe|jar)"
)
"""Files that may also have a URL, in folders that hold programs."""
_INSTALLED: Final = r"(?:node_modules|site-packages|dist-packages)"
# Folders in which programs and their users live. `/data/notes`, `/workspaces/12`, `/static/client.js` and `/Users/12`,
# which is a route of SCIM, may be routes of the service.
_PLACES: Final = (
    r"(?:(?:home|Users)/[A-Za-z][\w.-]{0,60}|root|usr/(?:src|lib|local|share|bin)|opt|srv"
    r"|var/(?:www|task|lib|runtime|folders|log|run)|private/(?:var|tmp)|etc|proc/self|mnt|nix/store|snap|layers)"
)
# `Cannot GET /home/mcp` names a route.
_ALONE: Final = r"(?<![\w:/.~@%-])(?<!\bGET )(?<!\bPOST )(?<!\bPUT )(?<!\bPATCH )(?<!\bDELETE )"

_TRACE: Final = compile_on_use(
    rf"Traceback \(most recent call last\)|File \"[^\"\n]{{1,300}}\", line {_N}"
    rf"|(?:^|\n|\\n)\s*at (?:async |new )?(?:[\w$.<>\[\] ]{{1,120}} \()?(?:file://|node:|/|[A-Za-z]:\\|\.{{0,2}}/|webpack)"
    rf"[^\s()]{{1,300}}:{_N}:{_N}"
    rf"|\bat (?:async |new )?[\w$.<>]{{1,120}} \([^\s()]{{0,200}}[/\\.][^\s()]{{1,200}}:{_N}:{_N}\)"
    rf"|\bat [\w$.<>/]{{1,200}}\([\w$]{{1,80}}\.(?:java|kt|scala|groovy):{_N}\)"
    rf"|\bat [\w.<>`]{{3,200}}\([^()\n]{{0,200}}\) in [^\n]{{1,300}}:line {_N}"
    rf"|goroutine {_N} \[\w|panic: runtime error|\bpanicked at [^\s:]{{1,200}}\.rs:{_N}"
    rf"|{_SOURCE}:{_N}:in [`']|Stack trace:\s*(?:\n|\\n)?\s*#{_N} |\bin /[^\s]{{1,300}}\.php(?: on line |:){_N}",
    re.IGNORECASE,
)
_PATH: Final = compile_on_use(
    rf"(?P<path>{_ALONE}(?:file://)?/(?:{_PLACES}/[^\s\"'`<>|,;()]{{1,300}}|{_SERVED}\b"
    rf"|(?:[\w.@+-]{{1,80}}/){{1,20}}(?:{_INSTALLED}/[^\s\"'`<>|,;()]{{1,300}}|[\w.@+-]{{1,80}}{_SOURCE}\b))"
    rf"|(?<![\w:/])[A-Za-z]:\\{{1,2}}(?:Users|Windows|Program Files|inetpub|src|app|dev|projects?)\\{{1,2}}"
    rf"[^\s\"'`<>|,;]{{1,300}})"
)
# An error of the operating system names a file, in whatever folder; `Not found: /data/notes` may name a route.
_ROOT: Final = r"(?:/(?!dev/)[^\s/\"'`<>|]|[A-Za-z]:\\)"
_SYSTEM_ERROR: Final = compile_on_use(
    r"\bE(?:NOENT|ACCES|PERM|ISDIR|NOTDIR|EXIST|ROFS|BUSY|NOTEMPTY|LOOP|NAMETOOLONG): [a-z ,]{3,60}, [a-z]{2,20} "
    rf"'({_ROOT}[^\n\"'`<>|]{{1,300}})"
    rf"|\[Errno {_N}\] [A-Z][A-Za-z ,()-]{{3,60}}: ['\"]({_ROOT}[^\n\"'`<>|]{{1,300}})"
    rf"|\b(?:open|l?stat|mkdir|chdir|unlink|readdir) ({_ROOT}[^\s\"'`<>|:]{{1,300}}): "
    r"(?:no such file or directory|not a directory|is a directory|file exists|read-only file system)\b"
)
# Names of the system's own variables; `Set NOTES_API_KEY=...` or `LOG_LEVEL=debug` is advice.
_ENVIRONMENT: Final = compile_on_use(
    r"(?<![\w$])[\"']?(?P<name>PATH|HOME|PWD|OLDPWD|HOSTNAME|LD_LIBRARY_PATH|PYTHONPATH|PYTHONHOME|VIRTUAL_ENV|NODE_PATH"
    r"|GOPATH|JAVA_HOME|SHELL|TMPDIR|KUBERNETES_[A-Z_]{3,40}|AWS_LAMBDA_[A-Z_]{3,40}|LAMBDA_TASK_ROOT|K_SERVICE"
    r"|RAILWAY_[A-Z_]{3,40}|RENDER_[A-Z_]{3,40}|FLY_[A-Z_]{3,40}|VERCEL_[A-Z_]{3,40})(?:=[\"']?(?=[/\w])|[\"']?\s?:\s?(?=/|[\"'][/\w]))"
)
_ADDRESS_WITH_LOGIN: Final = compile_on_use(
    r"\b(?P<scheme>postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|rediss?|amqps?|mssql|clickhouse)(?:\+\w{1,20})?://"
    r"(?!(?:<|\{|\$|user(?:name)?:pass))[^\s/@]{1,200}@(?!host\b|<)[\w.-]{1,200}"
)
_DIGITS: Final = re.compile(r"[\d#]+")


def find_internals(text: str, sent: Iterable[str] = ()) -> str | None:
    """What kind of internals an error text shows, without the value of a variable; None when it shows none.

    `sent` are the texts of our own request: a path in one of them, or below one of them, is an echo.
    """
    searched, sent = text[:_MAX_SEARCHED], tuple(sent)
    if _TRACE.search(searched):
        return "a stack trace"
    if found := _ENVIRONMENT.search(searched):
        return f"the value of the environment variable {found['name']}"
    if found := _ADDRESS_WITH_LOGIN.search(searched):
        return f"a {found['scheme']} address with a login"
    if revealed := mask_revealed_secrets(searched, "\n".join(sent))[1]:
        return revealed
    ours = [_DIGITS.sub("#", one.removeprefix("file://")) for one in sent]
    for pattern in (_PATH, _SYSTEM_ERROR):
        for found in pattern.finditer(searched):
            path = next(filter(None, found.groups()))
            if not _is_echo(_DIGITS.sub("#", path.removeprefix("file://")), ours):
                return f"the absolute path {path}"
    return None


def _is_echo(path: str, ours: Iterable[str]) -> bool:
    return any(path in one or (one.startswith("/") and len(one) > 1 and path.startswith(one)) for one in ours)


def list_strings(value: Json, *, named: bool = False) -> Iterator[str]:
    """The first strings of a JSON value, at most 64.

    With `named`, one under a key in capitals, such as a variable of the environment, comes after its key.
    """
    waiting, left = [value], _MAX_TEXTS
    while waiting and left:
        part = waiting.pop(0)
        left -= 1
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            waiting += (
                f"{key}: {one}" if named and key.isupper() and isinstance(one, str) else one
                for key, one in part.items()
            )
        elif isinstance(part, list):
            waiting += part
