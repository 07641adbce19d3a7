"""The only place that wires things together and starts processes."""
