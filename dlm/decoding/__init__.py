"""Decodes one request, from its prompt to its tokens."""
