"""Speed and agreement of the advisory mirror on a folder in the layout of OSV's export.

    python -m bench.advisories EXPORT [--ecosystem NAME]... [--lock FILE]... [--recordings FILE.json.gz]
                               [--ordering FOLDER] [--json FILE]

`--lock` may be given several times; each is read and matched: `read_ms` is parsing the file, `first_ms` matching in a
process that has compared nothing yet, `warm_ms` the median of 20 more, each with a connection of its own, candidates,
comparisons, records of the hits, groups and the body. `--recordings` are exchanges with `/v1/querybatch`; ids that the
mirror does not hold are left out. `--ordering` holds files `<ecosystem>-*.txt` with lines `a < b`.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crawler.advisories.lookup import look_up_in_mirror
from crawler.advisories.mirror import Mirror
from crawler.advisories.mirror_database import open_for_reading
from crawler.advisories.mirror_refresh import Refresher
from crawler.advisories.osv_export import FolderExport
from crawler.advisories.version_order import OsvOrder
from evidence.advisories.evidence_body import build_body
from evidence.advisories.package_matching import Package, match_packages
from evidence.advisories.version_matching import SEMVER_ORDER, Unorderable
from evidence.kinds.advisories import Reach
from evidence.lockfiles import Lockfile, Source, UnknownVersion, find_format, parse_lockfile

ORDERS = {"maven": "Maven", "nuget": "NuGet", "packagist": "Packagist", "pypi": "PyPI", "rubygems": "RubyGems"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("export", type=Path)
    parser.add_argument("--ecosystem", action="append")
    parser.add_argument("--lock", type=Path, action="append", default=[])
    parser.add_argument("--recordings", type=Path)
    parser.add_argument("--ordering", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    result: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mirror.sqlite")
        result["load"] = load(options.export, path, options.ecosystem or ["PyPI", "npm", "Go", "crates.io"])
        result["locks"] = [match(path, lock) for lock in options.lock]
        result["dense"] = dense(path, 100)
        if options.recordings:
            result["recordings"] = agreement(path, options.recordings)
    if options.ordering:
        result["ordering"] = [ordering(file) for file in sorted(options.ordering.glob("*.txt"))]
    print(json.dumps(result, indent=1))
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def load(export: Path, path: Path, ecosystems: Sequence[str]) -> dict[str, Any]:
    """The first refresh, and one more that finds nothing new."""
    refresher = Refresher(FolderExport(export), path, lambda: datetime.now(UTC))
    started = time.perf_counter()
    done = asyncio.run(refresher.refresh(ecosystems))
    seconds = time.perf_counter() - started
    started = time.perf_counter()
    asyncio.run(refresher.refresh(ecosystems))
    return {
        "seconds": round(seconds, 2),
        "again_seconds": round(time.perf_counter() - started, 3),
        "records": {one.ecosystem: one.written for one in done},
        "bad": sum(len(one.bad) for one in done),
        "megabytes": round(path.stat().st_size / 1e6, 1),
    }


def match(path: Path, lock: Path) -> dict[str, Any]:
    form = find_format(lock.name)
    assert form is not None, lock.name
    started = time.perf_counter()
    found = parse_lockfile(form, lock.read_bytes())
    read = time.perf_counter() - started
    assert isinstance(found, Lockfile), found
    packages = [
        Package(
            ecosystem=item.ecosystem.value,
            name=item.name,
            version=item.version,
            relation=Reach.DIRECT,
            scopes=frozenset(scope.value for scope in item.scopes),
        )
        for item in found.dependencies
        if item.source is Source.REGISTRY and not isinstance(item.version, UnknownVersion)
    ]
    return {"format": form.id, "read_ms": round(1000 * read, 1), **timed(path, packages)}


def dense(path: Path, count: int) -> dict[str, Any]:
    """The worst there is: only packages with advisories, each in the middle of the versions that are listed first."""
    with open_for_reading(path) as connection:
        assert connection is not None
        rows = connection.execute("SELECT name, parts FROM affected WHERE ecosystem = 'PyPI' ORDER BY name").fetchall()
    listed: dict[str, list[str]] = {}
    for name, parts in rows:
        if versions := json.loads(parts)[0][0]:
            listed.setdefault(name, versions)
    chosen = list(listed.items())[:count]
    return timed(path, [Package(ecosystem="PyPI", name=name, version=found[len(found) // 2]) for name, found in chosen])


def timed(path: Path, packages: Sequence[Package]) -> dict[str, Any]:
    times = []
    for _ in range(21):
        started = time.perf_counter()
        looked = look_up_in_mirror(Mirror(path), packages, OsvOrder())
        assert looked is not None
        build_body(checked=looked.checked, groups=looked.groups, unknown=looked.unknown, ecosystems=looked.ecosystems)
        times.append(1000 * (time.perf_counter() - started))
    return {
        "packages": len(packages),
        "checked": looked.checked,
        "flaws": len(looked.groups),
        "first_ms": round(times[0], 1),
        "warm_ms": round(statistics.median(times[1:]), 1),
    }


def agreement(path: Path, recordings: Path) -> dict[str, Any]:
    """Ids of the recordings against ours, by ecosystem; what is missing or extra is named."""
    counts: dict[str, Counter[str]] = {}
    missing: list[str] = []
    extra: Counter[str] = Counter()
    with open_for_reading(path) as connection, Mirror(path).snapshot() as snapshot:
        assert connection is not None and snapshot is not None
        held = set(connection.execute("SELECT ecosystem, id FROM record"))
        for recording in json.loads(gzip.decompress(recordings.read_bytes())):
            queries, results = recording["request"]["body"]["queries"], recording["response"]["body"].get("results", [])
            for query, result in zip(queries, results, strict=False):
                package = query.get("package") or {}
                ecosystem = package.get("ecosystem", "").partition(":")[0]
                if ecosystem not in snapshot.ecosystems or "version" not in query:
                    continue
                asked = Package(ecosystem=ecosystem, name=package["name"], version=query["version"])
                examined = match_packages([asked], snapshot.ecosystems, snapshot.candidates, OsvOrder())
                ours = {hit.id for hit in examined.hits}
                theirs = {row["id"] for row in result.get("vulns", [])}
                known = {name for name in theirs if (ecosystem, name) in held}
                count = counts.setdefault(ecosystem, Counter())
                count.update(queries=1, agree=len(ours & known), missing=len(known - ours), extra=len(ours - theirs))
                count.update(not_held=len(theirs - known), not_a_version=1 - examined.checked)
                missing += [f"{ecosystem} {asked.name} {asked.version} {name}" for name in sorted(known - ours)]
                extra.update(ours - theirs)
    return {"counts": {name: dict(count) for name, count in counts.items()}, "missing": missing, "extra": dict(extra)}


def ordering(file: Path) -> dict[str, Any]:
    """Lines `a < b`; what is no version on either side is refused and not compared."""
    order = ORDERS.get(file.name.partition("-")[0], SEMVER_ORDER)
    count: Counter[str] = Counter()
    wrong = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if len(parts := line.split()) != 3 or parts[1] not in {"<", ">", "="}:
            continue
        try:
            one, other = (OsvOrder().key(order, text) for text in (parts[0], parts[2]))
        except Unorderable:
            count["refused"] += 1
            continue
        holds = {"<": one < other, ">": other < one, "=": not one < other and not other < one}[parts[1]]
        count["right" if holds else "wrong"] += 1
        wrong += [] if holds else [line]
    return {"file": file.name, **count, "wrong_lines": wrong[:5]}


if __name__ == "__main__":
    main()
