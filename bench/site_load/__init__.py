"""Load on the site: a database of synthetic servers and nights, and clients that send requests continuously."""
