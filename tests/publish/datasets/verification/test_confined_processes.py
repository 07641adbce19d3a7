"""Processes that read untrusted files load no code from the folder in which they are started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]
VERIFYING = """
from publish.datasets.verification.confined_processes import start_confined_workers

if __name__ == "__main__":
    with start_confined_workers(1) as workers:
        print(workers.submit(abs, -7).result())
"""


def test_modules_in_the_current_folder_are_not_loaded(tmp_path: Path) -> None:
    script, untrusted = tmp_path / "verifying.py", tmp_path / "untrusted"
    script.write_text(VERIFYING)
    untrusted.mkdir()
    for name in ("multiprocessing", "orjson", "publish"):
        (untrusted / f"{name}.py").write_text(f"raise SystemExit('{name} of the untrusted folder was loaded')")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=untrusted,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.stdout, done.stderr) == ("7\n", "")


def test_verification_imports_no_database() -> None:
    """Its import takes longer than judging a small set."""
    code = (
        "import sys, publish.datasets.verification.verify\n"
        "print([name for name in ('sqlalchemy', 'sqlmodel', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
