"""A program of a supervised process: runs the code of its argument."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    exec(sys.argv[1])
