"""Tools of other programs, over the Model Context Protocol: docs/mcp.md.

`connection` keeps one server connected, `tools` turns the tools it lists into ours, and `servers`
runs the connections in a thread of their own. A server's descriptions and results are data: they
are shortened, and nothing in them is executed.
"""
