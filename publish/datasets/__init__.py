"""Datasets: snapshots of published runs are written, listed, verified, compared and signed."""
