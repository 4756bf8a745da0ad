"""Conversations that are kept, if that is asked for: recorded, found again, deleted in time."""
