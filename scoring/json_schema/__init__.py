"""JSON Schema: dialects, references, compilation as validators do it, ECMA regular expressions, and the places of
subschemas and parameters.

The published result schemas of the protocol are in `scoring.protocol`.
"""
