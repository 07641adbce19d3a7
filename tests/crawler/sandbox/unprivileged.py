"""Runs a module of ours as a user without name, home and permissions of root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

STRANGER = 64321
REPOSITORY = Path(__file__).parents[3]
BECOME = ("setpriv", f"--reuid={STRANGER}", f"--regid={STRANGER}", "--clear-groups", "--no-new-privs")
# The interpreter, its library and our packages must be there for everybody, not only for root.
TRIAL = "import os, sys; os.stat(os.path.realpath(sys.executable)); os.listdir(sys.base_prefix); import crawler, httpx"


def command(module: str, *arguments: str) -> list[str]:
    """`python -m module` as an ordinary user; skips the test, with the reason, where there can be none."""
    if os.geteuid() != 0:
        pytest.skip("the user of the tests is an ordinary user already: the other tests cover this")
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is missing; it belongs to util-linux")
    plain = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/{plain}", f"/usr/local/bin/{plain}"):
        if Path(python).exists() and _runs(python):
            return [*BECOME, python, "-m", module, *arguments]
    pytest.skip("other users may not read this repository, or none of the interpreters here")


def environment(home: Path) -> dict[str, str]:
    """The environment of that user."""
    return {"PATH": "/usr/bin:/bin", "HOME": str(home), "PYTHONPATH": sysconfig.get_path("purelib")}


def cache(folder: Path, tools: Path) -> Path:
    """A cache of that user's own below `folder`, with the downloaded `tools` and nothing else."""
    made = folder / "cache"
    shutil.copytree(tools, made / "tools")
    for path in (made, *made.rglob("*")):
        os.chown(path, STRANGER, STRANGER)
    for parent in made.parents:
        if parent.stat().st_uid == os.geteuid() and not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o011)
    return made


def _runs(python: str) -> bool:
    trial = subprocess.run(
        [*BECOME, python, "-c", TRIAL], cwd=REPOSITORY, env=environment(Path("/")), capture_output=True, check=False
    )
    return trial.returncode == 0
