"""Run by test_memory: fetches one bomb in a fresh process and prints how much memory that took, in KiB.

`python -m tests.crawler.wire.bombing NAME`
"""

from __future__ import annotations

import asyncio
import gc
import gzip
import resource
import sys

from tests.crawler.collectors.launching import PipeLauncher, module
from tests.crawler.collectors.protocol.probing import collector, record_of, remote
from tests.servers.hostile import Behaviour, Call, serving


def gzip_bomb() -> Behaviour:
    layer = gzip.compress(bytes(1 << 20))
    whole = layer * 4  # several members, each of which inflates a thousandfold

    async def behave(call: Call) -> None:
        await call.send(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
        while not call.writer.is_closing():
            await call.send(whole)

    return behave


def single_gzip_bomb() -> Behaviour:
    import zlib

    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    parts = [packer.compress(bytes(1 << 20)) for _ in range(512)]
    body = b"".join([*parts, packer.flush()])

    async def behave(call: Call) -> None:
        await call.reply(200, body, ("Content-Encoding", "gzip"))

    return behave


def refused(encoding: str) -> Behaviour:
    async def behave(call: Call) -> None:
        await call.reply(200, b"\x81\xff" * 400, ("Content-Encoding", encoding))

    return behave


def dripping() -> Behaviour:
    async def behave(call: Call) -> None:
        await call.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while not call.writer.is_closing():
            await call.send(b" ")
            await asyncio.sleep(0.5)

    return behave


def repeating(head: bytes, piece: bytes) -> Behaviour:
    async def behave(call: Call) -> None:
        await call.send(b"HTTP/1.1 200 OK\r\n" + head)
        while not call.writer.is_closing():
            await call.send(piece)

    return behave


BOMBS = {
    "gzip_bomb": gzip_bomb,
    "single_gzip_bomb": single_gzip_bomb,
    "brotli": lambda: refused("br"),
    "zstd": lambda: refused("zstd"),
    "one_byte_each_half_second": dripping,
    "endless_json": lambda: repeating(b"\r\n[", b"0," * 32_768),
    "endless_stream": lambda: repeating(b"Content-Type: text/event-stream\r\n\r\ndata: ", b"x" * 65_536),
    "endless_events": lambda: repeating(b"Content-Type: text/event-stream\r\n\r\n", b"data: {}\n\n" * 6_000),
    "endless_headers": lambda: repeating(b"X: ", b"y" * 65_536),
    "many_tools": lambda: repeating(b'\r\n{"id":1,"result":{"tools":[', b'{"name":"t","inputSchema":{}},' * 2_000),
}


def peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


async def bomb(name: str) -> int:
    if name == "endless_line":
        prober = collector(launcher=PipeLauncher())
        before = peak()
        await record_of(prober, module("tests.servers.hostile_stdio", "endless_line"))
        return peak() - before
    behaviour = BOMBS[name]()
    prober = collector()
    async with serving(behaviour) as url:
        gc.collect()
        before = peak()
        await record_of(prober, remote(url))
        return peak() - before


if __name__ == "__main__":
    sys.stdout.write(str(asyncio.run(bomb(sys.argv[1]))))
