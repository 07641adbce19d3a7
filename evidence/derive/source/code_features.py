"""Finds in code the transports that it opens, the parts of MCP's OAuth that it uses, and the variables it reads.

Code is searched as text without its comments. Only a use counts, or a name that exists only to be used; the import of
a type alone does not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import re2
from msgspec import Struct

from evidence.kinds.source import SSE, STDIO, STREAMABLE_HTTP

MAX_LINE: Final = 4_000
"""Longer lines are searched in pieces: bundles have lines of megabytes."""

CODE_SUFFIXES: Final = (
    ".py", ".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx",
    ".go", ".rs", ".java", ".kt", ".cs", ".rb", ".php", ".swift",
)  # fmt: skip

_HASH: Final = (".py", ".rb")
_TRANSPORTS: Final = {
    STDIO: re2.compile(
        r"\bnew \w*StdioServerTransport\b|\bStdioServerTransport\(|\bstdio_server\(|\brun_stdio(?:_async)?\("
        r"|\b(?:mcp|server|app)\.run\(\s*\)|transport(?:Type)?\s*[=:]\s*[\"']stdio[\"']|\bserveStdio\(|\bServeStdio\("
        r"|\bmcp\.StdioTransport\b|\bStdioServerTransportProvider\(|\bWithStdioServerTransport\(|\brmcp::transport::stdio\b"
        r"|\btransport::(?:io::)?stdio\(\)|\btransports?[.:]+stdio\b|\bStdioTransport\(\)"
    ),
    SSE: re2.compile(
        r"\bnew SSEServerTransport\b|\bS[sS][eE]ServerTransport\(|\bsse_app\(|\brun_sse(?:_async)?\(|\bcreate_sse_app\("
        r"|transport(?:Type)?\s*[=:]\s*[\"']sse[\"']|\bserveSSE\(|\bmountSSE\(|\bNewSSEServer\(|\bNewSSEHandler\("
        r"|\bSseServer::serve\b|\b(?:HttpServlet|WebFlux|WebMvc)SseServerTransportProvider\b"
    ),
    STREAMABLE_HTTP: re2.compile(
        r"\bnew (?:Node|WebStandard)?StreamableHTTPServerTransport\b|\bnew StreamableHTTPTransport\b"
        r"|\bStreamableHTTPSessionManager\(|\bStreamableHTTPServerTransport\(|\bstreamable_http_app\(|\bhttp_app\("
        r"|\brun_streamable_http(?:_async)?\(|\brun_http_async\(|\bcreate_streamable_http_app\("
        r"|transport(?:Type)?\s*[=:]\s*[\"'](?:streamable-http|http|httpStream|streamable_http|streamableHttp)[\"']"
        r"|\bcreateMcpHandler\(|\b(?:Mcp\w*|\w*MCP)\.serve\(|\bNewStreamableHTTP(?:Server|Handler)\("
        r"|\bStreamableHttpService::new\b|\bHttpServletStreamableServerTransportProvider\b"
        r"|\bWebMvcStreamableServerTransportProvider\b|\bWithHttpTransport\(|\bMapMcp\(|\btoFetchResponse\(req"
    ),
}  # fmt: skip
_CHOICES: Final = re.compile(
    r"(?i)(?:choices|enum|Literal)\s*[=(:\[]{1,2}\s*\[?\s*([\"'][a-z-]+[\"'](?:\s*,\s*[\"'][a-z-]+[\"']){1,5})"
)
_CHOICE: Final = {
    "stdio": STDIO, "sse": SSE, "http": STREAMABLE_HTTP, "streamable-http": STREAMABLE_HTTP,
    "streamablehttp": STREAMABLE_HTTP,
}  # fmt: skip

_OAUTH: Final = re2.compile(
    r"\.well-known/(?:oauth-authorization-server|oauth-protected-resource|openid-configuration)"
    r"|\b(?:mcpAuthRouter|mcpAuthMetadataRouter|requireBearerAuth|ProxyOAuthServerProvider|OAuthServerProvider"
    r"|OAuthAuthorizationServerProvider|RequireAuthMiddleware|create_auth_routes|create_protected_resource_routes"
    r"|ProtectedResourceMetadata|withMcpAuth|experimental_withMcpAuth|protectedResourceHandler|oauthMetadataResponse"
    r"|getOAuthProtectedResourceMetadataUrl|AddMcpAuthentication|McpAuthenticationDefaults"
    r"|ProtectedResourceMetadataHandler)\b"
)
_OAUTH_OF_MCP: Final = re2.compile(
    r"\b(?:AuthSettings|OAuthProvider|OAuthProxy|OIDCProxy|RemoteAuthProvider|BearerAuthProvider|BearerAuthBackend|JWTVerifier"
    r"|TokenVerifier|IntrospectionTokenVerifier|RequireBearerToken|GitHubProvider|GoogleProvider|AzureProvider"
    r"|WorkOSProvider|AuthKitProvider|Auth0Provider|DescopeProvider|ScalekitProvider|AWSCognitoProvider)\b"
)
"""Names that other frameworks also use; they count only in a file about MCP."""

_ABOUT_MCP: Final = re2.compile(
    r"fastmcp|FastMCP|mcp\.server|modelcontextprotocol|workers-oauth-provider|go-sdk/(?:mcp|auth)"
)
_IMPORT: Final = re.compile(r"^\s*(?:import\b|from\s+\S+\s+import\b|\}\s*from\s|export\s+(?:type|\*)|using\s|use\s)")

_ANY_READ: Final = re2.compile(
    r"process\.env|os\.environ|getenv|environ\.get|env\.get|os\.Getenv|os\.LookupEnv|env::var|GetEnvironmentVariable|ENV[.\[]"
    r"|(?:Bun|meta)\.env"
)
_READS: Final = (
    re.compile(r"process\.env(?:\.([A-Za-z_][A-Za-z0-9_]*)|\[[\"']([A-Za-z_][A-Za-z0-9_]*)[\"']\])(?P<rest>.{0,40})"),
    re.compile(r"os\.environ\[[\"'](?P<required>[A-Za-z_][A-Za-z0-9_]*)[\"']\](?!\s*=[^=])(?P<rest>)"),
    re.compile(r"(?:os\.getenv|environ\.get|\bgetenv)\(\s*[\"']([A-Za-z_][A-Za-z0-9_]*)[\"'](?P<rest>.{0,40})"),
    re.compile(r"(?:Deno\.env\.get|os\.Getenv|os\.LookupEnv|env::var(?:_os)?|System\.getenv|GetEnvironmentVariable|ENV\.fetch)"
               r"\(\s*\"([A-Za-z_][A-Za-z0-9_]*)\"(?P<rest>.{0,40})"),
    re.compile(r"(?:Bun\.env|import\.meta\.env)\.([A-Za-z_][A-Za-z0-9_]*)(?P<rest>.{0,40})"),
    re.compile(r"ENV\[[\"']([A-Za-z_][A-Za-z0-9_]*)[\"']\](?P<rest>.{0,40})"),
)  # fmt: skip
_TAKEN: Final = re.compile(r"(?:const|let|var)\s*\{([^{}=]{1,600})\}\s*=\s*process\.env\b")
_TAKEN_NAME: Final = re.compile(r"^\s*([A-Za-z_][A-Za-z0-9_]*)")
_DEFAULT: Final = re.compile(r"^\s*(?:\)\s*)?(?:\|\||\?\?|,\s*[^)\s]|\)\s+or\s)")
_ASSIGNED: Final = re.compile(r"^\s*=[^=]")
_SECRET: Final = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|ACCESS_?KEY|TOKEN|SECRET|PASS(?:WORD|WD|PHRASE)?|PWD|PAT|CREDENTIALS?|AUTH|BEARER|JWT|COOKIE|DSN"
    r"|CONNECTION_STRING|DATABASE_URL|MONGODB_URI|PRIVATE)(?:$|_)|APIKEY|TOKEN$|SECRET|PASSWORD", re.IGNORECASE
)  # fmt: skip
_NO_SECRET: Final = re.compile(
    r"(?i)(?:MAX|MIN|NUM|LIMIT|COUNT|BUDGET|PUBLIC_KEY$|_(?:URL|URI|PATH|FILE|ENDPOINT|TYPE|MODE|ENABLED|TTL|EXPIRY)$)"
)
_STILL_SECRET: Final = re.compile(r"DATABASE_URL|MONGODB_URI|REDIS_URL|CONNECTION_STRING|DSN", re.IGNORECASE)
_AMBIENT: Final = frozenset(
    {
        "PATH", "HOME", "USER", "USERNAME", "PWD", "SHELL", "LANG", "TERM", "TMPDIR", "TEMP", "TMP", "NODE_ENV", "CI",
        "APPDATA", "LOCALAPPDATA", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT",
        "NO_COLOR", "FORCE_COLOR", "COLORTERM", "NODE_DEBUG", "NODE_OPTIONS", "NODE_PATH", "XDG_CONFIG_HOME",
        "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "EDITOR", "DISPLAY", "TERM_PROGRAM", "WAYLAND_DISPLAY",
        "READABLE_STREAM", "NODE_PENDING_DEPRECATION", "NODE_NO_WARNINGS", "TZ", "HOSTNAME", "PREFIX", "LC_ALL",
        "LOGNAME",
    }
)  # fmt: skip


class CodeMark(Struct, frozen=True):
    """A place in code; `line` counts from 1."""

    what: str
    line: int


class VariableRead(Struct, frozen=True):
    """A variable that code reads. `required` is None where the code does not show it."""

    name: str
    line: int
    secret: bool
    required: bool | None


def is_code(path: str) -> bool:
    """Whether a file is searched as code."""
    return path.endswith(CODE_SUFFIXES) and not path.endswith((".min.js", ".d.ts", ".d.mts", ".d.cts"))


def find_transports(path: str, text: str) -> Iterator[CodeMark]:
    """The transports that code opens, each place once."""
    present = {name: pattern for name, pattern in _TRANSPORTS.items() if pattern.search(text)}
    if not present and "stdio" not in text:
        return
    for number, line in _lines(path, text):
        for name, pattern in present.items():
            if pattern.search(line):
                yield CodeMark(name, number)
        for found in _CHOICES.finditer(line) if "stdio" in line else ():
            words = {word.strip(" \"'").lower() for word in found[1].split(",")}
            if "stdio" in words and words <= _CHOICE.keys():
                yield from (CodeMark(_CHOICE[word], number) for word in sorted(words))


def find_oauth(path: str, text: str) -> Iterator[CodeMark]:
    """The parts of MCP's OAuth that code uses."""
    patterns = [_OAUTH, *([_OAUTH_OF_MCP] if _ABOUT_MCP.search(text) else [])]
    patterns = [pattern for pattern in patterns if pattern.search(text)]
    if not patterns:
        return
    for number, line in _lines(path, text):
        if not _IMPORT.match(line):
            yield from (CodeMark(found[0], number) for pattern in patterns for found in pattern.finditer(line))


def find_environment_reads(path: str, text: str) -> Iterator[VariableRead]:
    """The variables that code reads, except those that every program has."""
    if not _ANY_READ.search(text):
        return
    for number, line in _lines(path, text):
        for pattern in _READS:
            for found in pattern.finditer(line):
                name = next(group for group in found.groups() if group is not None)
                if name not in _AMBIENT and not name.startswith("npm_") and not _ASSIGNED.match(found["rest"] or ""):
                    yield VariableRead(name, number, is_secret_name(name), _required(found))
        for found in _TAKEN.finditer(line):
            for part in found[1].split(","):
                name = _TAKEN_NAME.match(part)
                if name and name[1] not in _AMBIENT:
                    yield VariableRead(name[1], number, is_secret_name(name[1]), None)


def is_secret_name(name: str) -> bool:
    """Whether the name of a variable indicates a credential."""
    if _STILL_SECRET.search(name):
        return True
    return bool(_SECRET.search(name)) and not _NO_SECRET.search(name)


def _required(found: re.Match[str]) -> bool | None:
    if "required" in found.re.groupindex:
        return True
    return False if _DEFAULT.match(found["rest"] or "") else None


def _lines(path: str, text: str) -> Iterator[tuple[int, str]]:
    """Line numbers and lines of code, without comments at the beginning of a line or after a space."""
    comment = "#" if path.endswith(_HASH) else "//"
    inside = ""
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if inside:
            inside = "" if inside in line else inside
            continue
        if not line or line.startswith((comment, "*")):
            continue
        opening = _opening(line, comment)
        if opening:
            inside = opening
            continue
        at = line.find(f" {comment} ")
        line = line[:at] if at >= 0 else line
        for start in range(0, len(line), MAX_LINE):
            yield number, line[start : start + MAX_LINE + 200]


def _opening(line: str, comment: str) -> str:
    """The end mark of a comment or docstring that this line opens and does not close; empty otherwise."""
    if comment == "//":
        return "*/" if line.startswith("/*") and "*/" not in line else ""
    mark = next((mark for mark in ('"""', "'''") if line.lstrip("rRuUbBfF").startswith(mark)), "")
    return mark if mark and line.count(mark) == 1 else ""
