"""Random faults over whole nightly runs: whatever fails on the way, every server gets its one outcome."""
