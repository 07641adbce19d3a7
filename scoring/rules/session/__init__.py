"""Whether sessions over HTTP are assigned, required and ended as the specification says."""
