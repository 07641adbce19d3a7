"""The outputs of one scan for programs: JSON document with its schema, SARIF, JUnit.

Views of published servers are in publish.views.
"""
