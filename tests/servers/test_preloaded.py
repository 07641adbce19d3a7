"""Processes that are forked from the helper behave as those of `subprocess`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import preloaded
from tests.servers.preloaded import HALLMARK

FACTS = """
import json, os, sys
facts = [sys.argv[1:], os.getcwd(), os.environ.get("NAME"), os.environ.get("HOME"), os.getsid(0) == os.getpid()]
print(json.dumps(facts), flush=True)
print("warning", file=sys.stderr)
sys.exit(7)
"""
WAITING = "print('ready', flush=True); input()"


@pytest.mark.parametrize("session", [False, True])
def test_arguments_folder_environment_and_exit_code_are_those_of_subprocess(tmp_path: Path, session: bool) -> None:
    command = [sys.executable, "-c", FACTS, "one", "two words"]
    options = {"cwd": tmp_path, "env": {"NAME": "value", "PATH": os.environ["PATH"]}, "start_new_session": session}
    forked = preloaded.run(command, capture_output=True, text=True, **options)
    fresh = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    assert (forked.returncode, forked.stdout, forked.stderr) == (fresh.returncode, fresh.stdout, fresh.stderr)
    assert forked.returncode == 7
    assert str(tmp_path) in forked.stdout


def test_an_exception_ends_with_its_traceback_and_code_1() -> None:
    done = preloaded.run([sys.executable, "-c", "raise RuntimeError('broken')"], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.endswith("RuntimeError: broken\n")


@pytest.mark.parametrize(
    "end",
    [
        "sys.exit('why')",
        "sys.exit(300)",
        "sys.exit()",
        "sys.stdout.write('no end of line')",
        "atexit.register(print, 'last')",
        "threading.Timer(0.1, print, ['late']).start()",
        "print('lost'); os.close(1)",
    ],
)
def test_what_is_written_last_and_the_exit_code_are_those_of_subprocess(end: str) -> None:
    command = [sys.executable, "-c", f"import atexit, os, sys, threading; {end}"]
    buffered = {"PATH": os.environ["PATH"]}
    forked = preloaded.run(command, capture_output=True, text=True, env=buffered)
    fresh = subprocess.run(command, capture_output=True, text=True, check=False, env=buffered)
    assert (forked.returncode, forked.stdout) == (fresh.returncode, fresh.stdout)
    assert "lost" in end or forked.stderr == fresh.stderr


def test_a_module_and_the_command_run() -> None:
    listed = preloaded.run([sys.executable, "-m", "json.tool", "--help"], capture_output=True, text=True)
    assert "usage" in listed.stdout
    assert preloaded.run([HALLMARK, "--version"], capture_output=True, text=True).stdout.startswith("hallmark ")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_process_is_our_child_and_can_be_signalled(number: signal.Signals) -> None:
    pipe = subprocess.PIPE
    with preloaded.Popen([sys.executable, "-c", WAITING], stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        assert Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[1] == str(os.getpid())
        process.send_signal(number)
        assert process.wait(20) == -number


def test_input_reaches_the_process_and_its_end_too() -> None:
    with preloaded.Popen(
        [sys.executable, "-c", "print(input().upper())"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.communicate("words\n", timeout=20) == ("WORDS\n", None)


@pytest.mark.parametrize("options", [{"umask": 0o77}, {"user": 0}, {"preexec_fn": print}])
def test_what_needs_a_fresh_interpreter_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"use subprocess|expected a module"):
        preloaded.run([sys.executable, "-c", ""], **options)


def test_a_variable_for_the_interpreter_makes_a_fresh_one() -> None:
    code = "import sys; print(sys.flags.dev_mode, 'publish.app' in sys.modules)"
    env = {"PATH": os.environ["PATH"], "PYTHONDEVMODE": "1"}
    done = preloaded.run([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True)
    assert done.stdout == "True False\n"


def test_the_python_that_make_was_given_is_no_variable_of_the_interpreter() -> None:
    code = "import sys; print('workers.pipeline' in sys.modules)"
    done = preloaded.run([sys.executable, "-c", code], env={"PYTHON": "python3"}, stdout=subprocess.PIPE, text=True)
    assert done.stdout == "True\n"


def test_a_process_inherits_what_is_passed_on_under_the_same_number() -> None:
    ours, theirs = os.pipe()
    code = f"import os; os.write({theirs}, b'inherited')"
    with preloaded.Popen([sys.executable, "-I", "-c", code], pass_fds=[theirs]) as process:
        assert process.wait(20) == 0
    os.close(theirs)
    assert os.read(ours, 100) == b"inherited"
    os.close(ours)


def test_modules_of_the_product_may_start_what_the_helper_does_not_know() -> None:
    popen = preloaded.INSTEAD_OF_SUBPROCESS.Popen
    loaded = "import sys; sys.exit('mcp' in sys.modules)"
    with popen([sys.executable, "-c", loaded]) as small, popen(["false"]) as other:
        assert (small.wait(20), other.wait(20)) == (1, 1)
    with popen([sys.executable, "-c", loaded], env={"PYTHONDEVMODE": "1"}) as fresh:
        assert fresh.wait(20) == 0


def test_the_group_of_a_process_can_be_killed_as_soon_as_it_is_started() -> None:
    for _ in range(20):
        with preloaded.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True) as process:
            os.killpg(process.pid, signal.SIGKILL)
            assert process.wait(20) == -signal.SIGKILL
