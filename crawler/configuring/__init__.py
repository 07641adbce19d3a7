"""Placeholders for what a package wants to be given at its start, so that a server that checks presence starts."""

from crawler.configuring.configured import Configured, configure, still_missing
from crawler.configuring.naming import named_in
from crawler.configuring.placeholders import Kind

__all__ = ["Configured", "Kind", "configure", "named_in", "still_missing"]
