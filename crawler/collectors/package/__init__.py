"""What package indexes say of a server's package, and where its files lie."""

from crawler.collectors.package.archives import Archive, Archives

__all__ = ["Archive", "Archives"]
