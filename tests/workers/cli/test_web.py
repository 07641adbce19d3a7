"""`hallmark web` says what it serves, and why it cannot."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest
from typer.testing import CliRunner

from workers.cli.web import app


def test_it_serves_an_empty_database_until_it_is_interrupted(tmp_path: Path) -> None:
    environment = {**os.environ, "HALLMARK_HOME": str(tmp_path), "HALLMARK_LOG_FORMAT": "json"}
    command = [sys.executable, "-c", "from workers.cli import main; main()", "web", "--port", "0"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = ""
        while "Ctrl-C" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        address = re.search(r"an empty site at (http://127\.0\.0\.1:[0-9]+)", said)
        assert address, said
        with urlopen(f"{address[1]}/", timeout=60) as page:
            said_of_it = page.read().decode()
        assert "Nothing is published yet" in said_of_it
        assert f'<link rel="canonical" href="{address[1]}/">' in said_of_it
        process.send_signal(signal.SIGINT)
        process.stderr.read()
    assert process.returncode == 0
    assert "hallmark run" in said


def test_a_port_that_is_taken_is_said_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALLMARK_HOME", str(tmp_path))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(app, ["--port", str(port)])
    assert result.exit_code == 1
    assert f"cannot listen at port {port}" in result.output
    assert not (tmp_path / "hallmark.db").exists()


def test_the_site_imports_no_celery() -> None:
    code = "import sys, workers.web; sys.exit('celery' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
