"""The metadata of a server's package from package indexes, and the addresses of its files."""

from crawler.collectors.package.archives import Archive, Archives
from crawler.collectors.package.collector import PackageCollector, PackageLimits
from crawler.collectors.package.indexes import ConfiguredIndexes, Indexes, index_transport

__all__ = [
    "Archive",
    "Archives",
    "ConfiguredIndexes",
    "Indexes",
    "PackageCollector",
    "PackageLimits",
    "index_transport",
]
