"""A server that wants credentials is started with placeholders, and is never blamed for what we made up."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.collectors.interop.collector import InteropCollector
from crawler.collectors.protocol.probes.probe import ProbeResult
from crawler.collectors.protocol.session.absence_reasons import (
    explain_containment,
    find_containment_cause,
    find_credentials_request,
)
from crawler.collectors.protocol.stdio.start_attempts import StartAttempt, choose_probe_result
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from crawler.placeholders import Configured
from crawler.sandbox.failure_messages import fails_in_code
from evidence.kinds import listing as listing_kind
from evidence.kinds.behaviour import Behaviour, Contact
from evidence.kinds.interop import Interop
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target, TargetType
from evidence.package_inputs import InputPlace, PackageInput
from tests.crawler.collectors.launching import PipeLauncher, Pipes
from tests.crawler.collectors.protocol.probing import AGENT, NOW, collector, listing, names, records_of

CUT_OFF = Absent(Reason.SANDBOX_RESTRICTED, "it needs the network to start: it asked for notes.example")
SERVER = """
import json, os, sys
def want(name, start="", say="{0} environment variable is required"):
    if not os.environ.get(name, "").startswith(start) or not os.environ.get(name):
        sys.exit(say.format(name))
tools = [{"name": "get_note", "description": "Gets a note.", "inputSchema": {"type": "object"}}]
{checks}
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "server/discover":
        error = {"code": -32601, "message": "Method not found"}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}), flush=True)
        continue
    result = {}
    if asked["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "wanting", "version": "1"}}
    elif asked["method"] == "tools/list":
        result = {"tools": tools if isinstance(tools, list) else sys.exit(tools)}
    elif asked["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": "Invalid API key: 401 Unauthorized"}], "isError": True}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


class Started(PipeLauncher):
    """Starts the script of a target with nothing but the target's own environment and arguments."""

    def __init__(self, script: Path, runtime: str = "bubblewrap") -> None:
        super().__init__(runtime, {"layer": "a" * 64})
        self.script = script
        self.given: list[Target] = []
        self.seen: Behaviour | None = None

    async def launch(self, target: Target) -> Pipes | Absent:
        self.given.append(target)
        variables = {"PATH": os.environ["PATH"], **dict(target.environment)}
        words = ("/usr/bin/env", "-i", *(f"{name}={value}" for name, value in variables.items()))
        command = (*words, sys.executable, str(self.script), *target.arguments)
        found = await super().launch(Target(type=TargetType.COMMAND, identifier=".", arguments=command))
        found.behaviour = self.seen or found.behaviour
        return found


def visit(
    folder: Path,
    checks: str,
    *inputs: PackageInput,
    runtime: str = "bubblewrap",
    earlier: Mapping[str, Record] | None = None,
    seen: Behaviour | None = None,
) -> tuple[dict[str, Record], Started]:
    script = folder / "server.py"
    script.write_text(SERVER.replace("{checks}", checks))
    launcher = Started(script, runtime)
    launcher.seen = seen
    target = Target(type=TargetType.NPM, identifier="wanting-server", inputs=inputs)
    return asyncio.run(records_of(collector(launcher=launcher), target, earlier=earlier)), launcher


def variable(name: str, *, required: bool = True) -> PackageInput:
    return PackageInput(place=InputPlace.ENVIRONMENT, name=name, required=required)


def absence(records: Mapping[str, Record]) -> Absent:
    content = records[listing_kind.KIND].content
    assert isinstance(content, Absent), content
    return content


def starts_until_open(launcher: Started) -> int:
    """How many starts had another environment or other words than the one before."""
    pairs = [(target.environment, target.arguments) for target in launcher.given]
    return 1 + sum(one != other for one, other in pairwise(pairs))


def test_a_declared_secret_gets_a_placeholder_and_the_server_is_measured(tmp_path: Path) -> None:
    records, launcher = visit(tmp_path, "want('CHAT_TOKEN')", variable("CHAT_TOKEN"))
    assert names(listing(records[listing_kind.KIND]).tools.items) == ["get_note"]
    assert starts_until_open(launcher) == 1
    note = records[listing_kind.KIND].observation["placeholders"]
    assert note == {"environment": {"CHAT_TOKEN": "secret"}, "arguments": [], "undeclared": [], "named": []}


def test_what_a_server_names_one_after_another_is_given_and_remembered(tmp_path: Path) -> None:
    checks = "want('CHAT_TOKEN')\nwant('CHAT_URL', 'https://')\nif len(sys.argv) < 2: sys.exit('usage: x <folder>')"
    records, launcher = visit(tmp_path, checks)
    assert isinstance(records[listing_kind.KIND].content, Observed)
    assert starts_until_open(launcher) == 4
    note = records[listing_kind.KIND].observation["placeholders"]
    assert isinstance(note, Mapping)
    assert note["undeclared"] == ["CHAT_TOKEN", "CHAT_URL", "folder"]
    again, launcher = visit(tmp_path, checks, earlier=records)
    assert starts_until_open(launcher) == 1
    assert again[listing_kind.KIND].content == records[listing_kind.KIND].content
    assert again[listing_kind.KIND].observation["placeholders"] == note


def test_an_optional_input_is_given_only_where_the_server_refuses_without(tmp_path: Path) -> None:
    _, launcher = visit(tmp_path, "assert 'CHAT_TOKEN' not in os.environ", variable("CHAT_TOKEN", required=False))
    assert starts_until_open(launcher) == 1
    records, launcher = visit(tmp_path, "want('CHAT_TOKEN', say='no')", variable("CHAT_TOKEN", required=False))
    assert isinstance(records[listing_kind.KIND].content, Observed)
    assert starts_until_open(launcher) == 2


@pytest.mark.parametrize(
    ("checks", "words"),
    [
        ("want('CHAT_TOKEN', 'real')", "CHAT_TOKEN: CHAT_TOKEN environment variable is required"),
        ("sys.exit('Invalid API key sk-' + 'a1' * 24)", "Invalid API key sk-<id>"),
        ("print('Error: CHAT_TOKEN is not set', file=sys.stderr)\ntools = []", "Error: CHAT_TOKEN is not set"),
    ],
)
def test_a_server_that_wants_real_credentials_is_not_a_failure(tmp_path: Path, checks: str, words: str) -> None:
    records, _ = visit(tmp_path, checks)
    assert absence(records).reason is Reason.CREDENTIALS_REQUIRED
    assert absence(records).detail.endswith(words)
    assert "a1a1" not in absence(records).detail


def test_a_server_that_lists_nothing_in_silence_is_given_all_that_it_declares(tmp_path: Path) -> None:
    silent = "tools = tools if 'CHAT_TOKEN' in os.environ else []"
    records, _ = visit(tmp_path, silent, variable("CHAT_TOKEN", required=False))
    assert names(listing(records[listing_kind.KIND]).tools.items) == ["get_note"]
    records, launcher = visit(
        tmp_path, "tools = []\nassert 'CHAT_TOKEN' not in os.environ", variable("CHAT_TOKEN", required=False)
    )
    assert isinstance(records[listing_kind.KIND].content, Observed)
    assert starts_until_open(launcher) == 2


def test_a_server_that_only_our_placeholder_breaks_is_measured_without(tmp_path: Path) -> None:
    records, _ = visit(tmp_path, "assert 'CHAT_TOKEN' not in os.environ", variable("CHAT_TOKEN"))
    assert isinstance(records[listing_kind.KIND].content, Observed)


def test_a_server_that_fails_whatever_it_gets_has_failed(tmp_path: Path) -> None:
    records, _ = visit(tmp_path, "raise RuntimeError('boom')", variable("CHAT_TOKEN"))
    assert absence(records).reason is Reason.START_FAILED
    assert "boom" in absence(records).detail


def test_a_failure_with_the_declared_inputs_is_the_reason_and_not_the_words_of_a_start_without(tmp_path: Path) -> None:
    records, _ = visit(tmp_path, "want('CHAT_TOKEN')\nsys.exit('boom')", variable("CHAT_TOKEN"))
    assert absence(records).reason is Reason.START_FAILED
    assert absence(records).detail.startswith("with placeholders for CHAT_TOKEN: ")
    assert absence(records).detail.endswith(": boom")


ACCEPTS = """
want('CHAT_TOKEN')
if os.environ.get('CHAT_ENVIRONMENT') not in ('production', 'sandbox'):
    sys.exit('Error: accepted environments are: production, sandbox')
"""


def test_a_value_that_a_refusal_enumerates_is_tried_and_remembered(tmp_path: Path) -> None:
    inputs = variable("CHAT_TOKEN"), variable("CHAT_ENVIRONMENT")
    records, launcher = visit(tmp_path, ACCEPTS, *inputs)
    assert names(listing(records[listing_kind.KIND]).tools.items) == ["get_note"]
    assert [dict(target.environment)["CHAT_ENVIRONMENT"] for target in launcher.given][:2] == ["example", "sandbox"]
    assert starts_until_open(launcher) == 2
    _, launcher = visit(tmp_path, ACCEPTS, *inputs, earlier=records)
    assert starts_until_open(launcher) == 1


def test_a_server_that_refuses_every_value_that_it_names_is_started_a_few_times(tmp_path: Path) -> None:
    checks = "said = os.environ.get('CHAT_MODE')\nsys.exit(f'Unknown mode; valid modes: not-{said}, no')"
    records, launcher = visit(tmp_path, checks, variable("CHAT_MODE"))
    assert absence(records).reason is Reason.START_FAILED
    assert starts_until_open(launcher) <= 5


@pytest.mark.parametrize("limit", ["memory limit of 40 MiB", "limit of 2048 temporary files"])
def test_a_server_that_we_ended_at_a_limit_is_recorded_as_that_whatever_it_looked_up(
    broken_off: Observed, limit: str
) -> None:
    ended = replace(attempt(broken_off, "getaddrinfo ENOTFOUND", "notes.example"), limit=limit)
    asked = attempt(Reason.CREDENTIALS_REQUIRED, "CHAT_TOKEN environment variable is required")
    why = Absent(Reason.SANDBOX_RESTRICTED, f"the sandbox stopped it at the {limit}")
    assert {choose_probe_result(first, ended).listing for first in (ended, asked)} == {why}


def test_a_server_that_we_ended_late_had_no_time(broken_off: Observed) -> None:
    ended = replace(attempt(broken_off, "", "notes.example"), limit="time limit of 6 seconds")
    why = choose_probe_result(ended, ended).listing
    assert why == Absent(Reason.TIMEOUT, "the sandbox stopped it at the time limit of 6 seconds")


def test_a_server_that_needs_the_network_is_stopped_by_our_sandbox(tmp_path: Path) -> None:
    records, _ = visit(tmp_path, "sys.exit('Error: getaddrinfo ENOTFOUND api.chat.example')")
    assert absence(records).reason is Reason.SANDBOX_RESTRICTED
    assert absence(records).detail.startswith("it needs the network to start: ")


def test_a_list_that_is_empty_for_want_of_the_network_tells_nothing(tmp_path: Path) -> None:
    records, _ = visit(tmp_path, "print('getaddrinfo EAI_AGAIN api.chat.example', file=sys.stderr)\ntools = []")
    assert absence(records).reason is Reason.SANDBOX_RESTRICTED
    records, _ = visit(tmp_path, "tools = 'getaddrinfo EAI_AGAIN api.chat.example'")
    assert absence(records).reason is Reason.SANDBOX_RESTRICTED
    records, _ = visit(tmp_path, "print('ready', file=sys.stderr)\ntools = []")
    assert isinstance(records[listing_kind.KIND].content, Observed)


def test_a_list_that_ends_in_silence_after_a_call_for_the_network_tells_nothing(tmp_path: Path) -> None:
    calls = Behaviour(names=("notes.example",), contacts=(Contact("127.0.0.1", 80), Contact("/run/x")))
    records, _ = visit(tmp_path, "tools = ''", seen=calls)
    assert absence(records) == CUT_OFF
    for elsewhere in (Behaviour(contacts=calls.contacts), None):
        records, _ = visit(tmp_path, "tools = ''", seen=elsewhere)
        assert isinstance(records[listing_kind.KIND].content, Observed)


def test_a_server_that_a_call_for_the_network_ended_once_is_listed_when_it_is_faster(tmp_path: Path) -> None:
    met = tmp_path / "met"
    checks = f"import pathlib\nmet = pathlib.Path({str(met)!r})\ntools = tools if met.exists() else met.touch() or ''"
    records, launcher = visit(tmp_path, checks, seen=Behaviour(names=("notes.example",)))
    assert names(listing(records[listing_kind.KIND]).tools.items) == ["get_note"]
    assert starts_until_open(launcher) == 1


def attempt(content: Observed | Absent | Reason, said: str = "", *reached: str) -> StartAttempt:
    found = Absent(content, "the process ended") if isinstance(content, Reason) else content
    nothing = Configured(Target(type=TargetType.NPM, identifier="wanting-server"), ())
    probed = ProbeResult(listing=found)
    return StartAttempt(configured=nothing, named=(), probed=probed, output=said, runtime="bubblewrap", hosts=reached)


@pytest.fixture(scope="module")
def broken_off(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    """A listing of a server that ended when it was asked for its tools."""
    records, _ = visit(tmp_path_factory.mktemp("broken"), "tools = ''")
    content = records[listing_kind.KIND].content
    assert isinstance(content, Observed)
    return content


def ways_to_fail(broken_off: Observed) -> Sequence[StartAttempt]:
    """One server that waits for a host: how far it gets, and what of its words arrives, is a matter of time."""
    return (
        attempt(Reason.TIMEOUT, "", "notes.example"),
        attempt(Reason.TIMEOUT, "TypeError: fetch failed", "notes.example"),
        attempt(Reason.START_FAILED, "TypeError: fetch failed", "notes.example"),
        attempt(broken_off, "", "notes.example"),
        attempt(broken_off, "TypeError: fetch failed", "notes.example"),
    )


def test_a_server_that_waits_for_a_host_is_cut_off_however_it_ends(broken_off: Observed) -> None:
    for way in ways_to_fail(broken_off):
        assert way.refused
        assert choose_probe_result(way, way).listing == CUT_OFF


def test_who_asks_for_credentials_before_anything_else_wants_them_however_a_made_up_one_fails(
    broken_off: Observed,
) -> None:
    words = "CHAT_TOKEN environment variable is required"
    ask_without_credentials = attempt(Reason.CREDENTIALS_REQUIRED, words)
    found = {choose_probe_result(ask_without_credentials, way).listing for way in ways_to_fail(broken_off)}
    asked = f"the server asks for CHAT_TOKEN: {words}; with a placeholder {CUT_OFF.detail}"
    assert found == {Absent(Reason.CREDENTIALS_REQUIRED, asked)}


@pytest.mark.parametrize("asks", [Reason.CREDENTIALS_REQUIRED, Reason.OAUTH_REQUIRED])
def test_who_asks_for_credentials_and_answers_made_up_ones_with_an_error_wants_them(asks: Reason) -> None:
    words = "CHAT_TOKEN environment variable is required"
    answered = attempt(Absent(Reason.NOT_MCP, "JSON-RPC error -32000 to initialize"), "it did not work")
    found = choose_probe_result(attempt(asks, words), answered).listing
    asked = f"the server asks for CHAT_TOKEN: {words}; with a placeholder JSON-RPC error -32000 to initialize"
    assert found == Absent(Reason.CREDENTIALS_REQUIRED, asked)


def test_who_only_mentions_credentials_and_waits_for_a_host_is_cut_off(broken_off: Observed) -> None:
    ask_without_credentials = attempt(
        Reason.TIMEOUT, "Warning: no API key provided, using the free tier", "notes.example"
    )
    assert {choose_probe_result(ask_without_credentials, way).listing for way in ways_to_fail(broken_off)} == {CUT_OFF}


def test_who_ended_of_something_else_is_not_excused_by_a_call_home() -> None:
    failed = attempt(Reason.START_FAILED, "Error: Cannot find module 'x'", "telemetry.example")
    assert choose_probe_result(failed, failed).listing == Absent(Reason.START_FAILED, "the process ended")


def test_who_answers_with_an_error_of_its_own_is_not_excused_by_a_call_home(tmp_path: Path) -> None:
    checks = "tools = None\ndef exit(_):\n    return 'no list'\nsys.exit = exit"
    records, _ = visit(tmp_path, checks, seen=Behaviour(names=("telemetry.example",)))
    assert isinstance(records[listing_kind.KIND].content, Observed)


def test_nothing_is_made_up_for_a_server_that_is_not_contained(tmp_path: Path) -> None:
    records, launcher = visit(tmp_path, "want('CHAT_TOKEN')", runtime="none")
    assert absence(records).reason is Reason.CREDENTIALS_REQUIRED
    assert len(launcher.given) == 1


def test_a_trial_that_fails_for_our_credentials_is_no_fault_of_the_tool(tmp_path: Path) -> None:
    records, _ = visit(tmp_path, "want('CHAT_TOKEN')", variable("CHAT_TOKEN"))
    content = records["trials"].content
    assert content == Absent(Reason.CREDENTIALS_REQUIRED, "every call is answered by a wish for credentials")


def test_the_official_client_meets_what_the_prober_meets(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text(SERVER.replace("{checks}", "want('CHAT_TOKEN')\nwant('CHAT_URL', 'https://')"))
    launcher = Started(tmp_path / "server.py")
    engine = HttpEngine(user_agent=AGENT, guard=AddressGuard(allow_private=True))
    client = InteropCollector(engine, launcher, HostRateLimiter(), lambda: NOW, user_agent=AGENT, gap=0)
    target = Target(type=TargetType.NPM, identifier="wanting-server")
    server = Server(ref="test", name="test", targets=(target,))
    [record] = asyncio.run(client.collect(server, Dossier(server=server, as_of=NOW)))
    assert isinstance(record.content, Observed), record.content
    assert Interop.parse(record.content.body).connected
    assert dict(launcher.given[-1].environment).keys() == {"CHAT_TOKEN", "CHAT_URL"}


def test_words_of_a_process_are_the_same_on_every_run() -> None:
    first = find_credentials_request("2026-11-21 10:00:00 \x1b[31mERROR\x1b[0m CHAT_TOKEN is required (pid 17)\nbye")
    second = find_credentials_request("2026-11-22 11:11:11 \x1b[31mERROR\x1b[0m CHAT_TOKEN is required (pid 99)\nbye")
    assert first == second == "the server asks for CHAT_TOKEN: <time> ERROR CHAT_TOKEN is required (<pid>)"


def test_the_line_that_says_most_is_quoted_and_no_line_of_a_manual() -> None:
    said = "  --token string   The token, required\nSet a token, it is missing\nError: no token provided\n"
    assert find_credentials_request(said) == "the server asks for credentials: Error: no token provided"


@pytest.mark.parametrize(
    "said",
    [
        "write ENOSPC",
        "OSError: No space left on device",
        "I/O failure when writing x",
        "Error: spawnSync /bin/sh ENOENT",
        "FileNotFoundError: [Errno 2] No such file or directory: 'git'",
        "Error: spawn /usr/bin/git ENOENT",
        "Error: EACCES: permission denied, mkdir '/app/node_modules/notes/logs'",
        "Error: ENOENT: no such file or directory, mkdir '/app/node_modules/notes/logs'",
        "OSError: [Errno 30] Read-only file system: '/app/notes/cache'",
    ],
)
def test_what_only_the_sandbox_lacks_is_not_the_fault_of_the_server(said: str) -> None:
    assert explain_containment(Absent(Reason.START_FAILED, "x"), said).reason is Reason.SANDBOX_RESTRICTED


@pytest.mark.parametrize(
    "said",
    [
        "Error: spawn notes-helper ENOENT",
        "Error: ENOENT: no such file or directory, open '/app/node_modules/notes/data.json'",
        "FileNotFoundError: [Errno 2] No such file or directory: '/app/notes/data.json'",
        "Error: spawn git-lfs ENOENT",
        "PermissionError: [Errno 13] Permission denied: '/app/notes/bin/helper'",
        "Error: EACCES: permission denied, scandir '/app/notes'",
        "Warning: spawn git ENOENT, no history\nTypeError: x.y is not a function",
    ],
)
def test_what_the_package_lacks_is_not_the_fault_of_the_sandbox(said: str) -> None:
    assert explain_containment(Absent(Reason.START_FAILED, "x"), said) == Absent(Reason.START_FAILED, "x")


@pytest.mark.parametrize(
    "said",
    ["Error: appId, and appSecret are required", "Not authenticated. Log in, or set CHAT_TOKEN in the environment."],
)
def test_a_request_to_log_in_asks_for_credentials(said: str) -> None:
    assert find_credentials_request(said)


@pytest.mark.parametrize(
    "said",
    [
        "Tool arguments are not logged in production.\nTypeError: x is not a function",
        "Tip: if you are not logged in, run notes login\nTypeError: x is not a function",
        "appId is required",
    ],
)
def test_words_about_a_log_or_an_argument_ask_for_no_credentials(said: str) -> None:
    assert find_credentials_request(said) is None


def test_an_image_lacks_programs_by_itself() -> None:
    assert find_containment_cause("Error: spawn git ENOENT", is_image=True) is None


class FailsAtFirst(Started):
    """Starts a package whose code fails in the first starts, unless the dependencies of its release are asked for."""

    def __init__(self, script: Path, failures: int) -> None:
        super().__init__(script)
        self.failures = failures

    async def launch(self, target: Target) -> Pipes | Absent:
        starts = sum(not each.as_of_release for each in self.given)
        fails = not target.as_of_release and starts < self.failures
        self.facts = {"version": "1", **({"dependencies_of": "2025-03-05"} if target.as_of_release else {})}
        return await super().launch(replace(target, environment=(("FAILS", "yes" if fails else "no"),)))


@pytest.mark.parametrize(("failures", "dependencies"), [(1, None), (99, "2025-03-05")])
def test_only_a_package_that_fails_twice_is_said_to_need_old_dependencies(
    tmp_path: Path, failures: int, dependencies: str | None
) -> None:
    script = tmp_path / "server.py"
    script.write_text(SERVER.replace("{checks}", 'if os.environ["FAILS"] == "yes": None.gone'))
    launcher = FailsAtFirst(script, failures)
    target = Target(type=TargetType.NPM, identifier="failing-server")
    records = asyncio.run(records_of(collector(launcher=launcher), target))
    assert listing(records[listing_kind.KIND]).installed.get("dependenciesOf") == dependencies


@pytest.mark.parametrize(
    ("output", "fails"),
    [
        ("ImportError: cannot import name 'listen' from 'notes'", True),
        ("ImportError: libGL.so.1: cannot open shared object file: No such file or directory", False),
        ("OSError: no database", False),
    ],
)
def test_a_missing_library_of_the_system_is_no_failure_in_code(output: str, fails: bool) -> None:
    assert fails_in_code(output) is fails
