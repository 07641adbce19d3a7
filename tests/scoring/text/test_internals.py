"""Error texts that show internals of a server, and honest ones that only look like it."""

from __future__ import annotations

import pytest

from scoring.text.internals import find_internals, list_strings
from tests.durations import cpu_below

LEAKING = (
    'Traceback (most recent call last):\n  File "/app/server.py", line 12, in handle',
    'Unexpected error: File "server.py", line 00, in <module>',
    "SyntaxError: Unexpected end\n    at JSON.parse (<anonymous>)\n    at parse (/app/node_modules/a/b.js:92:19)",
    "TypeError: x is not a function\\n    at Server.handle (file:///srv/mcp/dist/index.js:00:00)",
    "Error: boom at Object.<anonymous> (/home/ann/mcp/index.js:3:9)",
    "Error\n    at async Promise.all (webpack-internal:///./src/a.ts:10:3)",
    "Error\n    at node:internal/process/task_queues:95:5",
    "java.lang.NullPointerException\n\tat com.example.Notes.read(Notes.java:42)",
    "at org.example.tools.Search.run(Search.kt:#)",
    "System.NullReferenceException at Notes.Api.Tools.Get(String id) in C:\\src\\Tools.cs:line 40",
    "panic: runtime error: index out of range [3] with length 2",
    "goroutine 17 [running]:\nmain.main()",
    "thread 'main' panicked at src/handlers/tools.rs:40:17",
    "app.rb:12:in `call'",
    "Fatal error: Uncaught TypeError in /var/www/html/mcp.php:12 Stack trace: #0 {main}",
    "Parse error: syntax error, unexpected end of file in /srv/mcp/index.php on line 9",
    "ENOENT: no such file or directory, open '/home/node/app/config.json'",
    "Cannot find module '/usr/src/app/dist/tools'",
    "Error loading /Users/ann/notes/.env",
    "could not open /etc/notes/secrets.yaml",
    "failed in /opt/render/project/src/index.js",
    "Module not found: /app/node_modules/@modelcontextprotocol/sdk/dist/index.js",
    "invalid literal in /workspace/server/main.py",
    "Cannot find package 'x' imported from /app/index.mjs",
    "Error loading /home/ann/.env",
    "failed to open stream in /workspace/public/mcp.php",
    "Could not load file or assembly '/app/Server.dll'",
    "no main manifest attribute, in /app/lib/server.jar",
    "ImportError in /usr/local/lib/python3.12/site-packages/mcp/server.py",
    "no such table: notes (/var/task/notes.db)",
    "Could not read C:\\Users\\ann\\AppData\\notes.json",
    "config file:///root/.config/notes.toml is invalid",
    "env: PATH=/usr/local/bin:/usr/bin HOME=/root",
    '{"env":{"PWD":"/app","NODE_VERSION":"22"}}',
    "KUBERNETES_SERVICE_HOST=10.0.0.1 is not reachable",
    "LAMBDA_TASK_ROOT: '/var/task'",
    "ENOENT: no such file or directory, open '/app/data/notes/a.json'",
    "EACCES: permission denied, mkdir '/data/notes'",
    "[Errno 2] No such file or directory: '/tmp/notes-cache/a.txt'",
    "FileNotFoundError: [Errno #] No such file or directory: '/data/notes/a.txt'",
    "[Errno 2] No such file or directory: 'D:\\\\data\\\\a.txt'",
    "open /app/data/notes.json: no such file or directory",
    "config DATABASE_PASSWORD=hunter2horse",
    '{"env":{"DB_PASSWORD":"hunter2horse","NODE_ENV":"production"}}',
    "environ({'NOTES_API_KEY': 'k9-plan-table-77'})",
    "bad key ghp_" + "a8Kd0Qz3" * 5,
    "signed with AKIA" + "Q7RZ2MWX5KPL9TBN",
    "could not connect to postgresql://notes:[removed]@db.internal/notes",
    "MongoServerError at mongodb+srv://[removed]@cluster0.example.net/test",
)

HONEST = (
    "Method not found",
    "Cannot GET /home/mcp",
    "Use GET /workspaces/{id}/items, POST /Users/12/groups or DELETE /app/mcp.php",
    "Our client is at /static/client.js, and the endpoint at /api/mcp.php",
    "Not found: /workspaces/12, /workspace/notes, /Users/12, /Users/2819c223-7f76-453a-919d-413861904646, /home/mcp",
    "Unknown tool: hallmark_unknown",
    "Parse error: Unexpected end of JSON input at position 00",
    "Expected property name or '}' in JSON at position 1 (line 1 column 2)",
    "Invalid params: /arguments/id must be a string",
    "Cannot POST /mcp",
    "Cannot GET /app/users",
    "Not found: /data/notes/welcome",
    "The requested path /api/v1/mcp was not found on this server",
    "See https://docs.example.com/home/errors/troubleshooting.html",
    "Read https://example.com/usr/local/guide and try again",
    "Resource file:///example does not exist",
    "Resource not found: note://home/welcome",
    "Resource hallmark-probe://nonexistent/home/ann",
    "NOTES_API_KEY is not set",
    "Set NOTES_API_KEY=<your key> and start again",
    "Set LOG_LEVEL=debug for more details",
    "export NOTES_TOKEN=... before you start",
    "Please set DATABASE_URL=postgres://user:password@host/db",
    "DATABASE_URL must look like postgresql://<user>:<password>@<host>/<name>",
    "set API_KEY=your-key",
    "set API_KEY=k9-plan-table-77 and start again",
    "Start it with NOTES_API_KEY=abc123def456",
    "NOTES_API_KEY=[removed] is not accepted",
    "DB_PASSWORD=${DB_PASSWORD} is not expanded",
    "MAX_TOKENS=4096 is above the limit 2048a",
    "API_KEY: required",
    "the key AKIAIOSFODNN7EXAMPLE is an example",
    "the key [secret] is not accepted",
    "use /data/items",
    "ENOENT: no such file or directory, open 'notes.json'",
    "[Errno 2] No such file or directory: 'notes/a.txt'",
    "[Errno 111] Connection refused",
    "open /data/items: not allowed",
    "Path traversal is not allowed",
    "PATH must be relative",
    "HOME: unknown key",
    "Header PATH: missing",
    "the shell is not allowed: use run_query",
    "line 3, column 9: expected a value",
    "Meeting at Notes (10:30:00)",
    "We open at 9:00:00 (UTC)",
    "Error at step 3: the id is missing",
    "Request failed at https://api.example.com/v1/notes:443",
    "Invalid argument at arguments.id: string expected",
    "Supported files are .py, .js and .ts",
    "tools.py and index.js are examples of names",
    "src/index.ts is not in the repository",
    "Use a path such as notes/2026/january.md",
    "Format must be one of /a/b, /c/d",
    "HTTP 500 Internal Server Error",
    "The version 2025-11-25/next is not supported",
    "in:users/home is no valid query",
    "~/notes is not allowed",
)


def test_internals_of_a_server_are_found() -> None:
    assert [text for text in LEAKING if find_internals(text) is None] == []


def test_an_honest_error_shows_no_internals() -> None:
    assert [text for text in HONEST if find_internals(text) is not None] == []


def test_the_value_of_a_variable_is_not_repeated() -> None:
    found = find_internals("env: HOSTNAME=notes-7d9f") or ""

    assert ("HOSTNAME" in found, "7d9f" in found) == (True, False)


def test_a_path_that_the_caller_sent_is_no_leak() -> None:
    text = "ENOENT: no such file or directory, open '/data/notes/17.json'"

    found = [
        find_internals(text, [sent]) for sent in ("/data/notes/17.json", "file:///data/notes/17.json", "/data", "x")
    ]

    assert found == [None, None, None, "the absolute path /data/notes/17.json"]


def test_a_path_of_the_server_beside_one_of_the_caller_is_found() -> None:
    text = "cannot copy /home/ann/a.txt: ENOENT: no such file or directory, open '/app/a.txt'"

    assert find_internals(text, ["/home/ann/a.txt"]) == "the absolute path /app/a.txt"


@pytest.mark.parametrize(
    "piece", ["A_", "A", "API_KEY=", "ENOENT: a", "[Errno 2] A", "open /", "'/", "ghp_", "PASSWORD=a1b2c3d4", "/home/"]
)
def test_hostile_text_is_searched_in_linear_time(piece: str) -> None:
    with cpu_below(1):
        find_internals(piece * 50_000)


def test_an_environment_as_an_object_of_an_error_is_found() -> None:
    variables = {**{f"NOTES_{number}": "on" for number in range(50)}, "PATH": "/usr/bin:/bin"}
    error = {"code": -32603, "message": "failed", "data": {"env": variables}}
    assert "the value of the environment variable PATH" in {
        find_internals(one) for one in list_strings(error, named=True)
    }
    assert list(list_strings({"PATH": "/data"})) == ["/data"]


def test_a_field_in_small_letters_is_no_variable_of_the_environment() -> None:
    assert list(list_strings({"path": "/notes", "home": "/"}, named=True)) == ["/notes", "/"]
