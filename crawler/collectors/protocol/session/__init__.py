"""One session with a server: dialogue with a question budget and retries, the handshake of both eras, and the reason
that is recorded when a server does not open.
"""
