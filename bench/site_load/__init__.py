"""Load on the site: a database of made-up servers and nights, and clients that ask all the time."""
