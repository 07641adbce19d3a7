"""Facts about recorded conversations that the rules of conformance share: replies, sessions, error codes, pages of
lists, published result schemas, and the verdict of every check.

The collectors that recorded the conversations are in `crawler`.
"""
