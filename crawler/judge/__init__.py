"""A second opinion about texts of a listing from a model that the operator names; it is off by default.

`judge` is the contract of plug-ins, `prompt` makes a question and reads its answer strictly, `chat_completions` asks
over the protocol of OpenAI. No score reads an opinion.
"""
