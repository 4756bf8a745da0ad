"""Draws the values that fill a request, and those that a tool returns."""
