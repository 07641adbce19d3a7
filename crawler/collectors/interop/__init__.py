"""What the official SDK's client makes of a server, seen from a process of its own.

Nothing is imported here: that process needs the smaller half of this package, and starts once for each server.
"""
