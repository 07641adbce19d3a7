"""One package per source of evidence: the class that collects or follows, and what only it needs."""
