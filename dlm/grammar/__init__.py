"""Grammars for what an answer may look like, and matchers that follow them."""
