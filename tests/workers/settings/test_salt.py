"""The salt is of the installation: random once, and then the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.settings.salt import SALT_FILE, InvalidSalt, read_secret_salt


def test_it_is_random_and_then_the_same_every_night(tmp_path: Path) -> None:
    salt = read_secret_salt(tmp_path / "home", "")
    assert len(salt) == 64 and read_secret_salt(tmp_path / "home", "") == salt != read_secret_salt(
        tmp_path / "other", ""
    )


def test_only_its_owner_can_read_it_and_nothing_else_is_left(tmp_path: Path) -> None:
    read_secret_salt(tmp_path, "")
    assert (tmp_path / SALT_FILE).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [SALT_FILE]


def test_the_setting_comes_first_and_makes_no_file(tmp_path: Path) -> None:
    assert read_secret_salt(tmp_path, "of a fleet") == b"of a fleet" and not (tmp_path / SALT_FILE).exists()


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / SALT_FILE).touch()
    with pytest.raises(InvalidSalt, match="remove the file"):
        read_secret_salt(tmp_path, "")
