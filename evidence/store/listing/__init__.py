"""Listing index: the read model of server lists, of the dashboard numbers and of score histories, rebuilt at every
publication.

Records and receipts stay the source of truth.
"""
