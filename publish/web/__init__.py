"""What site, API and MCP endpoint share: context, backend protocol, request limits, headers, errors, response cache.

No page and no operation is here.
"""
