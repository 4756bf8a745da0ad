"""``python -m voice.mcp``: the agent's tools, voice and ears for other programs, over MCP."""
