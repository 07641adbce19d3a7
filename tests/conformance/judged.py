"""What the specification says of each MUST that a real server was found to fail."""

from __future__ import annotations

from collections.abc import Mapping

UNJUDGED = "not judged"

_ORIGIN = "servers MUST validate the `Origin` header (from 2025-11-25: 403)"
_ENDED = "a request with the id of a session that was ended MUST get 404"
_VERSION = "a version that is not implemented MUST get UnsupportedProtocolVersionError (-32022)"
_UNKNOWN_METHOD = "messages MUST follow JSON-RPC 2.0, whose code for an unknown method is -32601"

JUDGED: Mapping[tuple[str, str], str] = {
    (check, wrong): said
    for check, wrong, said in (
        (
            "AUTH-04",
            "https://mcp.context7.com, URL expected",
            "RFC 9728, 3.3: `resource` MUST be identical to the URL that was asked",
        ),
        (
            "CAP-03",
            "resources is declared, but its list is answered with error -32601",
            "both parties must respect declared capabilities",
        ),
        (
            "HDR-06",
            "HTTP 400 with error -32020, although the decoded name equals the name in the body",
            "servers MUST decode an encoded `Mcp-Name` before comparing it",
        ),
        ("HTTP-02", "HTTP 404, an event stream or HTTP 405 expected", "a GET MUST get `text/event-stream` or 405"),
        ("HTTP-03", "the request is served, HTTP 403 expected for a foreign origin", _ORIGIN),
        (
            "HTTP-04",
            "HTTP 200, HTTP 400 expected for an unknown version",
            "an invalid or unsupported `MCP-Protocol-Version` MUST get 400",
        ),
        (
            "IO-01",
            "a line that is not a message: Code Runner MCP Server running on stdio",
            "the server MUST NOT write anything to its stdout that is no message",
        ),
        ("JSON-04", "error -32602, error -32601 expected", _UNKNOWN_METHOD),
        ("JSON-04", "HTTP 200 with error -32602, error -32601 expected", _UNKNOWN_METHOD),
        ("JSON-04", "HTTP 202 with error -32602, error -32601 expected", _UNKNOWN_METHOD),
        (
            "META-04",
            '"_fastmcp" is not a valid key of _meta',
            "a name in `_meta` MUST begin and end with a letter or digit",
        ),
        ("SESS-04", "HTTP 400 with error -32000 after the session was ended, HTTP 404 expected", _ENDED),
        ("SESS-04", "HTTP 200 with a result after the session was ended, HTTP 404 expected", _ENDED),
        ("VER-01", "a result, error -32022 expected", _VERSION),
        ("VER-01", "error -32601, error -32022 expected", _VERSION),
    )
}
"""By check and by fault, each compared with the bytes that `python -m tests.conformance.real_servers` prints."""
