"""`python -m tests.servers.control TRANSPORT [--era ERA] [--port N]`."""

from __future__ import annotations

import argparse

from tests.servers.control.serving import Era, serve


def main() -> None:
    """Read the command line and serve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("transport", choices=["streamable-http", "sse", "stdio"])
    parser.add_argument("--era", type=Era, default=Era.DUAL, choices=list(Era))
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    serve(options.transport, options.era, options.port)


if __name__ == "__main__":
    main()
