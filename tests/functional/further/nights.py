"""Runs of the `hallmark` command itself, and what they leave behind."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from evidence.model import Absent, Dossier, Observed, Reason
from evidence.store import blobs
from tests.functional.further.mixed_world import Town
from tests.functional.processes import environment, opened
from tests.servers import preloaded

COMMAND = [str(Path(sys.executable).parent / "hallmark")]


@dataclass
class Home:
    """One installation: its home folder, its settings, and everything that it ever said."""

    folder: Path
    town: Town
    changes: dict[str, str] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def url(self) -> str:
        return f"sqlite:///{self.folder / 'hallmark.db'}"

    def environment(self) -> dict[str, str]:
        return environment(self.folder, **{**self.town.settings, "HALLMARK_LOG_LEVEL": "debug", **self.changes})

    def hallmark(self, *arguments: str, code: int | None = 0) -> str:
        """What a command prints; its exit code must be as expected."""
        done = preloaded.run(
            [*COMMAND, *arguments], env=self.environment(), cwd=self.folder, capture_output=True, text=True, timeout=300
        )
        self.said += [done.stdout, done.stderr]
        assert code is None or done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """A command in a process group of its own, so that it can be interrupted as a terminal does."""
        return preloaded.Popen(
            [*COMMAND, *arguments], env=self.environment(), cwd=self.folder, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def interrupt(self, process: subprocess.Popen[str]) -> None:
        """Ctrl-C, and wait for the end."""
        os.killpg(process.pid, signal.SIGINT)
        self.said += process.communicate(timeout=300)

    def night(self, *arguments: str, code: int | None = 0) -> Night:
        """A whole run, and what it left."""
        self.hallmark("run", "--fresh", "--json", *arguments, code=code)
        return self.newest()

    def newest(self) -> Night:
        """What the newest run left."""
        with opened(self.url) as store:
            assert store.verify() == []
            run = store.list_runs(1)[0].run.id
            ids = store.list_planned_servers(run)
            dossiers = {_name(one): one for one in store.read_dossiers(run, ids)}
            read = store.read_scorecards(run, rubric="adaptive", version=1)
            cards = {card.server: json.loads(card.body) for card in read}
            return Night(
                run, dossiers, {name: cards[one.server.id] for name, one in dossiers.items() if one.server.id in cards}
            )


@dataclass(frozen=True)
class Night:
    """Dossiers and scorecards of `adaptive@1`, by the last part of a server's name."""

    run: str
    dossiers: dict[str, Dossier]
    cards: dict[str, Any]

    def body(self, server: str, kind: str) -> Any:
        content = self.dossiers[server].read(kind)
        assert isinstance(content, Observed), f"{server} {kind}: {content}"
        return json.loads(content.body)

    def absence(self, server: str, kind: str) -> Absent:
        content = self.dossiers[server].read(kind)
        assert isinstance(content, Absent), f"{server} {kind}: {content.body[:300]!r}"
        return content

    def reasons(self) -> set[Reason]:
        """Why anything is absent."""
        contents = [one.content for dossier in self.dossiers.values() for one in dossier.records.values()]
        return {content.reason for content in contents if isinstance(content, Absent)}

    def kinds_absent_for(self, reason: Reason) -> set[str]:
        """The kinds of which at least one record is absent for a reason."""
        records = [one for dossier in self.dossiers.values() for one in dossier.records.values()]
        return {one.kind for one in records if isinstance(one.content, Absent) and one.content.reason is reason}

    def components(self, server: str) -> dict[str, Decimal]:
        """Results of what was measured of a server, by `dimension.component`."""
        return {
            f"{part['name']}.{one['name']}": Decimal(one["result"])
            for part in self.cards[server]["dimensions"]
            for one in part["components"]
            if isinstance(one["result"], str)
        }

    def measured(self, server: str) -> set[str]:
        """Which components were measured."""
        return set(self.components(server))

    def cites(self, server: str, rule: str) -> bool:
        """Whether any part of the receipt rests on a finding of this rule."""
        return f'"{rule}"' in json.dumps(self.cards[server])

    def score(self, server: str) -> Decimal:
        return Decimal(self.cards[server]["score"])

    def coverage(self, server: str) -> Decimal:
        return Decimal(self.cards[server]["coverage"])


def everything(home: Home, *folders: Path) -> Iterator[tuple[str, bytes]]:
    """All that an installation keeps and said: every column of its databases, blobs unpacked, files, and output."""
    for path in (path for top in (home.folder, *folders) for path in top.rglob("*") if path.is_file()):
        yield path.name, path.read_bytes()
    with closing(sqlite3.connect(home.folder / "hallmark.db")) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in names:
            cursor = connection.execute(f'SELECT * FROM "{table}"')
            columns = [column[0] for column in cursor.description]
            for number, row in enumerate(cursor):
                value = dict(zip(columns, row, strict=True))
                for column, cell in value.items():
                    data = cell if isinstance(cell, bytes) else str(cell).encode()
                    if (table, column) == ("evidence_blob", "body"):
                        data = blobs.decompress_body(value["codec"], value["size"], data, name=str(number))
                    yield f"{table}.{column}.{number}", data
    for number, text in enumerate(home.said):
        yield f"said.{number}", text.encode()


def _name(dossier: Dossier) -> str:
    return dossier.server.name.rpartition("/")[2]
