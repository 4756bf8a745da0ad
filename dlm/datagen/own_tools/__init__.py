"""Dialogues with the agents' own tools: the script of one, and simulated tools."""
