"""All settings, one module per topic, in a chain since a struct has one base: each module adds its fields to those of
another, and `workers.settings.environment` the rest. It is the only module that reads environment variables.
"""
