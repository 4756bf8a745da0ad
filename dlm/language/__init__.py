"""Turns dialogues into token ids, and generated ids back into answers."""
