"""A scripted MCP server on standard input and output: `python -m tests.servers.scripted_stdio --number 3 --seed 1`."""

from __future__ import annotations

import argparse
import json
import sys

from tests.servers.scripted_answers import MODERN, Script, encode

PARSE_ERROR: dict[str, object] = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}


def main(arguments: list[str] | None = None) -> None:
    """Answer one JSON-RPC message per line until standard input ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    script = Script(options.seed, options.number)
    for line in sys.stdin.buffer:
        try:
            message = json.loads(line)
        except ValueError:
            answer: dict[str, object] | None = PARSE_ERROR
        else:
            answer = script.answer(message, modern=_is_modern(message))
        if answer is not None:
            sys.stdout.buffer.write(encode(answer) + b"\n")
            sys.stdout.buffer.flush()


def _is_modern(message: dict[str, object]) -> bool:
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    return isinstance(meta, dict) and meta.get("io.modelcontextprotocol/protocolVersion") == MODERN


if __name__ == "__main__":
    main()
