"""Word lists that rules look words up in.

The lists of the tool design methodology come from mcp_tool_description_validator (MIT), see NOTICE.
"""
