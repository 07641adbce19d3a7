from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

from tests.workers.cli.conftest import Hallmark
from workers.cli.app import COMPLETION_FILES, JSON_DOCUMENT_COMMANDS, JSON_LINES_COMMANDS, SUBCOMMANDS, load_command
from workers.settings.environment import read_code_version

GROUPS = {
    "findings": ["list", "show", "triage", "disclose", "publish", "dismiss", "reopen"],
    "lab": ["lockfiles"],
    "registry": ["list", "check"],
    "sandbox": ["build", "status", "clean"],
}
REPLACED = ["pydantic", "typer"]  # by msgspec and Click
HEAVY = [*REPLACED, "rich", "mcp", "celery", "osv", "jinja2", "httpx", "sqlmodel", "sqlalchemy", "redis", "structlog"]


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
    unused = ("sqlalchemy", "sqlmodel", "alembic", "evidence.store.store", "crawler.sandbox.sandbox_launcher", "typer")
    clients = ("mcp", "mcp_types", "celery", "redis", "httpx", "httpx2", "osv", "github", "pyarrow", "cryptography")
    site = ("jinja2", "fastapi", "pydantic", "starlette", "publish.app")
    assert _imported_by("workers.cli.measure.scan", *unused, *clients, *site) == []


def test_the_settings_which_everything_reads_import_no_pydantic() -> None:
    assert _imported_by("workers.settings.environment", "pydantic", "pydantic_settings") == []


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
    command = load_command(SUBCOMMANDS[name].path)
    assert (command.help or "").startswith(SUBCOMMANDS[name].help.removesuffix(".").split(",")[0].split(":")[0])


@pytest.mark.parametrize("name", SUBCOMMANDS)
def test_a_group_lists_its_commands_as_defined_with_their_whole_first_paragraphs(hallmark: Hallmark, name: str) -> None:
    command = load_command(SUBCOMMANDS[name].path)
    if isinstance(command, click.Group):
        parts = [f"{key} {(one.help or '').partition(chr(10) * 2)[0]}" for key, one in command.commands.items()]
        assert " ".join(hallmark(name, "--help").out.split()).endswith(" ".join(" ".join(parts).split()))


def test_the_version_is_one_line(hallmark: Hallmark) -> None:
    result = hallmark("--version")
    assert (result.code, result.out) == (0, f"hallmark {read_code_version()}\n")


def test_the_overview_says_what_is_json_lines_and_what_one_document(hallmark: Hallmark) -> None:
    help_text = " ".join(hallmark("--help").out.replace("│", " ").split())
    assert f"one document for {', '.join(JSON_DOCUMENT_COMMANDS)};" in help_text
    assert f"one object per line, for {', '.join(JSON_LINES_COMMANDS)}." in help_text
    said = {name: _json_help(load_command(SUBCOMMANDS[name].path)) for name in SUBCOMMANDS}
    assert {name for name, words in said.items() if words} == {*JSON_DOCUMENT_COMMANDS, *JSON_LINES_COMMANDS}
    assert {name for name, words in said.items() if any("per line" in word for word in words)} == set(
        JSON_LINES_COMMANDS
    )


def test_neither_a_run_without_services_nor_the_site_imports_a_client_of_theirs() -> None:
    code = (
        "import sys, workers.cli.measure.run\n"
        "print([name for name in ('celery', 'psycopg', 'redis') if name in sys.modules])\n"
        "import workers.web.app\n"
        "print([name for name in ('celery', 'psycopg') if name in sys.modules])\n"
        "import publish.app\n"
        "print('the SDK that a static report does without', 'mcp' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n[]\nthe SDK that a static report does without False\n"


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


@pytest.mark.parametrize(("shell", "file"), COMPLETION_FILES.items())
def test_the_completion_of_each_shell_is_shown_and_where_to_write_it(hallmark: Hallmark, shell: str, file: str) -> None:
    result = hallmark("--show-completion", shell)
    assert result.code == 0
    assert "_HALLMARK_COMPLETE" in result.out
    assert f"write this output to {file}," in result.err


def test_an_unknown_shell_is_wrong_usage(process: Hallmark) -> None:
    result = process("--show-completion", "csh")
    assert result.code == 2
    assert "'bash', 'zsh'" in result.err


def test_completion_knows_the_commands(process: Hallmark) -> None:
    env = {"_HALLMARK_COMPLETE": "bash_complete", "COMP_WORDS": "hallmark ex", "COMP_CWORD": "1"}
    assert process(env=env).out.split() == ["plain,explain", "plain,export"]
    env |= {"COMP_WORDS": "hallmark scan --fail", "COMP_CWORD": "2"}
    assert process(env=env).out.split() == ["plain,--fail-under", "plain,--fail-on"]


def test_a_choice_is_named_as_its_value_is() -> None:
    """Click offers the names of an enumeration, in lower case; messages and documents use the values."""
    commands = [load_command(one.path) for one in SUBCOMMANDS.values()]
    parts = [part for one in commands for part in getattr(one, "commands", {"": one}).values()]
    kinds = [option.type for part in parts for option in part.params if isinstance(option.type, click.Choice)]
    offered = {(choice.name.lower(), choice.value) for kind in kinds for choice in kind.choices}
    assert ("must", "must") in offered
    assert all(name == value for name, value in offered)


def test_ctrl_c_ends_any_command_with_130(hallmark: Hallmark, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("workers.cli.administration.version.print_json", lambda _: interrupt())
    assert hallmark("version", "--json").code == 130
