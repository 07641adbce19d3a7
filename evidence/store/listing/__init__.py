"""Listing index: the read model of server lists, dashboard numbers and score histories, rebuilt at every publication.

Records and receipts stay the source of truth.
"""
