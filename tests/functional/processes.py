"""Embedded runs and Celery processes under test, and how to wait for what they do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

from evidence.store import NotMigrated, Store, StoreUnavailable, open_store
from publish.publication import run_export
from tests.servers import preloaded

CELERY = (sys.executable, "-m", "celery", "-A", "workers.celery_app")
ROOT = Path(__file__).resolve().parents[2]
CLOCK = "2026-11-21T12:00:00Z"
NIGHTLY = "20261121T030000Z-nightly"
PATIENCE = 500.0  # only against hanging: other things may run on this machine


def environment(home: Path, **changes: str) -> dict[str, str]:
    """The environment of a process under test: nothing of ours but the path, everything quick."""
    known = {
        "HALLMARK_HOME": str(home),
        "HALLMARK_CACHE": str(home / "cache"),
        "HALLMARK_CLOCK": CLOCK,
        "HALLMARK_COMMIT": "test",
        "HALLMARK_ALLOW_PRIVATE": "true",
        "HALLMARK_SANDBOX": "off",
        "HALLMARK_DEPTH": "core",  # the default lets a nightly run wait with first full probes, and no local one
        "HALLMARK_SOURCES": "[]",  # the other sources are out of reach here
        "HALLMARK_LOG_FORMAT": "json",
        "HALLMARK_RETRY_PAUSE": "0.05",
        "HALLMARK_WRITE_BATCH": "4",
        "HALLMARK_IN_FLIGHT": "8",
    }
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": str(ROOT)} | known | changes


@dataclass
class Embedded:
    """One home folder and the embedded runs in it."""

    home: Path
    source: str
    changes: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        return f"sqlite:///{self.home / 'hallmark.db'}"

    def start(self) -> subprocess.Popen[str]:
        """Start a run and return when it says that it has begun."""
        command = [sys.executable, "-m", "tests.functional.embedded_process", self.source]
        process = preloaded.Popen(
            command,
            env=environment(self.home, **self.changes),
            cwd=self.home,
            stdout=subprocess.PIPE,
            stderr=(self.home / "run.log").open("a"),
            text=True,
        )
        assert process.stdout is not None
        first = process.stdout.readline()
        assert first == "started\n", self.log()
        return process

    def finish(self, patience: float = PATIENCE) -> dict[str, Any]:
        """Run to the end, within so many seconds, and what the run says of itself."""
        process = self.start()
        said, _ = process.communicate(timeout=patience)
        assert process.returncode == 0, self.log()
        facts: dict[str, Any] = json.loads(said.splitlines()[-1])
        return facts

    def log(self) -> str:
        return (self.home / "run.log").read_text(errors="replace")[-4000:]


@contextmanager
def opened(url: str) -> Iterator[Store]:
    """A store of this process."""
    store = open_store(url)
    try:
        yield store
    finally:
        store.close()


def comparable(url: str, run_id: str | None = None) -> bytes:
    """The comparable export of a run (the newest one by default), after checking every digest of the store."""
    with opened(url) as store:
        assert store.verify() == []
        out = BytesIO()
        run_export.export_run(store, run_id or store.list_runs(1)[0].run.id, out, format="jsonl", comparable=True)
        return out.getvalue()


def differing(one: bytes, other: bytes) -> list[str]:
    """Which members of which servers differ between two exports, for a failure that can be read."""
    if one == other:
        return []
    ours, theirs = _by_server(one), _by_server(other)
    found = [f"{server}: only in one" for server in sorted(ours.keys() ^ theirs.keys())]
    for server in sorted(ours.keys() & theirs.keys()):
        left, right = ours[server], theirs[server]
        found += [f"{server} {key}: {left[key]} != {right[key]}" for key in left if left[key] != right.get(key)]
    return found or ["the same servers in another order or form"]


def _by_server(export: bytes) -> dict[str, dict[str, Any]]:
    lines = [json.loads(line) for line in export.splitlines()]
    return {line["server"]["id"]: line for line in lines}


def until(
    condition: Callable[[], bool], what: str, *, explain: Callable[[], str] = str, patience: float = PATIENCE
) -> None:
    """Ask other processes again and again until something is so; fail with the reason after `patience` seconds."""
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        with suppress(StoreUnavailable, NotMigrated):
            if condition():
                return
        time.sleep(0.1)
    raise AssertionError(f"not within {patience:.0f} s: {what}\n{explain()}")


class Process:
    """One process of a deployment in a process group of its own."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        env: Mapping[str, str],
        folder: Path,
        popen: type[subprocess.Popen[Any]] = subprocess.Popen,
    ) -> None:
        self.name = name
        self.log_file = folder / f"{name}.log"
        self._wanted = True
        with self.log_file.open("ab") as log:
            self._popen = popen(
                list(command),
                env=dict(env),
                cwd=folder,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return int(self._popen.pid)

    @property
    def crashed(self) -> bool:
        """True when it ended without a request to end."""
        return self._wanted and self._popen.poll() is not None

    def kill(self) -> None:
        """SIGKILL the process and its children at once, as a dying machine would."""
        self._wanted = False
        with suppress(ProcessLookupError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()

    @contextmanager
    def stalled(self) -> Iterator[None]:
        """Let the process and its children stand still."""
        with suppress(ProcessLookupError):
            os.killpg(self._popen.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self._popen.pid, signal.SIGCONT)

    def stop(self, patience: float) -> None:
        """Ask it to stop, as a deployment does, and wait for it."""
        self._wanted = False
        self._popen.terminate()
        self._popen.wait(patience)

    def log(self) -> str:
        return f"--- {self.name}\n{self.log_file.read_text(errors='replace')[-3000:]}"
