"""The kinds of evidence, one module each: schema number, traits, and a typed tolerant view."""
