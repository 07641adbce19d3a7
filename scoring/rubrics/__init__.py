"""One published methodology per module."""
