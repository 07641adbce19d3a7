"""Findings of the secret scan in popular packages, which hold no secret that counts: each is judged by hand.

    python -m bench.secret_corpus DIR [--places]

The packages of `secret_corpus.json` are downloaded into DIR by npm and pip, from the indexes that they are configured
for, in the pinned version, and refused when their SHA-256 differs. `--places` prints the place and the masked context
of each finding for the judgement.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from crawler.archives import ArchiveWalk
from crawler.collectors.source.file_tree import FileTree
from evidence.derive.secrets import Finding, Scanner, build_own_rules
from evidence.derive.secrets.file_scan import decode_file

_PIP = (sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:")
PACKAGES = Path(__file__).with_suffix(".json")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--places", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    scanner = Scanner(build_own_rules())
    total: Counter[str] = Counter()
    print("| package | files | MB | counting | generic | sequence | in tests, examples, documents, vendored |")
    print("|---|---|---|---|---|---|---|")
    for row in json.loads(PACKAGES.read_text()):
        counts: Counter[str] = Counter()
        for finding in scan(download(row, options.folder), scanner, counts):
            counts[str(finding.discount or "counting")] += 1
            if options.places:
                print(f"{finding.path}:{finding.line} {finding.pattern} {finding.discount}: {finding.context}")
        print(show(f"{row['name']} {row['version']}", counts))
        total += counts
    print(show("all", total))


def download(row: dict[str, str], folder: Path) -> Path:
    """The archive of a package; end the run when it is not the pinned one."""
    path = folder / row["file"]
    if not path.exists():
        name, version = row["name"], row["version"]
        command = {
            "npm": ["npm", "pack", "--silent", "--pack-destination", str(folder), f"{name}@{version}"],
            "PyPI": [*_PIP, "-d", str(folder), f"{name}=={version}"],
        }[row["index"]]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    if hashlib.sha256(path.read_bytes()).hexdigest() != row["sha256"]:
        raise SystemExit(f"{path.name} is not the package that was judged")
    return path


def scan(path: Path, scanner: Scanner, counts: Counter[str]) -> Iterator[Finding]:
    tree = FileTree("")
    with path.open("rb") as file:
        for member in ArchiveWalk(file, tree.max_bytes, strip=path.suffix == ".tgz"):
            for name, data in tree.observe(member):
                counts["files"] += 1
                counts["bytes"] += len(data)
                yield from scanner.scan(decode_file(data) or b"", name, salt=b"bench")


def show(name: str, counts: Counter[str]) -> str:
    elsewhere = sum(counts[reason] for reason in ("test", "example", "documentation", "vendored", "public by design"))
    size = f"{counts['bytes'] / 1e6:.1f}"
    cells = (counts["files"], size, counts["counting"], counts["generic"], counts["sequence"], elsewhere)
    return f"| {name} | " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    main()
