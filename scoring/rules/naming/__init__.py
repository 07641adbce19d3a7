"""Names that clients and models can use."""
