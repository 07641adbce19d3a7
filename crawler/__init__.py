"""Everything that talks to the outside world: registries, collectors and the wire below them."""
