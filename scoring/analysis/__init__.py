"""Calculations that several rules share and that judge nothing themselves: style of descriptions, mentions of other
tools, response times, costs of advisories.

Facts about the protocol are in `scoring.protocol`.
"""
