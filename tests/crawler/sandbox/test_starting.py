"""How packages and commands are started: choosing the command, resolving what the user typed."""

from __future__ import annotations

import asyncio
import json
import os
import select
import shutil
import sys
from pathlib import Path

import pytest

from crawler.launcher import ProcessExit
from crawler.sandbox import Limits, UnsandboxedLauncher, describe_start_failure, user_command
from crawler.sandbox.availability import check_bubblewrap
from crawler.sandbox.failure_messages import describe_install_failure, find_last_error_line
from crawler.sandbox.install import entrypoints
from evidence.model import Absent, Reason, Target, TargetType
from tests.crawler.sandbox.driving import read_all, sandbox


def typed(folder: Path, *argv: str) -> Target:
    return Target(type=TargetType.COMMAND, identifier=str(folder), arguments=argv)


def test_command_named_like_the_package_wins() -> None:
    commands = {"other": ["o"], "my_server": ["m"]}
    assert entrypoints.choose_command(commands, "@scope/my-server", ["a"]) == entrypoints.Command(
        "my_server", ("m", "a")
    )


def test_registration_can_name_another_command() -> None:
    commands = {"first": ["f"], "second": ["s"]}
    assert entrypoints.choose_command(commands, "pkg", ["second", "--x"]) == entrypoints.Command("second", ("s", "--x"))


def test_a_registered_command_wins_if_the_package_has_it() -> None:
    commands = {"pkg": ["p"], "second_one": ["s"]}
    assert entrypoints.choose_command(commands, "pkg", ["a"], "second-one") == entrypoints.Command(
        "second_one", ("s", "a")
    )
    assert entrypoints.choose_command(commands, "pkg", ["a"], "third") == entrypoints.Command("pkg", ("p", "a"))


def test_a_registered_module_is_run_if_the_package_has_it(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/cli.py").touch()
    found = entrypoints.find_module_command(tmp_path, "-m pkg.cli", ["a"])
    assert found == entrypoints.Command("-m pkg.cli", ("/usr/bin/python3", "-m", "pkg.cli", "a"))
    assert entrypoints.find_module_command(tmp_path, "-m pkg", []) is None
    assert entrypoints.find_module_command(tmp_path, "pkg", []) is None


def test_first_command_is_the_last_resort() -> None:
    assert entrypoints.choose_command({"first": ["f"], "second": ["s"]}, "pkg", []) == entrypoints.Command(
        "first", ("f",)
    )


def test_package_without_command_cannot_start() -> None:
    found = entrypoints.choose_command({}, "pkg", [])
    assert isinstance(found, Absent)
    assert found.reason is Reason.START_FAILED


def package(tree: Path, manifest: dict[str, object], files: dict[str, str]) -> dict[str, list[str]]:
    folder = tree / "node_modules/pkg"
    for name, text in {"package.json": json.dumps(manifest), **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return entrypoints.list_npm_commands(tree, "pkg")


def test_npm_commands_keep_their_order_and_their_interpreter(tmp_path: Path) -> None:
    bins = {"z": "./dist/z.js", "a": "a", "p": "p.py", "gone": "gone.js", "out": "../../x.js", "b": "b.ts", "n": "n.js"}
    files = {
        "dist/z.js": "console.log(1)",
        "a": "#!/usr/bin/env -S node --no-warnings\n",
        "p.py": "#!/usr/bin/python3 -u\n",
        "b.ts": "#!/usr/bin/env bun\n",
        "n.js": "#!/bin/sh\n",
    }
    app = "/app/node_modules/pkg"
    assert package(tmp_path, {"bin": bins}, files) == {
        "z": ["/usr/bin/node", f"{app}/dist/z.js"],
        "a": ["/usr/bin/node", "--no-warnings", f"{app}/a"],
        "p": ["/usr/bin/python3", "-u", f"{app}/p.py"],
        "b": [],
        "n": [],
    }


@pytest.mark.parametrize("manifest", [{}, {"bin": None}, {"bin": 3}, {"bin": {"a": 1}}, {"bin": ["a"]}, {"bin": ""}])
def test_malformed_bin_is_no_command(tmp_path: Path, manifest: dict[str, object]) -> None:
    assert package(tmp_path, manifest, {"a": ""}) == {}


def test_python_module_is_run_where_there_is_no_script(tmp_path: Path) -> None:
    (tmp_path / "my_server").mkdir()
    (tmp_path / "my_server/__main__.py").write_text("")
    (tmp_path / "my_server-1.0.dist-info").mkdir()
    assert entrypoints.list_pypi_commands(tmp_path, "my-server") == {
        "my_server": ["/usr/bin/python3", "-m", "my_server"]
    }


def test_typed_command_uses_the_interpreters_of_the_box(tmp_path: Path) -> None:
    (tmp_path / ".venv/lib/python3.11/site-packages").mkdir(parents=True)
    found = user_command.resolve_command(
        typed(tmp_path, ".venv/bin/python3.11", str(tmp_path / "s.py"), "/etc/x"), "3.11"
    )
    assert isinstance(found, user_command.ResolvedCommand)
    assert found.argv == ("/usr/bin/python3", "/project/s.py", "/etc/x")
    assert [bind.place for bind in found.binds] == ["/project", "/app"]


def test_a_link_of_the_project_shows_no_other_folder_to_the_box(tmp_path: Path) -> None:
    secret, project, other = tmp_path / "secret", tmp_path / "project", tmp_path / "other/lib/python3.11/site-packages"
    secret.mkdir()
    other.mkdir(parents=True)
    place = project / ".venv/lib/python3.11/site-packages"
    place.parent.mkdir(parents=True)
    place.symlink_to(secret)
    assert user_command.find_site_packages(project, "3.11") is None
    place.unlink()
    place.symlink_to(other)
    assert user_command.find_site_packages(project, "3.11") is None
    (tmp_path / "other/pyvenv.cfg").touch()  # a virtual environment that lies elsewhere
    assert user_command.find_site_packages(project, "3.11") == place


def test_typed_script_of_the_project_is_found(tmp_path: Path) -> None:
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/my-server").write_text(f"#!{tmp_path}/.venv/bin/python3\n")
    found = user_command.resolve_command(typed(tmp_path, "my-server", "-v"), "3.11")
    assert isinstance(found, user_command.ResolvedCommand)
    assert found.argv == ("/usr/bin/python3", "/project/.venv/bin/my-server", "-v")


@pytest.mark.parametrize("argv", [("docker", "run", "x"), ("/bin/sh", "-c", "id"), ("../outside",), ("/etc/passwd",)])
def test_typed_command_that_the_box_lacks_is_runtime_unsupported(tmp_path: Path, argv: tuple[str, ...]) -> None:
    found = user_command.resolve_command(typed(tmp_path, *argv), "3.11")
    assert isinstance(found, Absent)
    assert found.reason is Reason.RUNTIME_UNSUPPORTED
    assert str(tmp_path) not in found.detail


@pytest.mark.sandbox
@pytest.mark.parametrize(("program", "script"), [("python", "s.py"), ("node", "s.js"), ("./s.py", None)])
def test_typed_command_runs_with_its_folder_read_only(cache: Path, tmp_path: Path, program: str, script: str) -> None:
    folder = tmp_path / "project"
    folder.mkdir(mode=0o755)
    source = "import os\ntry:\n    open('new', 'w')\nexcept OSError as e:\n    print(os.getcwd(), e.errno)\n"
    (folder / "s.py").write_text("#!/usr/bin/env python3\n" + source)
    (folder / "s.js").write_text(
        "try{require('fs').writeFileSync('new','')}catch(e){console.log(process.cwd(),-e.errno)}"
    )
    for path in (tmp_path, folder):
        path.chmod(0o755)

    async def run() -> bytes:
        box = await sandbox(cache)
        launched = await box.launch(typed(folder, program, *([script] if script else [])))
        assert not isinstance(launched, Absent), launched
        said = await read_all(launched)
        end = await launched.stop()
        assert end == ProcessExit(0, "")
        return said

    assert asyncio.run(run()) == b"/project 30\n"


def test_bare_command_runs_as_it_is_and_says_so(tmp_path: Path) -> None:
    async def run() -> tuple[bytes, str, ProcessExit]:
        launcher = UnsandboxedLauncher({"MARK": "seen"})
        code = "import os,sys; print(os.environ['MARK'], os.getcwd()); sys.stderr.write('bye'); sys.exit(3)"
        launched = await launcher.launch(typed(tmp_path, sys.executable, "-c", code))
        assert not isinstance(launched, Absent)
        return await read_all(launched), launched.runtime, await launched.stop()

    assert asyncio.run(run()) == (f"seen {tmp_path}\n".encode(), "none", ProcessExit(3, "bye"))


def test_bare_command_takes_its_children_with_it(tmp_path: Path) -> None:
    async def run() -> int:
        launcher = UnsandboxedLauncher(dict(os.environ))
        code = "import os,time; pid=os.fork(); pid and print(pid, flush=True); time.sleep(60)"
        launched = await launcher.launch(typed(tmp_path, sys.executable, "-c", code))
        assert not isinstance(launched, Absent)
        said = b""
        while not said.endswith(b"\n"):
            part = await launched.read(64)
            assert part
            said += part
        child = os.pidfd_open(int(said))
        await launched.stop()
        return child

    child = asyncio.run(run())
    # The signal is sent when stop() returns; when the child gets to die of it is up to the scheduler.
    dead, _, _ = select.select([child], [], [], 30)
    os.close(child)
    assert dead


def test_bare_launcher_refuses_packages(tmp_path: Path) -> None:
    found = asyncio.run(UnsandboxedLauncher({}).launch(Target(type=TargetType.NPM, identifier="x")))
    assert isinstance(found, Absent)
    assert found.reason is Reason.SANDBOX_RESTRICTED


def test_bare_command_that_does_not_exist_is_start_failed(tmp_path: Path) -> None:
    found = asyncio.run(UnsandboxedLauncher({}, Limits()).launch(typed(tmp_path, "/nonexistent/program")))
    assert isinstance(found, Absent)
    assert found.reason is Reason.START_FAILED


def test_failed_start_names_blocked_install_scripts() -> None:
    facts = {"install_scripts_blocked": ["better-sqlite3"]}
    found = describe_start_failure(
        facts, ProcessExit(1, "Error: Could not locate the bindings file. Tried:\n → /app/x\n")
    )
    assert found.reason is Reason.INSTALL_SCRIPTS_REQUIRED
    assert "better-sqlite3" in found.detail


def test_failed_start_with_scripts_blocked_for_nothing_is_start_failed() -> None:
    found = describe_start_failure({"install_scripts_blocked": ["core-js"]}, ProcessExit(1, "Error: set API_KEY\n"))
    assert (found.reason, found.detail) == (Reason.START_FAILED, "exit code 1: Error: set API_KEY")


def test_last_words_are_the_same_every_time() -> None:
    first = find_last_error_line(
        "INFO 2026-11-21 10:00:00,123 started pid=17\nValueError: /tmp/x1y2 at 0x7f00 after 12ms\nbye\n"
    )
    second = find_last_error_line(
        "INFO 2026-11-22 11:30:00,456 started pid=99\nValueError: /tmp/abc at 0x7fff after 9 ms\nbye\n"
    )
    assert first == second == "ValueError: <temporary file> at <address> after <duration>"


@pytest.mark.parametrize(
    "line",
    [
        "Error: connect ECONNREFUSED 127.0.0.1:{}",
        "Error: listen EADDRINUSE: address already in use :::{}",
        "Error: [::1]:{} refused",
        "Error: nothing at localhost:{}",
        "Error: { code: 'EADDRINUSE', port: {} }",
        "Error: port {} is taken",
    ],
)
def test_last_words_name_no_port_that_differs_between_starts(line: str) -> None:
    assert find_last_error_line(line.replace("{}", "43811")) == find_last_error_line(
        line.replace("{}", "5120" if "thread" not in line else "51209")
    )


def test_last_words_of_a_list_of_issues_are_a_message_and_no_bracket() -> None:
    said = '[\n  {\n    "message": "URL cannot be empty",\n    "path": [\n      "url"\n    ]\n  }\n]\n'
    assert find_last_error_line(said) == '"message": "URL cannot be empty",'
    assert find_last_error_line("what a pity\n]\n") == "what a pity"


NODE_STACK = """file:///app/x/index.js:14
    throw new Failure('no');
          ^

Failure: The mode is unknown
    at file:///app/x/index.js:14:11
    at async Promise.all (index 0) {
  code: 'E_X',
}

Node.js v24.19.0
"""
PYTHON_STACK = """Traceback (most recent call last):
  File "/app/bin/x", line 6, in <module>
    sys.exit(main())
             ^^^^^^
x.errors.Stop: no cluster
"""
PYTHON_GROUP = """  | ExceptionGroup: unhandled errors (1 sub-exception)
  +-+------- 1 ------
    |   File "/app/a.py", line 3
    |     x()
    | KeyError: 'HOME_ASSISTANT'
    +---------
"""


NODE_OBJECT = """<ref *1> Error: spawnSync notes ENOENT
    at Object.spawnSync (node:internal/child_process:1160:20) {
  errno: -2,
  spawnargs: [
    '-c'
  ],
  error: [Circular *1],
  status: null,
  stderr: undefined
}
"""
HELP = """Usage: notes [OPTIONS] COMMAND [ARGS]...

Commands:
  index  Index new notes.
  serve  Start the server.
"""


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (NODE_STACK, "Failure: The mode is unknown"),
        (PYTHON_STACK, "x.errors.Stop: no cluster"),
        (PYTHON_GROUP, "KeyError: 'HOME_ASSISTANT'"),
        ("    at main (/app/x.js:1:2)\n    at async run (/app/y.js:3:4)\n", ""),
        (NODE_OBJECT, "<ref *1> Error: spawnSync notes ENOENT"),
        ("╭─ Error ──────────╮\n│ Missing command. │\n╰──────────────────╯\n", "Missing command."),
        (
            "Error: arguments are missing:\n  - folder: where notes are\n",
            "Error: arguments are missing: folder: where notes are",
        ),
        (HELP, "it prints its usage: notes [OPTIONS] COMMAND [ARGS]..."),
        (HELP + "error: no such command\n", "error: no such command"),
        (HELP + "Unknown argument: verbose\n", "Unknown argument: verbose"),
        ("Usage data is collected.\nThe database is locked\n", "The database is locked"),
        ("memory\nusage: 54 MB\nbye for now\n", "bye for now"),
        ("Traceback (most recent call last):\nKeyError: 0\n", "KeyError: 0"),
        ("RuntimeError: 404\n", "RuntimeError: 404"),
    ],
)
def test_last_words_are_a_message_and_no_place_in_the_code(said: str, words: str) -> None:
    assert find_last_error_line(said) == words


def test_a_failure_that_leaves_only_places_in_the_code_is_its_exit_code() -> None:
    found = describe_start_failure({}, ProcessExit(1, "    at main (/app/x.js:1:2)\n"))
    assert found == Absent(Reason.START_FAILED, "exit code 1")


def test_a_help_text_on_standard_output_is_named_as_the_reason() -> None:
    found = describe_start_failure({}, ProcessExit(0, ""), HELP)
    assert found == Absent(Reason.START_FAILED, "exit code 0: it prints its usage: notes [OPTIONS] COMMAND [ARGS]...")


def test_last_words_name_no_thread() -> None:
    assert find_last_error_line("Error: in thread 140234511234") == find_last_error_line(
        "Error: in thread 139999123456"
    )


def test_last_words_keep_what_says_where() -> None:
    line = "Error: /app/main.js:1234: expected 10.0.0.1, found 17"
    assert find_last_error_line(line) == line


@pytest.mark.parametrize("secret", ["sk-proj-abcdefgh", "ghp_abcdefghijklmnop", "aZ3kQ9xW2mB7vT5y"])
def test_last_words_hold_no_secret(secret: str) -> None:
    assert secret not in find_last_error_line(f"Error: invalid token {secret}")
    assert secret not in describe_install_failure(f"error: 401 for {secret}").detail


def test_a_host_without_ldd_has_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, **_: None if name == "ldd" else f"/usr/bin/{name}")
    found = check_bubblewrap()
    assert not found.ok
    assert "ldd" in found.why


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("error: GET https://registry.npm.example/x - 404", Reason.INSTALL_FAILED),
        ('error: No version matching "9" found for specifier "x" (but package exists)', Reason.INSTALL_FAILED),
        ("× No solution found\n╰─▶ Because x was not found in the package registry", Reason.INSTALL_FAILED),
        ("╰─▶ Because the current Python version (3.11) does not satisfy Python>=3.99", Reason.RUNTIME_UNSUPPORTED),
        ("╰─▶ Because x==1 has no usable wheels and building from source is disabled", Reason.INSTALL_FAILED),
        ("", Reason.INSTALL_FAILED),
    ],
)
def test_failure_of_an_installer_has_a_reason(said: str, reason: Reason) -> None:
    found = describe_install_failure(said)
    assert found.reason is reason
    assert "registry.npm.example" not in found.detail
