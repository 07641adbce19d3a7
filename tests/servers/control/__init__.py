"""The positive control: a server on the official SDK that passes the official conformance suite, in either era.

`python -m tests.servers.control TRANSPORT [--era ERA] [--port N]` serves it. Its tools, resources and prompts are the
fixtures that the suite asks for by name; what we find wrong with this server is most likely a mistake of our own.
"""
