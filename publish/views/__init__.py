"""Public read models of a server, a run and a comparison, made once for the site, the API, the MCP server and the
command line.

They render nothing and escape nothing.
"""
