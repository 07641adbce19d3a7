"""Speed of reading archives, beside plain extraction of the same archive by the standard library in the same run.

    python -m bench.source [--tree DIR] [--megabytes N] [--files N] [--json FILE]

Three archives: text of a real tree, many small files, and one bomb. `walk` passes over all members and reads each;
`reading` is everything that the collector does, secrets included; `tarfile` unpacks to a temporary folder.
"""

from __future__ import annotations

import argparse
import io
import json
import sysconfig
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from crawler.archives import ArchiveWalk
from crawler.collectors.source.archive_reader import read_archive
from crawler.collectors.source.reading_task import ReadingTask
from evidence.derive.secrets import Scanner, build_own_rules

TEXTS = (".py", ".pyi", ".js", ".ts", ".json", ".md", ".txt", ".yml", ".yaml", ".toml", ".cfg", ".rst")
TASK = ReadingTask(origin="npm", name="bench", ref="1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, default=Path(sysconfig.get_path("purelib")))
    parser.add_argument("--megabytes", type=float, default=40)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    scanner = Scanner(build_own_rules())
    result: dict[str, float] = {}
    for name, members in (
        ("text", list(texts(options.tree, options.megabytes * 1e6))),
        ("small", [(f"src/{at // 500}/f{at}.py", b"x = 1\n") for at in range(options.files)]),
    ):
        data = archive(members)
        size, count = sum(len(content) for _, content in members), len(members)
        for how, run in (
            ("tarfile", unpack),
            ("walk", walk),
            ("reading", lambda one: read_archive(one, TASK, scanner, b"bench")),
        ):
            seconds = timed(run, data)
            result |= {
                f"{name}_{how}_mb_s": round(size / 1e6 / seconds, 1),
                f"{name}_{how}_files_s": round(count / seconds),
            }
    result["bomb_1_gb_walk_s"] = round(timed(walk, archive([("zeros", bytes(1_000_000_000))])), 2)
    for key, value in result.items():
        print(f"{key:28} {value:>12,}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def texts(tree: Path, most: float) -> Iterator[tuple[str, bytes]]:
    """Text files in the order of their paths, up to so many bytes."""
    size = 0.0
    for path in sorted(path for path in tree.rglob("*") if path.suffix in TEXTS and path.is_file()):
        data = path.read_bytes()
        size += len(data)
        if size > most:
            return
        yield path.relative_to(tree).as_posix(), data


def archive(members: list[tuple[str, bytes]]) -> bytes:
    """A tarball with the members in one folder."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=6) as tar:
        for name, content in members:
            info = tarfile.TarInfo(f"top/{name}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def timed(run: Callable[[io.BytesIO], object], data: bytes) -> float:
    started = time.perf_counter()
    run(io.BytesIO(data))
    return time.perf_counter() - started


def unpack(file: io.BytesIO) -> None:
    """The common way: unpack everything to a disk."""
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=file, mode="r:gz") as tar:
        tar.extractall(folder, filter="data")


def walk(file: io.BytesIO) -> None:
    """Every member of at most 8 MB read once."""
    for _ in ArchiveWalk(file, lambda _: 8_000_000, strip=1):
        pass


if __name__ == "__main__":
    main()
