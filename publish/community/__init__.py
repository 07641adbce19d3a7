"""What people may do: dispute a line, prove control, hold a token, be told of changes. Rows only, no network."""
