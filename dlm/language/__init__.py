"""Dialogues to token ids, and answers back."""
