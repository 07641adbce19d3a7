"""The source of a server: one archive, read once and statically, for its source, dependencies and secrets."""

from crawler.collectors.source.collector import SourceCollector, SourceLimits
from crawler.collectors.source.reader_pool import ReaderLimits, ReaderPool

__all__ = ["ReaderLimits", "ReaderPool", "SourceCollector", "SourceLimits"]
