"""The operations of the API, one module per noun, each with its models and `routes(site)`.

Shared models are in publish.api.contract.
"""
