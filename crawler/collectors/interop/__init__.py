"""The result that the official SDK's client gets from a server, in a process of its own.

Nothing is imported here: that process needs only a part of this package, and starts once for each server.
"""
