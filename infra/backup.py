"""Back up the database of the settings, and restore it into an empty one: SQLite or PostgreSQL, while runs go on.

    python infra/backup.py save FOLDER [--keep 14]     python infra/backup.py restore FILE

PostgreSQL needs its own `pg_dump` and `pg_restore`, not older than the server. A restored database is migrated, and
every digest in it is recomputed before it is called restored.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.engine import URL, make_url

from evidence.store import StoreError, open_store
from workers.settings.environment import read_settings

SUFFIXES = {"sqlite": ".db", "postgresql": ".dump"}


def main(words: list[str] | None = None) -> int:
    """Save or restore; the exit status is 1 when it did not work, with the reason on stderr."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    saving = parts.add_parser("save", help="write a backup into a folder and print its path")
    saving.add_argument("folder", type=Path)
    saving.add_argument("--keep", type=int, default=0, help="delete all but the newest N of this kind (0: none)")
    restoring = parts.add_parser("restore", help="restore a backup into the empty database of the settings")
    restoring.add_argument("file", type=Path)
    options = parser.parse_args(words)
    url = make_url(read_settings().store_url)
    try:
        if options.part == "save":
            print(save_backup(url, options.folder, keep=options.keep))
            return 0
        return restore_backup(url, options.file)
    except (OSError, sqlite3.Error, StoreError, subprocess.CalledProcessError) as error:
        print(f"backup: {error}", file=sys.stderr)
        return 1


def save_backup(url: URL, folder: Path, *, keep: int) -> Path:
    """Write a complete backup or none, delete old ones, and return its path."""
    suffix = SUFFIXES[url.get_backend_name()]
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"hallmark-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}{suffix}"
    part = target.with_suffix(".part")
    try:
        _dump(url, part)
        part.rename(target)
    finally:
        part.unlink(missing_ok=True)
    kept = sorted(folder.glob(f"hallmark-*{suffix}"))
    for old in kept[: max(0, len(kept) - keep)] if keep else []:
        old.unlink()
    return target


def restore_backup(url: URL, file: Path) -> int:
    """Restore into an empty database and verify every digest; return the exit status."""
    _load(url, file)
    store = open_store(url.render_as_string(hide_password=False))
    try:
        store.migrate()
        wrong = store.verify()
    finally:
        store.close()
    for line in wrong:
        print(f"backup: {line}", file=sys.stderr)
    print(f"restored {file.name}: " + (f"{len(wrong)} things are wrong" if wrong else "every digest is right"))
    return 1 if wrong else 0


def _dump(url: URL, part: Path) -> None:
    if url.get_backend_name() != "sqlite":
        _run("pg_dump", url, "--format=custom", f"--file={part}")
        return
    if not Path(_file(url)).exists():
        raise FileNotFoundError(f"no database in {_file(url)}")
    # One snapshot, including the write-ahead log; writers are not blocked.
    with closing(sqlite3.connect(_file(url), timeout=60)) as connection:
        connection.execute("VACUUM INTO ?", (str(part),))


def _load(url: URL, file: Path) -> None:
    if url.get_backend_name() != "sqlite":
        # Fails when tables exist already, and then changes nothing.
        _run("pg_restore", url, "--single-transaction", "--exit-on-error", "--no-owner", str(file), into=True)
        return
    target = Path(_file(url))
    for there in (target, target.with_name(f"{target.name}-wal")):
        if there.exists():
            raise FileExistsError(f"{there} exists already; move it away first")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    shutil.copyfile(file, part)
    part.rename(target)


def _run(tool: str, url: URL, *arguments: str, into: bool = False) -> None:
    """Run a tool of PostgreSQL; the password goes by the environment, where other users cannot read it."""
    named = {"PGHOST": url.host, "PGPORT": url.port, "PGUSER": url.username, "PGPASSWORD": url.password}
    given = {name: str(value) for name, value in {**named, "PGDATABASE": url.database}.items() if value is not None}
    target = [f"--dbname={url.database}"] if into else []
    subprocess.run([tool, *target, *arguments], check=True, env={**os.environ, **given})


def _file(url: URL) -> str:
    if not url.database:
        raise FileNotFoundError("a database in memory cannot be saved")
    return url.database


if __name__ == "__main__":
    raise SystemExit(main())
