"""Builders for the good and bad examples in rule declarations, one module per kind of scope.

They go through the same views as evidence; the rendering of examples as text is `scoring.rule_examples`.
"""
