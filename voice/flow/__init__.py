"""Agents that hand over, and flows: what is checked of their files, and a picture."""
