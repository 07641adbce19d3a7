"""The questions of a full probe as data per era (legacy, modern), asking them over HTTP, and the body of kind
`exchanges`.

Asking them over stdio is in `protocol.stdio`; rules judge the answers.
"""
