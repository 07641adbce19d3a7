"""Install a hashed lock and the project itself into the interpreter that runs this script.

uv, pinned in the lock, installs in seconds; where it fails (for example because only pip's configuration has the index
address) pip is used. Standard library only, because it runs in an empty virtual environment.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
TOOLS_LOCK = ROOT / "requirements" / "dev.txt"  # the build backend is no dependency of the product


def main(lock: Path) -> int:
    """Install `lock` and then the project in editable form; return the exit status."""
    uv = BIN / "uv"
    if not (uv.exists() and (BIN / "uv-build").exists()):
        run_pip(
            "install",
            "--quiet",
            "--require-hashes",
            "--requirement",
            str(write_partial_lock(TOOLS_LOCK, "uv", "uv-build")),
        )
    by_uv = ["pip", "install", "--quiet", "--python", sys.executable, "--require-hashes", "--requirement", str(lock)]
    if subprocess.run([str(uv), *by_uv], check=False).returncode != 0:
        print("setup: uv could not install the lock; trying pip", file=sys.stderr)
        run_pip("install", "--quiet", "--require-hashes", "--requirement", str(lock))
    by_uv = ["pip", "install", "--quiet", "--python", sys.executable, "--no-deps", "--no-build-isolation"]
    return subprocess.run([str(uv), *by_uv, "--editable", str(ROOT)], check=False, env=with_bin_on_path()).returncode


def write_partial_lock(lock: Path, *names: str) -> Path:
    """A temporary lock with only these requirements and their hashes."""
    parts = []
    for name in names:
        found = re.search(rf"^{name}==(?:.*\\\n)+.*\n", lock.read_text(), re.MULTILINE)
        if not found:
            raise SystemExit(f"setup: {lock} does not pin {name}; run `make lock`")
        parts.append(found.group())
    part = Path(tempfile.mkdtemp()) / "part.txt"
    part.write_text("".join(parts))
    return part


def run_pip(*arguments: str) -> None:
    """Run pip of this interpreter; exit with its status when it fails."""
    status = subprocess.run([sys.executable, "-m", "pip", *arguments], check=False).returncode
    if status:
        raise SystemExit(status)


def with_bin_on_path() -> dict[str, str]:
    """The environment with this interpreter's scripts first on PATH, where the build backend is searched."""
    return {**os.environ, "PATH": f"{BIN}:{os.environ.get('PATH', '')}"}


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
