"""A Parquet file that is small on disk and large in memory does no harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from publish.datasets.format.tables import TABLES_BY_NAME
from publish.datasets.snapshot.reader import UnreadableFile
from publish.datasets.verification import confined_processes
from publish.datasets.verification.parquet_rows import BATCH_LIMIT, ParquetRows, find_unreadable_tables, read_to_end
from tests.publish.datasets.bombs import dictionary_bomb


def test_rows_that_unpack_to_too_much_are_not_kept(tmp_path: Path) -> None:
    bomb = dictionary_bomb("lines", BATCH_LIMIT // 400, 500)
    assert len(bomb) < 2**16
    (tmp_path / "lines.parquet").write_bytes(bomb)
    with pytest.raises(UnreadableFile, match=f"at most {BATCH_LIMIT} bytes"):
        read_to_end(tmp_path, "lines", comparable=False)


def test_a_table_that_takes_too_much_memory_is_reported_by_its_reading_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined_processes, "MEMORY_LIMIT", 2**29)
    bomb = dictionary_bomb("bodies", 2**22, 500)
    assert len(bomb) < 2**16
    (tmp_path / "bodies.parquet").write_bytes(bomb)
    (tmp_path / "lines.parquet").write_bytes(dictionary_bomb("lines", 10, 500))
    tables = [TABLES_BY_NAME[name] for name in ("servers", "bodies", "lines")]
    assert find_unreadable_tables(tmp_path, tables, comparable=False) == {
        "bodies": "reading it takes more memory than it may have"
    }


def test_columns_of_no_table_of_ours_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "bodies.parquet").write_bytes(dictionary_bomb("lines", BATCH_LIMIT, 500))
    rows = ParquetRows(tmp_path, TABLES_BY_NAME["bodies"], comparable=False)
    assert not rows.is_of_table
    assert list(rows) == []
    rows.close()
