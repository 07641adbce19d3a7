"""What changed between two snapshots or stored runs, with causes, and the changelog.

Views of a single server are in publish.views.
"""
