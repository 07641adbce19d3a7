"""Evidence records of servers: record sets, their shapes, notes and availability samples, read back as dossiers.

Bodies are in blobs, scorecards in scores.
"""
