"""The metadata of a server's package from package indexes, and the addresses of its files."""

from crawler.collectors.package.archives import Archive
from crawler.collectors.package.collector import PackageCollector, PackageLimits
from crawler.collectors.package.indexes import index_transport

__all__ = [
    "Archive",
    "PackageCollector",
    "PackageLimits",
    "index_transport",
]
