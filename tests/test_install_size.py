"""A user's installation: the wheel and its base dependencies in an empty virtual environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import scripted
from workers.cli.extras import DATASETS, PACKAGES, SITE, Extra

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
MAX_PACKAGES, MAX_BYTES = 60, 120_000_000


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environment that `pip install mcp-hallmark` makes, with byte code and without pip itself."""
    folder = tmp_path_factory.mktemp("install")
    run(
        "uv",
        "build",
        "--wheel",
        "--no-build-isolation",
        "--python",
        sys.executable,
        "--out-dir",
        str(folder),
        str(ROOT),
    )
    (wheel,) = folder.glob("*.whl")
    run("uv", "venv", "--python", sys.executable, str(folder / "venv"))
    install = ["uv", "pip", "install", "--compile-bytecode", "--python", str(folder / "venv/bin/python")]
    run(*install, "--require-hashes", "--requirement", str(ROOT / "requirements/base.txt"))
    run(*install, "--no-deps", str(wheel))
    return folder / "venv"


def run(*command: str) -> None:
    """Run a tool of the development environment."""
    environ = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}
    subprocess.run([str(BIN / command[0]), *command[1:]], env=environ, check=True, capture_output=True, cwd="/")


def hallmark(venv: Path, *words: str, name: str = "hallmark") -> subprocess.CompletedProcess[str]:
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(venv), "HALLMARK_CANARIES": "[]"}
    command = [str(venv / "bin" / name), *words]
    return subprocess.run(command, env=environ, cwd=venv, capture_output=True, text=True, check=False)


def test_the_base_is_small_and_has_all_that_it_declares(venv: Path) -> None:
    assert len(list(venv.glob("lib/*/site-packages/*.dist-info"))) <= MAX_PACKAGES
    sizes = [path.stat().st_size for path in venv.rglob("*") if path.is_file() and not path.is_symlink()]
    assert sum(sizes) <= MAX_BYTES
    run("uv", "pip", "check", "--python", str(venv / "bin/python"))


@pytest.mark.parametrize("name", ["hallmark", "mcp-hallmark"])
def test_the_base_scans_a_server(venv: Path, name: str) -> None:
    with scripted.running(1) as url:
        found = hallmark(venv, "scan", f"{url}/s/0/mcp", "--allow-private", "--core", name=name)
    assert found.returncode == 0, found.stderr
    assert "What to fix first" in found.stdout


@pytest.mark.parametrize(
    ("words", "extra"),
    [(["scan", "npm:some-server"], PACKAGES), (["web"], SITE), (["verify", "dataset"], DATASETS)],
)
def test_a_command_of_an_extra_says_how_to_add_it(venv: Path, words: list[str], extra: Extra) -> None:
    found = hallmark(venv, *words)
    assert (found.returncode, found.stdout) == (2, "")
    assert extra.install_command in found.stderr
    assert "Traceback" not in found.stderr
