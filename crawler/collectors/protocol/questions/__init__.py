"""The questions of a full probe, as data per era (legacy, modern), how they are asked over HTTP, and the body of kind
`exchanges`.

Asking them over stdio is in `protocol.stdio`; judging the answers is the task of rules.
"""
