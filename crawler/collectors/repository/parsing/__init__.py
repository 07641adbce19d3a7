"""Pure functions from GitHub's GraphQL and REST answers to members of the evidence. No request is made here."""
