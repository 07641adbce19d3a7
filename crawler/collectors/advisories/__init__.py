"""The follower for kind `advisories`."""

from crawler.collectors.advisories.collector import AdvisoriesCollector

__all__ = ["AdvisoriesCollector"]
