"""Commands that read, compare, export or serve results. Commands that measure are in `workers.cli.measure`."""
