"""What the public sees: snapshots, datasets, reports; it computes no score."""
