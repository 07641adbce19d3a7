"""Writes one line that never ends."""

import os

AT = "start"


def attack():
    os.write(1, b'{"jsonrpc":"2.0","id":1,"result":{"x":"')
    while True:
        os.write(1, b"y" * 65536)
