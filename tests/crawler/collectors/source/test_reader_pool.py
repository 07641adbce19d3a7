"""Archives are read in a process that may die of them; what asked for it lives on, and nothing is left behind."""

from __future__ import annotations

import asyncio
import tempfile
import time
from typing import BinaryIO

import pytest

from crawler.collectors.source.reader_pool import ReaderBroken, ReaderLimits, ReaderPool
from crawler.collectors.source.reading_task import ReadingResult, ReadingTask
from evidence.model import Absent, Reason
from tests.crawler.archives.building import block, tarball
from tests.crawler.collectors.source.local_reading import archive
from tests.processes import children

TASK = ReadingTask(origin="npm", name="x", ref="1")


def held(data: bytes) -> BinaryIO:
    file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - read by another process
    file.write(data)
    file.flush()
    return file


def test_readings_share_a_process_and_may_share_an_archive() -> None:
    async def run() -> None:
        before = children()
        readers = ReaderPool(salt=b"s", limits=ReaderLimits(slots=2))
        file = held(archive({f"f{at}.py": f"x = {at}" for at in range(300)}))
        found = await asyncio.gather(*(readers.read_archive(file, TASK) for _ in range(4)))
        assert [one.source["files"] for one in found if isinstance(one, ReadingResult)] == [300] * 4
        assert len(children() - before) in {1, 2}
        await readers.close()
        assert children() <= before

    asyncio.run(run())


def test_what_is_no_archive_is_said() -> None:
    async def run() -> None:
        readers = ReaderPool(salt=b"s")
        for data, why in (
            (b"", "not a tar.gz"),
            (b"x" * 999, "not a tar.gz"),
            (tarball(block(b"a")), "outside|no file"),
        ):
            found = await readers.read_archive(held(data), TASK)
            assert isinstance(found, Absent)
            assert found.reason is Reason.INSTALL_FAILED
            assert any(part in found.detail for part in why.split("|"))
        assert isinstance(await readers.read_archive(held(archive({"a": "1"})), TASK), ReadingResult)
        await readers.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("limits", "reason", "why"),
    [
        pytest.param(
            ReaderLimits(cpu=1, slots=1), Reason.TOO_LARGE, "1 seconds of processor time", marks=pytest.mark.soak
        ),
        (ReaderLimits(wall=0.5, slots=1), Reason.TIMEOUT, "0.5 seconds"),
    ],
    ids=["processor", "wall"],
)
def test_a_reading_that_takes_too_long_ends_and_the_next_one_works(
    limits: ReaderLimits, reason: Reason, why: str
) -> None:
    async def run() -> None:
        before = children()
        readers = ReaderPool(salt=b"s", limits=limits)
        await readers.read_archive(held(archive({"a": "1"})), TASK)
        (reader,) = children() - before
        started = time.perf_counter()
        # A text on which the parser of scripts spends ten seconds a megabyte.
        slow = "registerTool" + "'" * 1_900_000
        found = await readers.read_archive(held(archive({f"{at}.js": slow for at in range(3)})), TASK)
        assert isinstance(found, Absent)
        assert (found.reason, why in found.detail) == (reason, True)
        assert time.perf_counter() - started < 15
        assert reader not in children()
        assert isinstance(await readers.read_archive(held(archive({"a": "1"})), TASK), ReadingResult)
        await readers.close()

    asyncio.run(run())


@pytest.mark.soak
def test_a_reading_that_needs_too_much_memory_ends() -> None:
    async def run() -> None:
        readers = ReaderPool(salt=b"s", limits=ReaderLimits(memory=700))
        text = "import mcp # tool\n" + "a;" * 240_000
        found = await readers.read_archive(held(archive({f"f{at}.py": text for at in range(9)})), TASK)
        assert isinstance(found, (Absent, ReadingResult))
        assert isinstance(await readers.read_archive(held(archive({"a": "1"})), TASK), ReadingResult)
        await readers.close()

    asyncio.run(run())


def test_a_reading_that_is_given_up_leaves_no_process() -> None:
    async def run() -> None:
        before = children()
        readers = ReaderPool(salt=b"s", limits=ReaderLimits(slots=1))
        await readers.read_archive(held(archive({"a": "1"})), TASK)
        assert len(children() - before) == 1
        slow = held(archive({f"{at}.js": "registerTool" + "'" * 1_900_000 for at in range(9)}))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await readers.read_archive(slow, TASK)
        assert children() <= before
        assert isinstance(await readers.read_archive(held(archive({"a": "1"})), TASK), ReadingResult)
        await readers.close()
        assert children() <= before

    asyncio.run(run())


def test_a_process_that_cannot_start_is_our_own_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> None:
        with pytest.raises(ReaderBroken, match="expected a process"):
            await ReaderPool(salt=b"s").read_archive(held(archive({"a": "1"})), TASK)

    monkeypatch.setattr("crawler.collectors.source.reader_pool.sys.executable", "/bin/false")
    asyncio.run(run())


def test_other_rules_are_followed() -> None:
    async def run() -> None:
        readers = ReaderPool(salt=b"s", rules='[[rules]]\nid = "acme"\nregex = "acme-[0-9]{6}"\n')
        found = await readers.read_archive(held(archive({"a.py": "k = 'acme-739182'"})), TASK)
        assert isinstance(found, ReadingResult)
        assert [one["pattern"] for one in found.secrets["findings"]] == ["acme"]  # type: ignore[index,union-attr,call-overload]
        await readers.close()

    asyncio.run(run())
