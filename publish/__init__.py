"""Everything public: site, API, MCP server, reports, datasets. It computes no score."""
