"""Retention and compaction of old runs: records to drop, and garbage collection of unreferenced blobs."""
