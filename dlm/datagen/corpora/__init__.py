"""Rows of the text corpora as requests, talk and tools."""
