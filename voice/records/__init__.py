"""Keeps conversations, if configured: records them, finds them again, and deletes them in time."""
