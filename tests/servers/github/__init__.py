"""A GitHub on loopback: REST and GraphQL as documented, with quotas, ETags, renames, refusals and faults on demand."""
