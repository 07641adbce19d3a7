"""A snapshot as a folder: manifest, metadata, signature, safe reading and storage.

Making rows and checking them is done elsewhere.
"""
