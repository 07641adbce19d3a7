from __future__ import annotations

import ast
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.workers.cli.conftest import SCRIPT, Hallmark
from workers.cli.app import JSON_DOCUMENT_COMMANDS, JSON_LINES_COMMANDS, SHELLS, SUBCOMMANDS, load_command
from workers.settings.environment import read_code_version

GROUPS = {
    "findings": ["list", "show", "triage", "disclose", "publish", "dismiss", "reopen"],
    "lab": ["lockfiles"],
    "registry": ["list", "check"],
    "sandbox": ["build", "status", "clean"],
}
HEAVY = ["rich", "mcp", "celery", "osv", "jinja2", "httpx", "sqlmodel", "sqlalchemy", "pydantic", "redis", "structlog"]


def test_help_lists_every_command(hallmark: Hallmark) -> None:
    result = hallmark("--help")
    assert result.code == 0
    assert all(f" {name} " in result.out for name in SUBCOMMANDS)
    assert "130 interrupted" in " ".join(result.out.split())


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom workers.cli import app\n"
        "try:\n    app(['--help'], prog_name='hallmark')\nexcept SystemExit: pass\n"
        f"print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("HEAVY []\n")


def test_the_options_of_a_scan_import_nothing_heavy() -> None:
    assert _imported_by("workers.cli.commands.measure.scan", "rich", *HEAVY, "crawler", "publish", "scoring") == []


def test_a_scan_imports_neither_the_store_nor_the_sandbox_nor_any_server_of_ours() -> None:
    """With them the import takes twice as long. A scan of a package imports the sandbox when it starts it."""
    unused = ("sqlalchemy", "sqlmodel", "alembic", "evidence.store.store", "crawler.sandbox.sandbox_launcher")
    clients = ("mcp", "mcp_types", "celery", "redis", "httpx", "httpx2", "osv", "github", "pyarrow", "cryptography")
    site = ("jinja2", "fastapi", "starlette", "publish.app")
    assert _imported_by("workers.cli.measure.scan", *unused, *clients, *site) == []


def _imported_by(module: str, *names: str) -> list[str]:
    code = f"import sys, {module}\nprint([name for name in {names!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return list(ast.literal_eval(done.stdout))


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_every_command_has_help_with_an_example(hallmark: Hallmark, name: str) -> None:
    result = hallmark(name, "--help")
    assert result.code == 0
    assert f"hallmark {name}" in result.out
    assert "Example" in result.out
    for command in GROUPS.get(name, []):
        assert hallmark(name, command, "--help").code == 0


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_the_overview_says_what_the_command_says_of_itself(name: str) -> None:
    command = load_command(SUBCOMMANDS[name].module)
    assert (command.help or "").startswith(SUBCOMMANDS[name].help.removesuffix(".").split(",")[0].split(":")[0])


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_the_screen_decides_where_lines_of_a_help_end(name: str) -> None:
    command = load_command(SUBCOMMANDS[name].module)
    for each in (command, *getattr(command, "commands", {}).values()):
        assert "\n" not in each.help.replace("\n\n", "")


def test_the_version_is_one_line(hallmark: Hallmark) -> None:
    result = hallmark("--version")
    assert (result.code, result.out) == (0, f"hallmark {read_code_version()}\n")


def test_the_overview_says_what_is_json_lines_and_what_one_document(hallmark: Hallmark) -> None:
    help_text = " ".join(hallmark("--help").out.replace("│", " ").split())
    assert f"one document for {', '.join(JSON_DOCUMENT_COMMANDS)};" in help_text
    assert f"one object per line, for {', '.join(JSON_LINES_COMMANDS)}." in help_text
    said = {name: _json_help(load_command(SUBCOMMANDS[name].module)) for name in SUBCOMMANDS}
    assert {name for name, words in said.items() if words} == {*JSON_DOCUMENT_COMMANDS, *JSON_LINES_COMMANDS}
    assert {name for name, words in said.items() if any("per line" in word for word in words)} == set(
        JSON_LINES_COMMANDS
    )


def test_neither_a_run_without_services_nor_the_site_imports_a_client_of_theirs() -> None:
    code = (
        "import sys, workers.cli.measure.run\n"
        "print([name for name in ('celery', 'psycopg', 'redis') if name in sys.modules])\n"
        "import workers.web.app\n"
        "print([name for name in ('celery', 'psycopg') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n[]\n"


def test_no_garbage_is_looked_for_before_a_command_is_imported(home: Path) -> None:
    code = (
        "import atexit, gc, sys\nfrom workers.cli import main\nleft = []\n"
        "gc.callbacks.append(lambda phase, _: left.append(gc.get_freeze_count() > 10_000))\n"
        "atexit.register(lambda: print('LEFT ALONE', all(left), gc.isenabled(), gc.get_freeze_count() > 10_000))\n"
        "sys.argv = ['hallmark', 'version']\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("LEFT ALONE True True True\n")


def _json_help(command: Any) -> list[str]:
    """What a command, or those of a group, say of --json."""
    parts = getattr(command, "commands", {"": command}).values()
    return [option.help for part in parts for option in part.params if "--json" in option.opts]


def test_an_unknown_command_is_wrong_usage(hallmark: Hallmark) -> None:
    result = hallmark("scna")
    assert result.code == 2
    assert "scan" in result.err


@pytest.mark.parametrize("shell", SHELLS)
def test_the_named_shell_counts_and_not_the_parent(home: Path, shell: str) -> None:
    """`; exit` keeps sh from becoming the script, so that it stays its parent."""
    line = f"{shlex.quote(str(SCRIPT))} --show-completion {shell}; exit $?"
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "_HALLMARK_COMPLETE" in done.stdout


def test_an_unknown_shell_is_wrong_usage(process: Hallmark) -> None:
    result = process("--show-completion", "csh")
    assert result.code == 2
    assert "bash, zsh" in result.err


def test_completion_knows_the_commands(process: Hallmark) -> None:
    env = {"_HALLMARK_COMPLETE": "complete_bash", "COMP_WORDS": "hallmark ex", "COMP_CWORD": "1"}
    assert process(env=env).out.split() == ["explain", "export"]
