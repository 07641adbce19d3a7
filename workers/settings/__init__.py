"""All settings, one module per topic, joined in `workers.settings.environment`, which is the only module that reads
environment variables.
"""
