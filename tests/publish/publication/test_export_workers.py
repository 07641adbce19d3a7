"""However many processes print a run, its pages are the same."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evidence.store import Store
from publish.publication import export_workers, manifest, run_export
from publish.publication.export_workers import ExportWorkerFailed, RunExporter, serve_worker
from publish.views import public_servers
from tests.publish import samples
from tests.servers import preloaded

SERVERS = 5 * public_servers.BATCH_SIZE // 2
FORMS = list(manifest.RUN_FILES.values())


@pytest.fixture
def store(make_store: Callable[..., Store]) -> Store:
    return make_store([*samples.dossiers(SERVERS), samples.hostile_dossier(), samples.unsandboxed_dossier()])


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/0.db"


def test_several_processes_print_what_one_prints(store: Store, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_workers, "SERVERS_PER_WORKER", 20)
    alone = list(run_export.export_batches(store, samples.RUN.id, FORMS))
    assert len(alone) == 3
    assert list(RunExporter(url, 2).export(store, samples.RUN.id, FORMS)) == alone


def test_a_small_run_needs_no_process(store: Store) -> None:
    pages = RunExporter("nowhere://", 8).export(store, samples.RUN.id, FORMS)
    assert sum(page.servers for page in pages) == SERVERS + 1


def test_a_process_that_fails_ends_the_printing(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_workers, "SERVERS_PER_WORKER", 20)
    with pytest.raises(ExportWorkerFailed, match="ended with 1"):
        list(RunExporter(f"sqlite:///{tmp_path}/missing.db", 2).export(store, samples.RUN.id, FORMS))


def test_what_is_not_read_is_not_printed(store: Store, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Giving up in the middle ends the processes, which wait with full pipes."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*args: Any, **options: Any) -> subprocess.Popen[bytes]:
        started.append(preloaded.Popen(*args, **options))
        return started[-1]

    monkeypatch.setattr(export_workers, "subprocess", SimpleNamespace(Popen=start, PIPE=subprocess.PIPE))
    monkeypatch.setattr(export_workers, "SERVERS_PER_WORKER", 20)
    pages = RunExporter(url, 2).export(store, samples.RUN.id, FORMS)
    next(pages)
    pages.close()  # type: ignore[attr-defined]
    assert [process.poll() is not None for process in started] == [True, True]


def test_shares_together_are_the_run(store: Store, url: str) -> None:
    whole = list(run_export.export_batches(store, samples.RUN.id, FORMS))
    shares = [
        list(run_export.export_batches(store, samples.RUN.id, FORMS, share=run_export.WorkerShare(n, 2)))
        for n in range(2)
    ]
    assert [shares[0][0], shares[1][0], shares[0][1]] == whole
    order = {"url": url, "run": samples.RUN.id, "forms": [{"format": "csv"}], "share": {"number": 1, "of": 2}}
    out = io.BytesIO()
    serve_worker(io.BytesIO(json.dumps(order).encode()), out)
    assert whole[1].parts[1] in out.getvalue()
    assert whole[0].parts[1] not in out.getvalue()
