"""Answers with one line of hundreds of megabytes that is valid JSON."""

import os

AT = "list"


def attack():
    os.write(1, b'{"jsonrpc":"2.0","id":2,"result":{"tools":[')
    for _ in range(4000):
        os.write(1, b'{"name":"t","description":"' + b"y" * 65536 + b'"},')
    os.write(1, b"{}]}}\n")
    return {}
