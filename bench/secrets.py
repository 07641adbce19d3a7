"""Speed of the secret scan on real text, one core, beside detect-secrets in the same run.

    python -m bench.secrets [--tree DIR] [--megabytes N] [--rules FILE.toml] [--peer PYTHON] [--json FILE]

The tree is the interpreter's site-packages unless one is given. For the peer, make a virtual environment of its own and
name its interpreter:

    python -m venv DIR && DIR/bin/pip install detect-secrets==1.5.0
    python -m bench.secrets --peer DIR/bin/python

The peer gets the first part of the same files, since it is a hundred times slower; its default plugins run on each.
Rates are of CPU time of the process, without what is compiled once, which is given by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sysconfig
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from evidence.derive.secrets import Finding, RuleSet, Scanner, build_own_rules, load_rules
from evidence.derive.secrets.prefilter import is_hyperscan_installed

SALT = b"bench"
TEXTS = frozenset(
    ".py .pyi .js .ts .json .md .txt .yml .yaml .toml .cfg .rst .html .c .h".split()  # noqa: SIM905  reads better
)
PEER = """
import sys, time
from detect_secrets import SecretsCollection
from detect_secrets.settings import default_settings
paths, collection = sys.stdin.read().splitlines(), SecretsCollection()
started = time.process_time()
with default_settings():
    for path in paths:
        collection.scan_file(path)
print(time.process_time() - started)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, default=Path(sysconfig.get_path("purelib")))
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--rules", type=Path)
    parser.add_argument("--peer")
    parser.add_argument("--peer-megabytes", type=float, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    files = read(options.tree, options.megabytes * 1e6)
    result: dict[str, object] = {"files": len(files), "megabytes": round(size(files) / 1e6, 1)}
    result["load"] = round(os.getloadavg()[0], 1)
    result |= measure("own", build_own_rules(), files)
    if options.rules:
        result |= measure("rule_file", load_rules(options.rules.read_text()), files)
    if options.peer:
        result |= beside(options.peer, read(options.tree, options.peer_megabytes * 1e6))
    for name, value in result.items():
        print(f"{name:36} {value}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def read(tree: Path, most: float) -> list[tuple[Path, bytes]]:
    """Text files in the order of their paths, up to so many bytes."""
    files, total = [], 0
    for path in sorted(tree.rglob("*")):
        if path.suffix in TEXTS and path.is_file() and total < most:
            text = path.read_bytes()
            files.append((path, text))
            total += len(text)
    return files


def size(files: Sequence[tuple[Path, bytes]]) -> int:
    return sum(len(text) for _, text in files)


def measure(name: str, rules: RuleSet, files: Sequence[tuple[Path, bytes]]) -> dict[str, object]:
    """Megabytes per second of CPU time with google-re2 alone, and with hyperscan before it where that is installed."""
    result: dict[str, object] = {}
    found: dict[bool, list[Finding]] = {}
    for fast in (False, True) if is_hyperscan_installed() else (False,):
        engine = "hyperscan" if fast else "re2"
        scanner = Scanner(rules, fast=fast)
        started = time.process_time()
        scanner.scan("a", "a", salt=SALT)  # compiles
        compiled = time.process_time()
        found[fast] = [finding for path, text in files for finding in scanner.scan(text, path.name, salt=SALT)]
        result[f"{name}_{engine}_compile_s"] = round(compiled - started, 2)
        result[f"{name}_{engine}_mb_per_s"] = round(size(files) / 1e6 / (time.process_time() - compiled), 1)
    result[f"{name}_findings"] = dict(Counter(finding.pattern for finding in found[False]).most_common())
    result[f"{name}_same_findings"] = all(one == found[False] for one in found.values())
    return result


def beside(python: str, files: Sequence[tuple[Path, bytes]]) -> dict[str, object]:
    """The peer on some of the files."""
    paths = "\n".join(str(path) for path, _ in files)
    done = subprocess.run([python, "-c", PEER], input=paths, capture_output=True, text=True, check=True)
    rate = round(size(files) / 1e6 / float(done.stdout), 2)
    return {"peer_megabytes": round(size(files) / 1e6, 2), "detect_secrets_mb_per_s": rate}


if __name__ == "__main__":
    main()
