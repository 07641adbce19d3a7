"""Which system packages `make` installs, with a package manager that notes what it is asked for."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

APT_GET = """#!/bin/sh
echo "$*" >>"$LOG"
case "$*" in *broken*) [ "$1" = update ] || exit 100 ;; esac
"""
APT_CACHE = """#!/bin/sh
case "$2" in unknown*) exit 100 ;; esac
"""


@pytest.fixture
def setup(tmp_path: Path) -> Callable[..., tuple[str, list[str]]]:
    """Ask for packages as root; what is said, and what the package manager was asked for, but for its lists."""
    for name, script in {"apt-get": APT_GET, "apt-cache": APT_CACHE, "id": "#!/bin/sh\necho 0\n"}.items():
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o755)
    log = tmp_path / "log"
    log.touch()

    def asked(*pairs: str) -> tuple[str, list[str]]:
        environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "LOG": str(log)}
        found = subprocess.run(
            [ROOT / "infra" / "system-packages", *pairs], capture_output=True, text=True, check=True, env=environment
        )
        lines = [line for line in log.read_text().splitlines() if not line.startswith("update")]
        return found.stderr, [line.removeprefix("install -y -qq --no-install-recommends ") for line in lines]

    return asked


def test_what_is_there_is_not_installed(setup: Callable[..., tuple[str, list[str]]]) -> None:
    assert setup("sh=dash", "env=coreutils") == ("", [])


def test_all_that_is_missing_is_installed_in_one_step(setup: Callable[..., tuple[str, list[str]]]) -> None:
    said, installed = setup("sh=dash", "absent-command=first", "another-absent-command=second")
    assert said == "setup: installing first second\n"
    assert installed == ["first second"]


def test_a_package_that_the_distribution_lacks_keeps_no_other_away(
    setup: Callable[..., tuple[str, list[str]]],
) -> None:
    said, installed = setup("absent-command=first", "absent-browser=unknown-browser", "another-absent-command=second")
    assert installed == ["first second"]
    assert said.splitlines() == [
        "setup: installing first second",
        "setup: could not install unknown-browser; parts that need them are skipped and say so",
    ]


def test_what_the_distribution_lacks_is_not_asked_for(
    setup: Callable[..., tuple[str, list[str]]],
) -> None:
    said, installed = setup("absent-browser=unknown-browser")
    assert installed == []
    assert "could not install unknown-browser" in said


def test_what_cannot_be_installed_is_tried_with_new_lists_and_then_named(
    setup: Callable[..., tuple[str, list[str]]],
) -> None:
    said, installed = setup("absent-command=broken")
    assert installed == ["broken", "broken"]
    assert said.endswith("setup: could not install broken; parts that need them are skipped and say so\n")
