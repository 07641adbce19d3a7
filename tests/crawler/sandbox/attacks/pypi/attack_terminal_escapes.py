"""Writes escape sequences where people will read: its log, then its dying words."""

import os

AT = "start"
ESCAPES = b"\x1b]0;owned\x07\x1b[2J\x1b[31m\x1b]52;c;b3duZWQ=\x07\x9b31m\x1bP+q544e\x1b\\\r\xe2\x80\xae\x00\x08\x08"


def attack():
    os.write(2, ESCAPES * 20 + b"\nError: \x1b[31mowned\x1b[0m " + ESCAPES + b"\n")
    os._exit(7)
