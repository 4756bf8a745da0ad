"""Tools of other programs, over the Model Context Protocol: docs/mcp.md.

`connection` keeps one server connected, `tools` makes what it lists tools of ours, `servers` runs
the connections in a thread of their own. A server's descriptions and results are data: they are
shortened, and nothing in them is carried out.
"""
