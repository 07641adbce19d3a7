"""Clients of a site: `python -m bench.site_load.clients` reads an order from standard input and writes figures.

Each connection requests random addresses of a list one after the other, as soon as it has its answer, or
after a pause of so many seconds on average. Not a client library: an event loop that spends its time in one measures
itself.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

_WORD: Final = b"content-length:"


@dataclass
class Seen:
    """The responses: seconds of each one, and their number by status."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    octets: int = 0


async def run(order: dict[str, Any]) -> dict[str, Any]:
    """Send requests for so many seconds; figures in milliseconds."""
    seen = Seen()
    ends = time.monotonic() + order["seconds"]
    dice = random.Random(order["seed"])
    clients = (_client(order, seen, ends, random.Random(dice.random())) for _ in range(order["clients"]))
    began = time.monotonic()
    await asyncio.gather(*clients)
    return _figures(seen, time.monotonic() - began)


async def _client(order: dict[str, Any], seen: Seen, ends: float, dice: random.Random) -> None:
    port, pause, paths = order["port"], order["pause"], order["paths"]
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**22)
    while True:
        if pause:
            await asyncio.sleep(dice.expovariate(1 / pause))
        if (began := time.monotonic()) >= ends:
            break
        path = dice.choice(paths)
        writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept-Encoding: gzip\r\n\r\n".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        seen.octets += await _body(reader, head)
        seen.seconds.append(time.monotonic() - began)
        seen.statuses[int(head[9:12])] += 1
    writer.close()


async def _body(reader: asyncio.StreamReader, head: bytes) -> int:
    lines = head.lower().split(b"\r\n")
    length = next((int(line[len(_WORD) :]) for line in lines if line.startswith(_WORD)), None)
    if length is not None:
        await reader.readexactly(length)
        return length
    total = 0
    while size := int(await reader.readline(), 16):
        await reader.readexactly(size + 2)
        total += size
    await reader.readline()
    return total


def _figures(seen: Seen, seconds: float) -> dict[str, Any]:
    ordered = sorted(seen.seconds)
    shares = {f"p{share}": round(1000 * ordered[len(ordered) * share // 100], 1) for share in (50, 95, 99)}
    return {
        "answers": len(ordered),
        "a second": round(len(ordered) / seconds),
        **shares,
        "longest": round(1000 * ordered[-1], 1),
        "KiB": round(seen.octets / len(ordered) / 1024, 1),
        "statuses": dict(seen.statuses),
    }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(json.load(sys.stdin)))))
