"""Speed of the secret scan on real text, one core, beside detect-secrets in the same run where it is installed.

    python -m bench.secrets [--tree DIR] [--megabytes N] [--peer-megabytes N] [--rules FILE.toml] [--json FILE]

The tree is the interpreter's site-packages unless one is given. The peer gets the first part of the same files, since
it is a hundred times slower; its default plugins run in this process, file by file.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sysconfig
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from evidence.derive.secrets import Scanner, load, own_rules

SALT = b"bench"
TEXTS = (
    ".py",
    ".pyi",
    ".js",
    ".ts",
    ".json",
    ".md",
    ".txt",
    ".yml",
    ".yaml",
    ".toml",
    ".cfg",
    ".rst",
    ".html",
    ".c",
    ".h",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, default=Path(sysconfig.get_path("purelib")))
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--peer-megabytes", type=float, default=1)
    parser.add_argument("--rules", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    files = read(options.tree, options.megabytes * 1e6)
    result = measure(files, options.rules, options.peer_megabytes * 1e6)
    for name, value in result.items():
        print(f"{name:36} {value}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def read(tree: Path, most: float) -> list[tuple[Path, str]]:
    """Text files in the order of their paths, up to so many bytes."""
    files, size = [], 0
    for path in sorted(tree.rglob("*")):
        if path.suffix in TEXTS and path.is_file() and size < most:
            text = path.read_text(errors="replace")
            files.append((path, text))
            size += len(text.encode("utf-8", "replace"))
    return files


def measure(files: Sequence[tuple[Path, str]], rules: Path | None, peer_most: float) -> dict[str, object]:
    size = sum(len(text.encode("utf-8", "replace")) for _, text in files)
    scanner = Scanner(own_rules())
    found: Counter[str] = Counter()

    def ours() -> None:
        for path, text in files:
            found.update(finding.pattern for finding in scanner.scan(text, path.name, salt=SALT))

    result: dict[str, object] = {"files": len(files), "megabytes": round(size / 1e6, 1)}
    result["own_mb_per_s"] = speed(ours, size)
    result["own_findings"] = dict(found.most_common())
    if rules:
        theirs = Scanner(load(rules.read_text()))
        result["rule_file_mb_per_s"] = speed(
            lambda: [theirs.scan(text, path.name, salt=SALT) for path, text in files] and None, size
        )
    if importlib.util.find_spec("detect_secrets"):
        part, part_size = [], 0
        for path, text in files:
            if part_size < peer_most:
                part.append(path)
                part_size += len(text.encode("utf-8", "replace"))
        result["peer_megabytes"] = round(part_size / 1e6, 2)
        result["detect_secrets_mb_per_s"] = speed(lambda: detect(part), part_size)
    return result


def detect(paths: Sequence[Path]) -> None:
    from detect_secrets import SecretsCollection  # noqa: PLC0415  optional
    from detect_secrets.settings import default_settings  # noqa: PLC0415

    collection = SecretsCollection()
    with default_settings():
        for path in paths:
            collection.scan_file(str(path))


def speed(work: Callable[[], object], size: int) -> float:
    """Megabytes per second of CPU time of this process."""
    started = time.process_time()
    work()
    return round(size / 1e6 / (time.process_time() - started), 2)


if __name__ == "__main__":
    main()
