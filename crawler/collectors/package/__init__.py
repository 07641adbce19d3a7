"""What package indexes say of a server's package, and where its files lie."""

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
