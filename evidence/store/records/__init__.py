"""Evidence records of servers: visits, their shapes, notes and availability samples, read back as dossiers.

Bodies are in blobs, scorecards in scores.
"""
