"""The GitHub Action: its inputs reach the command as arguments and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run_action(tmp_path: Path, *, code: int = 0, **inputs: str) -> tuple[int, list[str], Path]:
    """Run the script with a command in place of hallmark that writes down its arguments."""
    stand_in = tmp_path / "hallmark"
    stand_in.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {tmp_path}/words\necho receipt\nexit {code}\n')
    stand_in.chmod(0o755)
    given = {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
    files = {"GITHUB_OUTPUT": str(tmp_path / "output"), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    environment = {"PATH": os.environ["PATH"], "HALLMARK_COMMAND": str(stand_in), **files, **given}
    done = subprocess.run([ROOT / "infra" / "action"], env=environment, cwd=tmp_path, capture_output=True, check=False)
    return done.returncode, (tmp_path / "words").read_text().splitlines(), tmp_path


def test_a_target_is_scanned_with_what_was_asked_for(tmp_path: Path) -> None:
    code, words, _ = run_action(tmp_path, target="npm:x", rubric="adaptive lint@2", fail_under="70", junit="j.xml")
    assert code == 0
    assert words == [
        *("scan", "--full", "--fail-on", "must", "--junit", "j.xml"),
        *("--rubric", "adaptive", "--rubric", "lint@2", "--fail-under", "70", "npm:x"),
    ]


@pytest.mark.parametrize(("sandbox", "expected"), [("true", []), ("false", ["--no-sandbox"])])
def test_a_command_stands_after_the_dashes(tmp_path: Path, sandbox: str, expected: list[str]) -> None:
    _, words, _ = run_action(tmp_path, command="python server.py --port 1", sandbox=sandbox)
    assert words == ["scan", "--full", "--fail-on", "must", *expected, "--", "python", "server.py", "--port", "1"]


def test_a_project_is_scanned_as_its_manifest_says_or_by_the_command(tmp_path: Path) -> None:
    _, words, _ = run_action(tmp_path, project="servers/a", fail_on="must high", baseline="accepted.json", target="x")
    assert words == [
        *("scan", "--full", "--fail-on", "must", "--fail-on", "high", "--baseline", "accepted.json", "servers/a"),
    ]
    _, words, _ = run_action(tmp_path, project=".", command="node a.js", fail_on="never")
    assert words == ["scan", "--full", "--fail-on", "never", ".", "--no-sandbox", "--", "node", "a.js"]


def test_no_input_is_read_as_shell(tmp_path: Path) -> None:
    _, words, folder = run_action(tmp_path, target='$(touch pwned); "`touch pwned`', fail_on="never")
    assert words[-1] == '$(touch pwned); "`touch pwned`'
    assert not (folder / "pwned").exists()


def test_the_exit_code_and_the_receipt_reach_the_job(tmp_path: Path) -> None:
    code, _, folder = run_action(tmp_path, code=4, target="npm:x")
    assert code == 4
    assert (folder / "output").read_text() == "exit-code=4\n"
    assert "receipt" in (folder / "summary").read_text()


def test_every_input_of_the_action_reaches_the_script() -> None:
    action = (ROOT / "action.yml").read_text()
    inputs = re.findall(r"^  ([a-z-]+):\n    description", action.partition("outputs:")[0], re.MULTILINE)
    script = (ROOT / "infra" / "action").read_text()
    for name in inputs:
        variable = f"INPUT_{name.upper().replace('-', '_')}"
        assert f"{variable}: ${{{{ inputs.{name} }}}}" in action
        assert variable in script or name in {"junit", "sarif", "transcript"}


@pytest.mark.parametrize(
    ("inputs", "lock"),
    [
        ({"TARGET": "https://example.com/mcp"}, "base.txt"),
        ({"COMMAND": "python server.py"}, "base.txt"),
        ({"COMMAND": "python server.py", "SANDBOX": "true"}, "run.txt"),
        ({"TARGET": "npm:x"}, "run.txt"),
        ({"PROJECT": ".", "COMMAND": "python server.py"}, "run.txt"),
        ({"TARGET": "server.json"}, "run.txt"),
    ],
    ids=str,
)
def test_only_what_the_scan_needs_is_installed(tmp_path: Path, inputs: dict[str, str], lock: str) -> None:
    """`python3 -m venv` is replaced by a script whose Python writes down what it should install."""
    python = tmp_path / "python3"
    python.write_text(
        "#!/bin/sh\n"
        'mkdir -p "$3/bin"\n'
        f"printf '#!/bin/sh\\necho $2 > {tmp_path}/installed\\n' > \"$3/bin/python\"\n"
        'printf "#!/bin/sh\\n" > "$3/bin/hallmark"\n'
        'chmod +x "$3/bin/python" "$3/bin/hallmark"\n'
    )
    python.chmod(0o755)
    given = {f"INPUT_{name}": text for name, text in inputs.items()}
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "RUNNER_TEMP": str(tmp_path / "runner"), **given}
    subprocess.run([ROOT / "infra" / "action"], env=environment, cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "installed").read_text() == f"{ROOT}/requirements/{lock}\n"
