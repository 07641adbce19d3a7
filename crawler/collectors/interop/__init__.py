"""What the official SDK's client makes of a server, seen from a process of its own."""

from crawler.collectors.interop.collector import InteropCollector, InteropLimits

__all__ = ["InteropCollector", "InteropLimits"]
