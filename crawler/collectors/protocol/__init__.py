"""The collector of kind `listing`: opens a server, in whatever era and over whatever transport, and reads its lists."""

from crawler.collectors.protocol.collector import ProtocolCollector
from crawler.collectors.protocol.session.dialogue import ProbeLimits

__all__ = ["ProbeLimits", "ProtocolCollector"]
