"""Runs a conversation with the real recogniser, model, tools and voice."""
