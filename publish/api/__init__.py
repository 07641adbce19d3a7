"""The JSON API of what is published, /api/v1: one module per noun, shapes as declared, errors as problem documents."""
