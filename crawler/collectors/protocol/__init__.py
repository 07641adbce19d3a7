"""The collector of the kinds that a conversation yields: it opens a server in either era over any transport."""

from crawler.collectors.protocol.collector import ProtocolCollector
from crawler.collectors.protocol.session.dialogue import ProbeLimits

__all__ = ["ProbeLimits", "ProtocolCollector"]
