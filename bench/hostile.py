"""What hostile answers cost: `python -m bench.hostile [--json FILE]`.

Each runs in a fresh process: a server that never stops and one core probe of it, every guard on. Printed are the
seconds until the probe ended, CPU, and the growth of the peak resident memory against the limit, which is what may be
read (4 MiB on the wire and 8 MiB inflated) and 32 MiB. The server runs in the same process, so its own share is in all
three. The last row is the SDK's client on the first bomb, stopped after 30 seconds or at 3 GiB.
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
SDK = """
import asyncio, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
from mcp import Client
from tests.crawler.wire.bombing import BOMBS, peak
from tests.servers.hostile import serving

async def main():
    async with serving(BOMBS[sys.argv[1]]()) as url:
        before = peak()
        try:
            async with asyncio.timeout(30), Client(url) as client:
                await client.list_tools()
        except BaseException:
            pass
        sys.stdout.write(str(peak() - before))

asyncio.run(main())
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    ours = [
        _timed(name, [sys.executable, "-m", "tests.crawler.wire.bombing", name]) for name in (*BOMBS, "endless_line")
    ]
    rows = [*ours, _timed("sdk: gzip_bomb", [sys.executable, "-c", SDK, "gzip_bomb"])]
    for row in rows:
        print(f"{row['what']:28} {row['seconds']:6.1f} s  {row['mib']:7.1f} MiB  {row['share']:6.1%} of the limit")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


def _timed(what: str, command: list[str]) -> dict[str, Any]:
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    kib = int(done.stdout or 0)
    return {"what": what, "seconds": time.perf_counter() - began, "mib": kib / 1024, "share": kib / LIMIT_KIB}


if __name__ == "__main__":
    main()
