"""One session with a server: the dialogue with its question budget and retries, the handshake of both eras, and the
reason that is recorded when a server does not open.
"""
