"""Snapshots of published runs as datasets: written, listed, verified, compared and signed."""
