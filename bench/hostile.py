"""The cost of hostile answers: `python -m bench.hostile [--json FILE]`.

Each attack runs in a new process: a server that never stops answering, and one core probe with all guards. Printed are
the seconds of the probe, and the growth of the peak resident memory relative to the limit: the bytes that may be read
(4 MiB on the wire and 8 MiB decompressed) plus 32 MiB. The server runs in the same process, so both include its share.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.crawler.wire.bombing import BOMBS

LIMIT_KIB = (4 + 8 + 32) * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = [_timed(name) for name in (*BOMBS, "endless_line")]
    for row in rows:
        print(f"{row['what']:28} {row['seconds']:6.1f} s  {row['mib']:7.1f} MiB  {row['share']:6.1%} of the limit")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


def _timed(name: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.crawler.wire.bombing", name]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    kib = int(done.stdout)
    return {"what": name, "seconds": time.perf_counter() - began, "mib": kib / 1024, "share": kib / LIMIT_KIB}


if __name__ == "__main__":
    main()
