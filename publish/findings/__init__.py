"""Identity of findings of our own scans, and the report that a vendor gets before disclosure.

What is disclosed is decided in publish.disclosure.
"""
