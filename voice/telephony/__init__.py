"""Telephone lines: their codecs, and the shell that runs a call."""
