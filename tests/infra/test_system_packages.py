"""Which system packages `make` installs, with a package manager that notes what it is asked for."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Like the real one, it installs nothing when it does not know one of the packages.
APT_GET = """#!/bin/sh
[ "$1" = update ] && exit 0
for word in "$@"; do
  case "$word" in
    unknown*) echo "E: Unable to locate package $word" >&2; exit 100 ;;
    install | -*) ;;
    *) wanted="$wanted $word" ;;
  esac
done
echo "installed$wanted" >>"$LOG"
"""


@pytest.fixture
def setup(tmp_path: Path) -> Callable[..., tuple[str, list[str]]]:
    """Ask for packages as root; what is said, and what was installed in each step."""
    for name, script in {"apt-get": APT_GET, "id": "#!/bin/sh\necho 0\n"}.items():
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o755)
    log = tmp_path / "log"
    log.touch()

    def asked(*pairs: str) -> tuple[str, list[str]]:
        environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "LOG": str(log)}
        found = subprocess.run(
            [ROOT / "infra" / "system-packages", *pairs], capture_output=True, text=True, check=True, env=environment
        )
        return found.stderr, log.read_text().splitlines()

    return asked


def test_what_is_there_is_not_installed(setup: Callable[..., tuple[str, list[str]]]) -> None:
    assert setup("sh=dash", "env=coreutils") == ("", [])


def test_all_that_is_missing_is_installed_in_one_step(setup: Callable[..., tuple[str, list[str]]]) -> None:
    said, installed = setup("sh=dash", "absent-command=first", "another-absent-command=second")
    assert said == "setup: installing first second\n"
    assert installed == ["installed first second"]


def test_a_package_that_the_distribution_lacks_keeps_no_other_away(
    setup: Callable[..., tuple[str, list[str]]],
) -> None:
    said, installed = setup("absent-command=first", "absent-browser=unknown-browser", "another-absent-command=second")
    assert installed == ["installed first", "installed second"]
    assert "E: Unable to locate package unknown-browser\n" in said
    assert said.endswith("setup: could not install unknown-browser; parts that need them are skipped and say so\n")
