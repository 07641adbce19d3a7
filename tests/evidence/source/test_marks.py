"""Transports, parts of OAuth and variables are found where code uses them, not where it talks about them."""

from __future__ import annotations

import pytest

from evidence.derive.source import code_features
from evidence.derive.source.project_files import is_server_code


def found(path: str, text: str) -> set[str]:
    return {mark.what for mark in code_features.find_transports(path, text)}


@pytest.mark.parametrize(
    ("path", "line", "expected"),
    [
        ("a.ts", "const t = new StdioServerTransport();", {"stdio"}),
        ("a.ts", "const t = new FilteredStdioServerTransport();", {"stdio"}),
        ("a.ts", "transport = new SSEServerTransport('/messages', res);", {"sse"}),
        ("a.ts", "new StreamableHTTPServerTransport({", {"streamable-http"}),
        ("a.ts", "export default createMcpHandler((server) => {", {"streamable-http"}),
        ("a.ts", "server.start({ transportType: 'httpStream' })", {"streamable-http"}),
        ("a.py", "mcp.run()", {"stdio"}),
        ("a.py", "mcp.run(transport='sse')", {"sse"}),
        ("a.py", "mcp.run(transport=\"streamable-http\", host='0.0.0.0')", {"streamable-http"}),
        ("a.py", "async with stdio_server() as (read, write):", {"stdio"}),
        ("a.py", "app = mcp.http_app(path='/mcp')", {"streamable-http"}),
        ("a.py", "manager = StreamableHTTPSessionManager(app)", {"streamable-http"}),
        (
            "a.py",
            "parser.add_argument('--transport', choices=['stdio', 'sse', 'http'])",
            {"stdio", "sse", "streamable-http"},
        ),
        ("a.go", "server.ServeStdio(s)", {"stdio"}),
        ("a.py", "from mcp.server.stdio import stdio_server", set()),
        ("a.ts", "import { SSEServerTransport } from 'x'", set()),
        ("a.ts", "// const t = new StdioServerTransport();", set()),
        ("a.ts", "* new StdioServerTransport()", set()),
        ("a.py", "# mcp.run(transport='sse')", set()),
        ("a.py", "client = StreamableHttpTransport(url)", set()),
    ],
)
def test_a_transport_is_found_by_its_use(path: str, line: str, expected: set[str]) -> None:
    assert found(path, line) == expected


def test_texts_about_code_are_no_code() -> None:
    text = '"""\nUse mcp.run(transport="sse")\n"""\nx = 1\n'
    assert found("a.py", text) == set()
    assert found("a.ts", "/*\n new SSEServerTransport(x)\n*/\n") == set()
    assert [mark.line for mark in code_features.find_transports("a.py", text + "mcp.run()\n")] == [5]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("app.get('/.well-known/oauth-protected-resource', f)", [".well-known/oauth-protected-resource"]),
        ("app.use(requireBearerAuth({ verifier }))", ["requireBearerAuth"]),
        ("mcp = FastMCP('x', auth=AuthSettings(issuer_url=URL))", ["AuthSettings"]),
        ("provider = new ProxyOAuthServerProvider({", ["ProxyOAuthServerProvider"]),
        ("import { requireBearerAuth } from 'sdk'", []),
        ("from mcp.server.auth.settings import AuthSettings", []),
        ("auth = GitHubProvider(client_id=ID)", []),
        ("mcp = FastMCP('x', auth=GitHubProvider(client_id=ID))", ["GitHubProvider"]),
        ("authorization = 'bearer'", []),
    ],
)
def test_parts_of_oauth_are_found_by_their_use(line: str, expected: list[str]) -> None:
    assert [mark.what for mark in code_features.find_oauth("a.py" if "mcp" in line else "a.ts", line)] == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("const k = process.env.ACME_API_KEY;", ("ACME_API_KEY", True, None)),
        ("const k = process.env['ACME_TOKEN'] ?? ''", ("ACME_TOKEN", True, False)),
        ("key = os.environ['ACME_SECRET']", ("ACME_SECRET", True, True)),
        ("url = os.getenv('ACME_URL', 'https://x')", ("ACME_URL", False, False)),
        ("n = os.environ.get('MAX_TOKENS')", ("MAX_TOKENS", False, None)),
        ("const { ACME_PASSWORD } = process.env", ("ACME_PASSWORD", True, None)),
        ('k := os.Getenv("ACME_KEY")', ("ACME_KEY", True, None)),
        ("const db = process.env.DATABASE_URL", ("DATABASE_URL", True, None)),
        ("process.env.NODE_ENV === 'x'", None),
        ("process.env.ACME_SET = 'x'", None),
    ],
)
def test_variables_are_found_with_what_the_code_says_of_them(
    line: str, expected: tuple[str, bool, bool | None] | None
) -> None:
    path = "a.py" if "os.environ" in line or "os.getenv" in line else "a.ts"
    reads = [(read.name, read.secret, read.required) for read in code_features.find_environment_reads(path, line)]
    assert reads == ([expected] if expected else [])


@pytest.mark.parametrize("path", ["tests/a.py", "examples/a.ts", "docs/a.js", "node_modules/x/a.js", "src/a.test.ts"])
def test_code_of_tests_examples_documents_and_others_does_not_count(path: str) -> None:
    assert not is_server_code(path)


def test_a_line_of_megabytes_is_searched_in_pieces() -> None:
    text = "x;" * 500_000 + "new StdioServerTransport();" + "y;" * 500_000
    assert found("a.js", text) == {"stdio"}
