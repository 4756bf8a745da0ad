"""Flows, and agents that hand over: checks their files against the tools, and draws them."""
