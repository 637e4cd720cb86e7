"""A wing: an MCP server, whose tools are commands of the command line with their JSON."""
