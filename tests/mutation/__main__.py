"""Change the product in small ways, one at a time, and say which changes no test notices.

python -m tests.mutation                     36 changes of a fixed choice, each tried against the tests of its module
python -m tests.mutation --count 20 --seed 2 publish/disclosure.py
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tests.mutation.changes import Change, changes_of

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("bench", "crawler", "docs", "evidence", "infra", "publish", "requirements", "scoring", "tests", "workers")
PARTS = (
    "scoring/results/arithmetic.py",
    "publish/disclosure.py",
    "scoring/engine/assess.py",
    "evidence/store/leases/leasing.py",
    "evidence/store/runs/operator_actions.py",
    "evidence/store/decisions/opt_outs.py",
)
SECONDS = 300
# The lock names every changed rule, so it would hide what the tests of behaviour do not see.
UNASKED = ("--deselect", "tests/architecture")


def modules(part: str) -> list[Path]:
    """The modules of a part, without migrations and package files."""
    place = ROOT / part
    found = [place] if place.is_file() else sorted(place.rglob("*.py"))
    return [path for path in found if "migrations" not in path.parts and path.name != "__init__.py"]


def choice(parts: Sequence[str], count: int, seed: int) -> list[Change]:
    """So many changes, equally many of each part; within a part each is as likely as any other."""
    chance = random.Random(seed)
    chosen: list[Change] = []
    for place, part in enumerate(parts):
        all_of_it = [
            change
            for path in modules(part)
            for change in changes_of(path.relative_to(ROOT).as_posix(), path.read_bytes())
        ]
        share = (count - len(chosen)) // (len(parts) - place)
        chosen += chance.sample(all_of_it, min(share, len(all_of_it)))
    return chosen


def tests_of(path: str) -> list[str]:
    """The test file that mirrors a module, and those beside it that import the module or name what it declares."""
    folder = ROOT / "tests" / Path(path).parent
    dotted = path.removesuffix(".py").replace("/", ".")
    package, _, stem = dotted.rpartition(".")
    names = {stem, stem.replace("_", "-")}
    importing = re.compile(
        rf"{re.escape(dotted)}\b|from {re.escape(package)} import [^\n]*\b{stem}\b|"
        + "|".join(rf'"{re.escape(name)}' for name in names)
    )
    files = sorted(folder.glob("test_*.py"))
    near = [file for file in files if file.stem == f"test_{stem}"]
    near += [file for file in files if file not in near and importing.search(file.read_text())]
    if path.startswith("scoring/"):
        near += [file for file in files if file.name == "test_properties.py" and file not in near]
    return [file.relative_to(ROOT).as_posix() for file in near] or [folder.relative_to(ROOT).as_posix()]


def survives(change: Change, copy: Path, seconds: float) -> bool:
    """Whether the tests pass although the copy of the product has the change; too slow counts as noticed."""
    path = copy / change.path
    source = path.read_bytes()
    path.write_bytes(change.applied(source))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "not live and not soak"]
    command += ["-k", "not postgresql", *UNASKED, *tests_of(change.path)]
    try:
        done = subprocess.run(
            command,
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    finally:
        path.write_bytes(source)
    return done.returncode in {0, 5}  # 5: no test at all


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=PARTS, help="files or folders of the product")
    parser.add_argument("--count", type=int, default=36)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--minutes", type=float, default=15.0, help="begin no change after so long")
    options = parser.parse_args()
    changes = choice(options.parts, options.count, options.seed)
    began, tried, left = time.monotonic(), 0, []
    with tempfile.TemporaryDirectory(prefix="hallmark-mutants-") as folder:
        copy = Path(folder)
        for name in FOLDERS:
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        for change in changes:
            if time.monotonic() - began > options.minutes * 60:
                break
            tried += 1
            lives = survives(change, copy, SECONDS)
            left += [change] * lives
            sys.stdout.write(f"{'survived' if lives else 'noticed '}  {change}\n")
            sys.stdout.flush()
    sys.stdout.write(f"{tried} of {len(changes)} changes tried, {len(left)} survived\n")
    for change in left:
        sys.stdout.write(f"  {change}\n")


if __name__ == "__main__":
    main()
